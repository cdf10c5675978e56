import type { ProgramFile } from "./program-command.ts";

export function freshBundle(program: ProgramFile): string | null;
