// A few lines that behave like an inference engine, for tests of the supervisor.
// argv: host port model; behaviour by TINY_* variables.
import { spawn } from "node:child_process";
import { createServer } from "node:http";

const [host, port, model] = process.argv.slice(2);
const { TINY_IGNORE_SIGTERM, TINY_CHILD, TINY_CRASH, TINY_WORK } = process.env;

if (TINY_CHILD === "stubborn") {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1000);
  console.log(`stubborn ${process.pid}`);
} else {
  // The environment as it is, for tests of what an engine is given.
  console.log(`environment ${JSON.stringify(process.env)}`);
  if (TINY_CHILD === "spawn") {
    // In a session of its own, as a daemon that forked twice: only its environment tells whose it is.
    const child = spawn(process.execPath, [import.meta.filename], {
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, TINY_CHILD: "stubborn" },
    });
    child.unref();
  }
  if (TINY_IGNORE_SIGTERM !== undefined) process.on("SIGTERM", () => undefined);
  if (TINY_CRASH !== undefined) {
    console.log(TINY_CRASH);
    process.exit(1);
  }
  createServer((request, response) => {
    if (request.url === "/v1/models") response.end(JSON.stringify({ data: [{ id: model }] }));
    else if (request.url === "/metrics") response.end(`work ${TINY_WORK ?? 0}\n`);
    else response.end();
  })
    .on("error", (error) => {
      console.log(`OSError: [Errno 98] ${error.message}: address already in use`);
      process.exit(1);
    })
    .listen(Number(port), host);
}
