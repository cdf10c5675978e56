import type { Page } from "playwright-core";
import { expect } from "vitest";
import { shoot } from "./browser.ts";
import type { DrainOrder } from "./drain-under-load.ts";
import { waitFor } from "./wait.ts";

/** How long a page may take on a busy machine. */
export const soon = { timeout: 60_000 };

/** From the nodes page: the preview of a drain, checked to say what will move where. */
export async function openPreview(page: Page, { from, to, replicaId }: DrainOrder): Promise<void> {
  await page.getByRole("button", { name: `Drain… ${from}` }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText("Its one replica moves, and nothing is interrupted.").waitFor(soon);
  await dialog.getByText("Each replacement serves before its original drains").waitFor(soon);
  await dialog.getByRole("row").filter({ hasText: replicaId }).filter({ hasText: to }).waitFor(soon);
  await dialog.getByRole("row", { name: "m1 1 1 1" }).waitFor(soon); // able to serve: now, at worst, after
}

/** In the open preview: types the reason and confirms, which leads to the drain's page. */
export async function startFromPreview(page: Page, { from, reason }: DrainOrder): Promise<void> {
  const dialog = page.getByRole("alertdialog");
  await dialog.getByLabel(/Reason/).fill(reason);
  await shoot(page, "drain-preview");
  await dialog.getByRole("button", { name: `Drain ${from}` }).click();
  await page.waitForURL(/\/drains\/drain_/, soon);
  await page.getByText(reason).first().waitFor(soon);
}

/** On the drain's page: the replacement serves, then the original drains with fewer and fewer requests in flight. */
export async function watchStepsPass(page: Page): Promise<void> {
  await currentStep(page, /^Replacement serving/).waitFor(soon);
  const draining = currentStep(page, /^Draining, \d+ in flight/);
  await draining.waitFor(soon);
  await shoot(page, "drain-progress");
  const words = await draining.locator("b").textContent();
  await waitFor("the requests in flight to become others", async () => {
    const now = await draining.locator("b").textContent({ timeout: 1_000 });
    return now !== words;
  });
}

/** On the drain's page: the node is drained, nothing was lost, and every step is done. */
export async function watchItEnd(page: Page): Promise<void> {
  await page.getByText("Drained, nothing lost").first().waitFor({ timeout: 180_000 });
  await page.getByText("No replica was ended without a replacement serving.").waitFor(soon);
  await page.getByText(/ drain\.end drain_/).waitFor(soon); // the history, newest first, has all of it
  for (const step of ["replacement serving", "draining", "stopped"]) {
    await page.getByText(new RegExp(` drain\\.step \\S+ to ${step}$`)).waitFor(soon);
  }
  const steps = page.getByRole("list", { name: "Moves" }).locator(".stepper > li");
  expect((await steps.allInnerTexts()).map((words) => /, done$/.test(words.trim()))).toEqual(Array(6).fill(true));
}

function currentStep(page: Page, words: RegExp) {
  return page.getByRole("list", { name: "Moves" }).locator('[aria-current="step"]').filter({ hasText: words });
}
