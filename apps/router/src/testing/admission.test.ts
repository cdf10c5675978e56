import { describe, expect, test } from "vitest";
import { documentOf, errorOf, okAnswer, plainBody, useKit } from "./kit.ts";
import { waitFor } from "./test-router.ts";

const { engine, router, client, ask } = useKit();

describe("admission", () => {
  test("never sends more than an endpoint may have, and serves the rest in order", async () => {
    let running = 0;
    let most = 0;
    const fake = await engine(async ({ socket }) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      socket.write(okAnswer);
    });
    const target = await router(documentOf([fake], {}, [{ maxInflight: 3 }]));
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(target, plainBody)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(most).toBeLessThanOrEqual(3);
  });

  test("lets a higher band go first, and a header can only lower the band", async () => {
    const order: string[] = [];
    const held: (() => void)[] = [];
    const fake = await engine(({ socket, body }) => {
      order.push(/"n":"(\w+)"/.exec(body.toString())?.[1] ?? "");
      held.push(() => socket.write(okAnswer));
    });
    const target = await router(documentOf([fake], {}, [{ maxInflight: 1 }]));
    const send = async (name: string, band: string) => {
      const asking = await client(target);
      asking.post(`{"model":"m1","n":"${name}"}`, { headers: [`x-llmgw-priority: ${band}`] });
    };
    await send("first", "batch");
    await waitFor(() => order.length === 1);
    for (const [index, band] of ["batch", "standard", "interactive"].entries()) {
      await send(band, band);
      await waitFor(() => target.registry.model("m1")?.queued === index + 1);
    }
    for (let round = 1; round <= 4; round += 1) {
      await waitFor(() => held.length === 1);
      held.splice(0).forEach((release) => {
        release();
      });
      await target.ended(round);
    }
    expect(order).toEqual(["first", "interactive", "standard", "batch"]);
    const bad = await ask(target, plainBody, { headers: ["x-llmgw-priority: urgent"] });
    expect([bad.status, errorOf(bad.body).code]).toEqual([400, "invalid_priority"]);
  });

  test("a full queue is a 429 at once", async () => {
    const fake = await engine(() => undefined);
    const target = await router(documentOf([fake], { admission: { maxQueuedRequests: 1 } }, [{ maxInflight: 1 }]));
    for (let count = 0; count < 2; count += 1) (await client(target)).post(plainBody);
    await waitFor(() => target.registry.model("m1")?.queued === 1);
    const got = await ask(target, plainBody);
    expect([got.status, errorOf(got.body).code]).toEqual([429, "queue_full"]);
  });
});
