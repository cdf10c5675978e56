import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, type BrowserContext, chromium as driver, type Page } from "playwright-core";
import type { Cluster } from "./cluster.ts";
import { root } from "./program.ts";

/** A real Chromium: the system's where there is one, else the one that an npm package ships. */
export async function openBrowser(): Promise<Browser> {
  const system = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => existsSync(path));
  return driver.launch({
    executablePath: system ?? (await chromium.executablePath()),
    args: [
      ...(system === undefined ? chromium.args : []),
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--disable-background-networking",
    ],
    headless: true,
  });
}

/** A signed-in operator in a browser profile of his own; `problems` gathers console errors and CSP violations. */
export async function signIn(
  browser: Browser,
  cluster: Cluster,
  name = "mara",
): Promise<{ context: BrowserContext; page: Page; problems: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  const { path } = await cluster.client.access.createSignInLink.mutate({ name });
  await page.goto(`${cluster.adminUrl}${path}`);
  return { context, page, problems };
}

/** Writes a picture to `test-results/screenshots/`. */
export async function shoot(page: Page, name: string): Promise<void> {
  const dir = join(root, "test-results", "screenshots");
  mkdirSync(dir, { recursive: true });
  await page.screenshot({ path: join(dir, `${name}.png`) });
}
