#!/usr/bin/env node
// Registers tsx so that the TypeScript sources run as they are, then hands over to the command line.
import { register } from "tsx/esm/api";

register();
await import("../src/main.ts");
