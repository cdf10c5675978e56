import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openBrowser, shoot, signIn } from "./harness/browser.ts";
import { Cluster } from "./harness/cluster.ts";
import { openPreview, soon, startFromPreview, watchItEnd, watchStepsPass } from "./harness/drain-by-click.ts";
import { drainUnderLoad } from "./harness/drain-under-load.ts";
import { oneGpuModel } from "./harness/models.ts";

test("a drain by clicking under load: what the preview says comes true, two operators follow it live, nothing is cut", async () => {
  await using cluster = await Cluster.start({ nodes: ["sim:1x80GiB", "sim:1x80GiB"], routers: 2 });
  await cluster.deploy(oneGpuModel);
  const browser = await openBrowser();
  try {
    const { page, problems } = await signIn(browser, cluster, "mara");
    const second = await signIn(browser, cluster, "jun");
    await menu(page, /^Nodes/).click();
    await cordonAndUncordon(cluster, page, "node-b");

    await drainUnderLoad(cluster, {
      actor: { actorKind: "user", actor: "mara" },
      drain: async (order) => {
        const loadedAt = await page.evaluate(() => performance.timeOrigin);
        await openPreview(page, order);
        // Focus starts on Cancel: a stray Enter changes nothing.
        await page.keyboard.press("Enter");
        await page.getByRole("alertdialog").waitFor({ state: "detached" });
        expect((await cluster.client.nodes.get.query({ node: order.from })).availability).toBe("active");

        await openPreview(page, order);
        await startFromPreview(page, order);
        await Promise.all([watchStepsPass(page), joinIn(second.page, order.from)]);
        await Promise.all([watchItEnd(page), watchItEnd(second.page)]);
        await shoot(page, "drain-result");
        await menu(page, /^Nodes/).click();
        await page.getByRole("row").filter({ hasText: order.from }).getByText("Drained", { exact: true }).waitFor(soon);
        expect(await page.evaluate(() => performance.timeOrigin), "the page was loaded anew").toBe(loadedAt);
      },
    });

    await menu(page, /^Audit/).click();
    await page.getByRole("row").filter({ hasText: "replace PSU 2" }).filter({ hasText: "mara" }).waitFor(soon);
    expect([...problems, ...second.problems]).toEqual([]);
  } finally {
    await browser.close();
  }
}, 400_000);

/** What can differ between them is tested in each: wide and narrow by all rules, dark by its colours. */
const looks = [
  { theme: "light", width: 1440, rules: null },
  { theme: "dark", width: 1440, rules: ["color-contrast"] },
  { theme: "light", width: 390, rules: null },
] as const;

/** The open page, once it has taken on this look, neither scrolls sideways nor breaks a rule of accessibility. */
async function expectGood(page: Page, name: string, { theme, width, rules }: (typeof looks)[number]): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.locator(`html[data-theme=${theme}]`).waitFor(soon);
  await shoot(page, `${name}-${theme}-${width}`);
  const scroll = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(scroll, `${name} at ${width} scrolls sideways`).toBeLessThanOrEqual(0);
  const axe = new AxeBuilder({ page }).setLegacyMode(); // no frames: no second page to gather results in
  if (rules === null) axe.withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]);
  else axe.withRules([...rules]);
  const { violations } = await axe.analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  expect(found, `${name}, ${theme}, ${width}`).toEqual([]);
}

function menu(page: Page, name: RegExp) {
  return page.getByRole("navigation", { name: "Main" }).getByRole("link", { name });
}

async function cordonAndUncordon(cluster: Cluster, page: Page, node: string): Promise<void> {
  await page.getByRole("button", { name: `Cordon… ${node}` }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel(/Reason/).fill("fan noise");
  await dialog.getByRole("button", { name: `Cordon ${node}` }).click();
  await page.getByText("fan noise").first().waitFor(soon);
  expect((await cluster.client.nodes.get.query({ node })).availability).toBe("cordoned");
  await page.getByRole("button", { name: `Uncordon ${node}` }).click();
  await page.getByRole("button", { name: `Cordon… ${node}` }).waitFor(soon);
}

/** A second operator finds the running drain on the nodes page, who started it and why, and again after a reload. */
async function joinIn(page: Page, node: string): Promise<void> {
  await menu(page, /^Nodes/).click();
  await page.getByRole("link", { name: `View drain of ${node}` }).click();
  const started = page.getByText(/replace PSU 2\. Drain started by mara/);
  await started.waitFor(soon);
  await page.reload();
  await started.waitFor(soon);
}

test("every page shows the cluster without an error, an accessibility violation or a sideways scroll, wide and narrow", async () => {
  await using cluster = await Cluster.start({ nodes: ["sim:2x80GiB", "sim:1x24GiB"], routers: 1 });
  await cluster.deploy(oneGpuModel);
  await cluster.client.models.applySpec.mutate({
    ...oneGpuModel,
    id: "too-big",
    resources: { memoryPerGpu: "200GiB" },
  });
  const replica = (await cluster.client.replicas.list.query({ model: "m1" }))[0];
  const change = await cluster.client.nodes.setAvailability.mutate({
    node: "node-b",
    target: "draining",
    reason: "test",
  });
  const pages = {
    overview: "/",
    nodes: "/nodes",
    node: "/nodes/node-a",
    models: "/models",
    model: "/models/m1",
    replicas: "/replicas",
    replica: `/replicas/${replica?.id}`,
    placement: "/placement?model=too-big",
    drains: "/drains",
    drain: `/drains/${change.drain?.id}`,
    routers: "/routers",
    audit: "/audit",
  };
  const browser = await openBrowser();
  try {
    const { page, problems } = await signIn(browser, cluster);
    for (const [name, path] of Object.entries(pages)) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(`${cluster.adminUrl}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor(soon);
      await page.getByRole("button", { name: /^Live/ }).waitFor(soon);
      await page
        .getByRole("status", { name: /^Loading/ })
        .first()
        .waitFor({ ...soon, state: "detached" });
      for (const look of looks) await expectGood(page, name, look);
    }
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
}, 400_000);
