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

  private constructor(options: { url: string; diagnosticsUrl: string; program: Program; folder: string }) {
    this.url = options.url;
    this.diagnosticsUrl = options.diagnosticsUrl;
    this.program = options.program;
    this.#folder = options.folder;
  }

  /** `document`: the router.yaml without its listeners; resolves once the endpoints have been probed. */
  static async start(document: object, args: readonly string[] = []): Promise<LoneRouter> {
    const folder = await mkdtemp(join(tmpdir(), "llmgw-e2e-router-"));
    const [port, diagnosticsPort] = [await freePort(), await freePort()];
    const path = join(folder, "router.yaml");
    const listeners = { listen: `127.0.0.1:${port}`, diagnostics: `127.0.0.1:${diagnosticsPort}` };
    await writeFile(path, JSON.stringify({ ...document, ...listeners }));
    const program = new Program({
      name: "router",
      args: entry("router", "main.ts", ["--config", path, ...args]),
      env: {},
      logFile: join(folder, "router.log"),
    }).start();
    const url = `http://127.0.0.1:${port}`;
    const router = new LoneRouter({ url, diagnosticsUrl: `http://127.0.0.1:${diagnosticsPort}`, program, folder });
    await waitFor("the router to have probed its engines", async () => {
      const page = await fetch(`${router.diagnosticsUrl}/debug/endpoints`).then(
        (answer) => answer.text(),
        () => "",
      );
      return page !== "" && !page.includes('"probe":"unknown"');
    });
    return router;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
