/** The least that Node and undici can do: a relay that copies, and knows nothing. The measure for the router's own work. */
import { createServer } from "node:http";
import { Pool } from "undici";

const [, , upstream = ""] = process.argv;
const pool = new Pool(upstream, { headersTimeout: 0, bodyTimeout: 0, pipelining: 1 });

const server = createServer({ noDelay: true }, (request, response) => {
  const { "content-type": type = "application/json", "content-length": length = "0" } = request.headers;
  const abort = new AbortController();
  response.once("close", () => abort.abort());
  pool
    .stream(
      {
        path: request.url ?? "/",
        method: "POST",
        headers: { "content-type": type, "content-length": length },
        body: request,
        signal: abort.signal,
        opaque: response,
      },
      ({ statusCode, headers }) => {
        const kept: Record<string, string> = {};
        for (const name of ["content-type", "content-length"]) {
          const value = headers[name];
          if (typeof value === "string") kept[name] = value;
        }
        response.writeHead(statusCode, kept);
        return response;
      },
    )
    .catch(() => response.destroy());
});

server.listen({ host: "127.0.0.1", port: 0, backlog: 8_192 }, () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === "object" ? address?.port : null }));
});
