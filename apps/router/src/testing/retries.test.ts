import { describe, expect, test } from "vitest";
import { FakeEngine, jsonAnswer } from "./fake-engine.ts";
import { answering, documentOf, errorOf, okAnswer, plainBody, streamBody, useKit } from "./kit.ts";

const { engine, router, ask } = useKit();

describe("retries", () => {
  test("go to another endpoint when one refuses the connection, with the same bytes", async () => {
    const gone = await FakeEngine.start(answering);
    const well = await engine(answering);
    const target = await router(documentOf([gone, well]));
    await gone.stop();
    for (let round = 0; round < 4; round += 1) {
      const got = await ask(target, plainBody);
      expect([got.status, got.headers["x-llmgw-endpoint"]]).toEqual([200, "r2"]);
    }
    expect(well.requests.every(({ body }) => body.toString() === plainBody)).toBe(true);
  });

  test.each([429, 500, 503])("go to another endpoint when one answers %i", async (status) => {
    const busy = await engine(({ socket }) => void socket.write(jsonAnswer('{"error":{}}', status)));
    const well = await engine(answering);
    const target = await router(documentOf([busy, well]));
    for (let round = 0; round < 4; round += 1) expect((await ask(target, plainBody)).status).toBe(200);
  });

  test("do not happen for a request that is itself at fault", async () => {
    const body = '{"object":"error","message":"too long","code":400}';
    const first = await engine(({ socket }) => void socket.write(jsonAnswer(body, 400)));
    const second = await engine(({ socket }) => void socket.write(jsonAnswer(body, 400)));
    const target = await router(documentOf([first, second]));
    const got = await ask(target, streamBody);
    expect([got.status, got.body.toString(), got.headers["content-type"]]).toEqual([400, body, "application/json"]);
    expect(first.requests.length + second.requests.length).toBe(1);
  });

  test("end with the engines' own refusal and the longest wait they asked for", async () => {
    const waits = ["7", "3"];
    const list = await Promise.all(
      waits.map((wait) =>
        engine(
          ({ socket }) =>
            void socket.write(jsonAnswer('{"error":{"message":"full"}}', 429, `retry-after: ${wait}\r\n`)),
        ),
      ),
    );
    const got = await ask(await router(documentOf(list)), plainBody);
    expect([got.status, got.headers["retry-after"], got.body.toString()]).toEqual([
      429,
      "7",
      '{"error":{"message":"full"}}',
    ]);
    expect(list.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  test("end with a 502 when nobody can be reached, each endpoint tried once", async () => {
    const list = await Promise.all([1, 2, 3, 4].map(() => FakeEngine.start(answering)));
    const target = await router(documentOf(list));
    await Promise.all(list.map((item) => item.stop()));
    const got = await ask(target, plainBody);
    expect([got.status, errorOf(got.body).code]).toEqual([502, "upstream_error"]);
    expect(target.ends).toMatchObject([{ attempts: 3, outcome: "upstream_error" }]);
  });

  test("never show an engine's HTML page, nor its 401", async () => {
    const html = await engine(
      ({ socket }) => void socket.write("HTTP/1.1 500 X\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>"),
    );
    const got = await ask(await router(documentOf([html])), plainBody);
    expect([got.status, errorOf(got.body).code]).toEqual([502, "upstream_error"]);
    const locked = await engine(({ socket }) => void socket.write(jsonAnswer("{}", 401)));
    const refused = await ask(await router(documentOf([locked])), plainBody);
    expect([refused.status, errorOf(refused.body).code]).toEqual([502, "upstream_auth"]);
  });

  test("mend the race with an idle socket that the engine is closing, without blaming it", async () => {
    const fake = await engine(({ socket, turn }) => {
      if (turn === 1) socket.write(okAnswer);
      else socket.resetAndDestroy();
    });
    const target = await router(documentOf([fake]));
    for (let round = 0; round < 3; round += 1) {
      const got = await ask(target, plainBody);
      expect(got.status).toBe(200);
    }
    expect(target.endpoint("r1").failed).toBe(0);
  });
});
