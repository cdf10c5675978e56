import type { Server } from "node:net";
import { ConfigError } from "./config-error.ts";
import { findListenerPid } from "./listener-pid.ts";
import type { ListenAddress } from "./setting-schemas.ts";
import { settingNames } from "./settings.ts";

/** Where a server listens after all: with port 0 the port the system chose. */
export interface BoundAddress extends ListenAddress {
  /** `http://host:port`, IPv6 in brackets. */
  readonly url: string;
}

/** The setting that chose an address: its variable, or its variable and flag. */
export type AddressSetting = string | { readonly env?: string; readonly flag?: string };

/**
 * Starts a server's listener and answers the bound address. An address that cannot be used is a `ConfigError` that says
 * which setting to change and, for a busy port on Linux, which process holds it.
 */
export async function listen(server: Server, address: ListenAddress, setting: AddressSetting): Promise<BoundAddress> {
  const { host, port } = address;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port }, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (error) {
    throw await explained(error, address, setting);
  }
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error(`server bound to ${bound}, not to a TCP port`);
  return { host, port: bound.port, url: `http://${hostPort({ host, port: bound.port })}` };
}

/** "host:port", with brackets around an IPv6 host. */
export function hostPort({ host, port }: ListenAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

async function explained(error: unknown, address: ListenAddress, setting: AddressSetting): Promise<unknown> {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const where = hostPort(address);
  const names = typeof setting === "string" ? [setting] : settingNames(setting);
  const name = names.length === 2 ? `${names[0]} (or ${names[1]})` : names.join("");
  const problem = (text: string) => new ConfigError([`${where} ${text}`], { cause: error });
  switch (code) {
    case "EADDRINUSE": {
      const pid = await findListenerPid(address.port);
      const holder = pid === undefined ? "the program that holds it" : `the program that holds it (pid ${pid})`;
      return problem(`is in use. Set ${name} to a free address, or stop ${holder}`);
    }
    case "EACCES":
      return problem(`needs a privilege this user lacks. Set ${name} to a port from 1024 up`);
    case "EADDRNOTAVAIL":
      return problem(`is no address of this machine. Set ${name} to one of its own addresses`);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return problem(`names a host that cannot be resolved. Set ${name} to an address of this machine`);
    default:
      return error;
  }
}
