import { AxeBuilder } from "@axe-core/playwright";
import { expect, test } from "vitest";
import { openBrowser, shoot, signIn } from "./harness/browser.ts";
import { Cluster } from "./harness/cluster.ts";
import { Load } from "./harness/load.ts";
import { oneGpuModel } from "./harness/models.ts";

const soon = { timeout: 60_000 };

test("an operator cordons, drains under load, reloads in the middle, and sees the node drained, all by clicking", async () => {
  await using cluster = await Cluster.start({ nodes: ["sim:1x80GiB", "sim:1x80GiB"], routers: 1 });
  await cluster.deploy(oneGpuModel);
  const from = (await cluster.client.replicas.list.query({ model: "m1" }))[0]?.shards[0]?.nodeName ?? "";
  const other = from === "node-a" ? "node-b" : "node-a";
  const urls = cluster.routers.map(({ url }) => url);
  const browser = await openBrowser();
  try {
    const { page, problems } = await signIn(browser, cluster);

    await page
      .getByRole("link", { name: /^Nodes/ })
      .first()
      .click();
    await page.getByRole("button", { name: `Cordon… ${other}` }).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByLabel(/Reason/).fill("fan noise");
    await dialog.getByRole("button", { name: `Cordon ${other}` }).click();
    await page.getByText("fan noise").first().waitFor(soon);
    expect((await cluster.client.nodes.get.query({ node: other })).availability).toBe("cordoned");
    await page.getByRole("button", { name: `Uncordon ${other}` }).click();
    await page.getByRole("button", { name: `Cordon… ${other}` }).waitFor(soon);

    const load = new Load({
      urls,
      apiKey: cluster.apiKey,
      model: "m1",
      perSecond: 10,
      longEvery: 20,
      longTokens: 400,
    }).start();
    await page.getByRole("link", { name: from }).first().click();
    await page.waitForURL(`**/nodes/${from}`, soon);
    await page.getByRole("heading", { level: 1, name: from }).waitFor(soon);
    await page.getByRole("button", { name: /^Drain…/ }).click();
    await dialog.getByText("Each replacement serves before its original drains").waitFor(soon);
    await shoot(page, "drain-preview");
    // Focus starts on Cancel: a stray Enter changes nothing.
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await cluster.client.nodes.get.query({ node: from })).availability).toBe("active");

    await page.getByRole("button", { name: /^Drain…/ }).click();
    await dialog.getByLabel(/Reason/).fill("replace PSU 2");
    await dialog.getByRole("button", { name: `Drain ${from}` }).click();
    await page.waitForURL(/\/drains\/drain_/, soon);
    await page.getByText("Replacement serving").first().waitFor(soon);
    await page.reload();
    await page.getByText("replace PSU 2").first().waitFor(soon);
    await shoot(page, "drain-progress");

    const second = await signIn(browser, cluster);
    await second.page.goto(page.url());
    await second.page.getByText("replace PSU 2").first().waitFor(soon);

    for (const one of [page, second.page])
      await one
        .getByText(/^Drained/)
        .first()
        .waitFor({ timeout: 120_000 });
    await shoot(page, "drain-result");
    await load.finish();
    expect(load.failed).toEqual([]);
    expect((await cluster.client.nodes.get.query({ node: from })).availability).toBe("drained");

    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Audit" }).click();
    await page.getByText("replace PSU 2").first().waitFor(soon);
    expect([...problems, ...second.problems]).toEqual([]);
  } finally {
    await browser.close();
  }
}, 400_000);

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
      for (const [theme, width] of [
        ["light", 1440],
        ["dark", 1440],
        ["light", 390],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: theme });
        await page.goto(`${cluster.adminUrl}${path}`);
        await page.getByRole("heading", { level: 1 }).waitFor(soon);
        await page.getByRole("button", { name: /^Live/ }).waitFor(soon);
        await shoot(page, `${name}-${theme}-${width}`);
        const scroll = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect([name, width, scroll <= 0]).toEqual([name, width, true]);
        const { violations } = await new AxeBuilder({ page })
          .withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"])
          .analyze();
        expect([name, theme, width, violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)]).toEqual([
          name,
          theme,
          width,
          [],
        ]);
      }
    }
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
}, 400_000);
