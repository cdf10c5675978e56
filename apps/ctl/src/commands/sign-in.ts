import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { talk, write } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl sign-in`: a link that signs one browser in, once. */
async function signIn(context: CommandContext, options: { name: string }): Promise<number> {
  const { client, url } = await context.connection();
  const link = await client.access.createSignInLink.mutate({ name: options.name });
  talk(`This link signs one browser in, once, until ${link.expiresAt}:`);
  write(`${url}${link.path}`);
  return exit.ok;
}

export function registerSignIn(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "sign-in",
      description: "print a link that signs one browser in to the dashboard",
      examples: ["sign-in", "sign-in --name mara"],
    })
    .option("--name <name>", "who will use it, for the audit history", "operator");
  registrar.on<{ name: string }>(command, (context, _args, options) => signIn(context, options));
}
