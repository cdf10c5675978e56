import { chunk, FakeEngine, lastChunk } from "./fake-engine.ts";
import { type GeneratedTraffic, generatedTraffic } from "./generated-traffic.ts";
import { documentOf, sha256 } from "./kit.ts";
import { TestRouter } from "./test-router.ts";

export interface FuzzProblem {
  readonly seed: number;
  readonly what: string;
}

/** Sends the traffic of each seed through a router and compares what arrived with what was sent, both ways. */
export async function fuzzBytes(seeds: readonly number[]): Promise<FuzzProblem[]> {
  let current: GeneratedTraffic = generatedTraffic(0);
  const engine = await FakeEngine.start(({ socket }) => {
    const { framing, answer, answerType, cuts } = current;
    const framingHeader = {
      length: `content-length: ${answer.length}\r\n`,
      chunked: "transfer-encoding: chunked\r\n",
      close: "connection: close\r\n",
    };
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${answerType}\r\n${framingHeader[framing]}\r\n`);
    void writePieces(
      pieces(answer, cuts).map((piece) => (framing === "chunked" ? chunk(piece) : piece)),
      (piece) => socket.write(piece),
    ).then(() => {
      if (framing === "chunked") socket.write(lastChunk);
      if (framing === "close") socket.end();
    });
  });
  const router = await TestRouter.start(documentOf([engine]));
  const problems: FuzzProblem[] = [];
  try {
    for (const seed of seeds) {
      current = generatedTraffic(seed);
      const what = await problemOf(current, { engine, router });
      if (what !== null) problems.push({ seed, what });
      engine.requests.length = 0;
    }
  } finally {
    await router.stop();
    await engine.stop();
  }
  return problems;
}

async function problemOf(
  traffic: GeneratedTraffic,
  { engine, router }: { engine: FakeEngine; router: TestRouter },
): Promise<string | null> {
  const client = await router.client();
  const { path, request, isChunkedUpload, uploadCuts, answer, answerType } = traffic;
  try {
    if (isChunkedUpload) {
      client.send(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      const parts = pieces(request, uploadCuts).map((piece) => chunk(piece));
      await writePieces([...parts, Buffer.from(lastChunk)], (piece) => client.send(piece));
    } else client.post(request, { path });
    const got = await client.answer();
    const [seen] = engine.requests;
    if (got.status !== 200) return `status ${got.status}: ${got.body.toString()}`;
    if (seen === undefined || sha256(seen.body) !== sha256(request)) return "the engine got another body";
    if (!got.isWhole || sha256(got.body) !== sha256(answer)) return "the client got another answer";
    if (got.headers["content-type"] !== answerType) return `content-type ${got.headers["content-type"]}`;
    return engine.requests.length === 1 ? null : "the engine got it more than once";
  } finally {
    client.close();
  }
}

/** Cuts bytes into parts, empty ones left out: an empty chunk would end the body. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts, bytes.length];
  return places
    .slice(1)
    .map((end, index) => bytes.subarray(places[index], end))
    .filter(({ length }) => length > 0);
}

/** One write a turn of the event loop, so that each is a segment of its own. */
async function writePieces(parts: readonly Buffer[], write: (part: Buffer) => void): Promise<void> {
  for (const part of parts) {
    write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
