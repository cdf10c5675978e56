// Gives each program of the compose file its own credential, and no other one: reads the admin's credentials.json and
// writes one value a file. `node share-credentials.mjs CREDENTIALS.json NAME=FILE …`
import { chmodSync, readFileSync, writeFileSync } from "node:fs";

const [source, ...wanted] = process.argv.slice(2);
if (source === undefined || wanted.length === 0) {
  process.stderr.write("usage: node share-credentials.mjs CREDENTIALS.json NAME=FILE …\n");
  process.exit(2);
}
const credentials = JSON.parse(readFileSync(source, "utf8"));
for (const wish of wanted) {
  const [name, file] = wish.split("=", 2);
  const value = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
  if (typeof value !== "string" || file === undefined) {
    process.stderr.write(`${wish}: ${source} has ${Object.keys(credentials).join(", ")}; expected NAME=FILE\n`);
    process.exit(2);
  }
  writeFileSync(file, value, { mode: 0o600 });
  chmodSync(file, 0o600);
}
