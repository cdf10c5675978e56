import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "@llmgw/service";
import { secureSessionCookie, sessionCookie } from "./credentials.ts";
import { redirect } from "./respond.ts";

/** Uses a one-time link up; answers the session's secret, or null for a link that does not work (any more). */
type ExchangeLink = (token: string, from: { sourceAddress: string; requestId: string }) => Promise<string | null>;

export interface SignInOptions {
  readonly exchange: ExchangeLink;
  readonly sessionMs: number;
  readonly log: Logger;
}

/**
 * `GET /sign-in?token=…`: the link signs this browser in, once; a link that does not work leads to the sign-in page, which
 * says so. A HEAD, as previews of links send it, uses nothing up.
 */
export async function signIn(
  { request, response, token, requestId }: SignInRequest,
  options: SignInOptions,
): Promise<void> {
  const sourceAddress = request.socket.remoteAddress ?? "";
  const secret = request.method === "GET" ? await options.exchange(token, { sourceAddress, requestId }) : null;
  if (secret === null) {
    options.log.warn(
      { sourceAddress, requestId, method: request.method },
      "a sign-in link that does not work was tried",
    );
    redirect(response, "/sign-in?error=link", {});
    return;
  }
  redirect(response, "/", { "set-cookie": cookie(request, secret, options.sessionMs) });
}

interface SignInRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly token: string;
  readonly requestId: string;
}

function cookie(request: IncomingMessage, secret: string, lifeMs: number): string {
  const isTls = request.headers["x-forwarded-proto"] === "https";
  const name = isTls ? secureSessionCookie : sessionCookie;
  const life = `Max-Age=${Math.floor(lifeMs / 1000)}`;
  return `${name}=${secret}; Path=/; HttpOnly; SameSite=Lax; ${life}${isTls ? "; Secure" : ""}`;
}
