import { readFileSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openBrowser, shoot, signIn } from "./harness/browser.ts";
import { Cluster } from "./harness/cluster.ts";
import { soon } from "./harness/drain-by-click.ts";
import { oneGpuModel } from "./harness/models.ts";

test("an operator finds a node by keyboard alone, acts on it, and can read, verify and save the history of it", async () => {
  await using cluster = await Cluster.start({ nodes: ["sim:1x80GiB", "sim:1x24GiB"], routers: 0 });
  await cluster.client.models.applySpec.mutate({ ...oneGpuModel, replicas: 0 });
  const browser = await openBrowser();
  try {
    const { page, problems } = await signIn(browser, cluster, "mara");
    await findInTheTable(page, cluster);
    await cordonByPalette(page, cluster);
    await readTheHistory(page, cluster);
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
}, 120_000);

async function expectAccessible(page: Page, name: string): Promise<void> {
  await shoot(page, name);
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
    name,
  ).toEqual([]);
}

/** What is typed, chosen and clicked is in the URL, and the URL alone brings it back. */
async function findInTheTable(page: Page, cluster: Cluster): Promise<void> {
  await page.goto(`${cluster.adminUrl}/nodes`);
  const rows = page.getByRole("table", { name: "Nodes" }).getByRole("rowheader");
  await rows.nth(1).waitFor(soon);
  await page.keyboard.press("/");
  await page.keyboard.type("node-b");
  await page.getByText("1 of 2 nodes").waitFor(soon);
  await page.waitForURL(/\?q=node-b/, soon);
  await page.reload();
  await page.getByText("1 of 2 nodes").waitFor(soon);
  expect(await rows.allInnerTexts()).toEqual([expect.stringContaining("node-b")]);
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  const head = page.getByRole("button", { name: "Node", exact: true });
  await head.click();
  await head.click();
  await page.waitForURL(/\?sort=-name/, soon);
  await page
    .getByRole("columnheader", { name: "Node", exact: true })
    .and(page.locator("[aria-sort=descending]"))
    .waitFor(soon);
  expect((await rows.allInnerTexts()).map((text) => text.slice(0, 6))).toEqual(["node-b", "node-a"]);
}

async function cordonByPalette(page: Page, cluster: Cluster): Promise<void> {
  await page.keyboard.press("Control+k");
  const box = page.getByRole("combobox", { name: /^Go to/ });
  await box.waitFor(soon);
  await page.keyboard.type("node-b");
  await page.getByRole("option", { name: "Cordon… node-b" }).waitFor(soon);
  await expectAccessible(page, "palette");
  await box.fill("cordon node-b");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel(/Reason/).fill("fan noise");
  await dialog.getByRole("button", { name: "Cordon node-b" }).press("Enter");
  await dialog.waitFor({ ...soon, state: "detached" });
  expect((await cluster.client.nodes.get.query({ node: "node-b" })).availability).toBe("cordoned");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor(soon);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ ...soon, state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.getByRole("heading", { level: 1, name: "Audit" }).waitFor(soon);
}

async function readTheHistory(page: Page, cluster: Cluster): Promise<void> {
  await page.getByLabel("Target", { exact: true }).fill("node-b");
  await page.getByLabel("Who", { exact: true }).fill("mara");
  await page.waitForURL(/actor=mara/, soon);
  const row = page.getByRole("row").filter({ hasText: "fan noise" });
  await row.getByRole("button", { name: /^Details/ }).click();
  await page.getByRole("table", { name: /^What entry/ }).waitFor(soon);
  await page.waitForURL(/entry=\d+/, soon);
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText(/^The audit is whole: \d+ rows/).waitFor(soon);
  await expectAccessible(page, "audit-entry");
  const [download] = await Promise.all([
    page.waitForEvent("download", soon),
    page.getByRole("button", { name: "Export JSON lines" }).click(),
  ]);
  const saved = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\n");
  const { rows } = await cluster.client.audit.list.query({ actor: "mara", target: "node-b" });
  expect(saved.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
}
