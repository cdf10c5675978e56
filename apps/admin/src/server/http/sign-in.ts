import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "@llmgw/service";
import { secureSessionCookie, sessionCookie } from "./credentials.ts";
import { redirect, reply } from "./respond.ts";

/** Uses a one-time link up; answers the session's secret, or null for a link that does not work (any more). */
type ExchangeLink = (token: string, from: { sourceAddress: string; requestId: string }) => Promise<string | null>;

export interface SignInOptions {
  readonly exchange: ExchangeLink;
  readonly sessionMs: number;
  readonly log: Logger;
}

/** `GET /sign-in?token=…`: the link signs this browser in, once. Without a token: how to get a link. */
export async function signIn(
  { request, response, url, requestId }: SignInRequest,
  options: SignInOptions,
): Promise<void> {
  const token = url.searchParams.get("token");
  if (request.method !== "GET" && request.method !== "HEAD") {
    reply(response, page(405, `${request.method} is not possible here.`));
    return;
  }
  if (token === null || request.method === "HEAD") {
    reply(response, page(200, "This browser is not signed in."));
    return;
  }
  const sourceAddress = request.socket.remoteAddress ?? "";
  const secret = await options.exchange(token, { sourceAddress, requestId });
  if (secret === null) {
    options.log.warn({ sourceAddress, requestId }, "a sign-in link that does not work was tried");
    reply(response, page(401, "This link does not work: it was used before, or it is too old."));
    return;
  }
  redirect(response, "/", { "set-cookie": cookie(request, secret, options.sessionMs) });
}

interface SignInRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly requestId: string;
}

function cookie(request: IncomingMessage, secret: string, lifeMs: number): string {
  const isTls = request.headers["x-forwarded-proto"] === "https";
  const name = isTls ? secureSessionCookie : sessionCookie;
  const life = `Max-Age=${Math.floor(lifeMs / 1000)}`;
  return `${name}=${secret}; Path=/; HttpOnly; SameSite=Lax; ${life}${isTls ? "; Secure" : ""}`;
}

/** Self-contained, so that it also shows when the dashboard itself cannot. No script, and no style but the browser's. */
function page(status: number, problem: string) {
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Sign in · llmgw</title></head>
<body>
<main>
<h1>Sign in to llmgw</h1>
<p>${problem}</p>
<p>Make a link that signs you in, on the machine where llmgw runs, and open it here:</p>
<pre>npx llmgw ctl sign-in</pre>
<p>A link works once, for ten minutes.</p>
</main>
</body>
</html>
`;
  return { status, body, contentType: "text/html; charset=utf-8" };
}
