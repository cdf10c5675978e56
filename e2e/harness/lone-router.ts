import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { entry, Program } from "./program.ts";
import { waitFor } from "./wait.ts";

/** A router as a process of its own that serves from a file, without an admin. */
export class LoneRouter implements AsyncDisposable {
  readonly url: string;
  readonly diagnosticsUrl: string;
  readonly program: Program;
  readonly #folder: string;

  readonly #listeners: object;

  private constructor(options: { ports: { client: number; diagnostics: number }; program: Program; folder: string }) {
    const { client, diagnostics } = options.ports;
    this.url = `http://127.0.0.1:${client}`;
    this.diagnosticsUrl = `http://127.0.0.1:${diagnostics}`;
    this.#listeners = { listen: `127.0.0.1:${client}`, diagnostics: `127.0.0.1:${diagnostics}` };
    this.program = options.program;
    this.#folder = options.folder;
  }

  /** `document`: the router.yaml without its listeners; resolves once the endpoints have been probed. */
  static async start(document: object, args: readonly string[] = []): Promise<LoneRouter> {
    const folder = await mkdtemp(join(tmpdir(), "llmgw-e2e-router-"));
    const ports = { client: await freePort(), diagnostics: await freePort() };
    const program = new Program({
      name: "router",
      args: entry("router", "main.ts", ["--config", join(folder, "router.yaml"), ...args]),
      env: {},
      logFile: join(folder, "router.log"),
    });
    const router = new LoneRouter({ ports, program, folder });
    await router.configure(document);
    program.start();
    await waitFor("the router to have probed its engines", async () => {
      const page = await fetch(`${router.diagnosticsUrl}/debug/endpoints`).then(
        (answer) => answer.text(),
        () => "",
      );
      return page !== "" && !page.includes('"probe":"unknown"');
    });
    return router;
  }

  /** Puts another document in force: the router sees the change by itself. */
  async configure(document: object): Promise<void> {
    await writeFile(join(this.#folder, "router.yaml"), JSON.stringify({ ...document, ...this.#listeners }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
