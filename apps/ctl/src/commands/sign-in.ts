import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { printOne, talk } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl sign-in`: a link that signs one browser in, once. */
async function signIn(context: CommandContext, options: { name: string }): Promise<number> {
  const { client, url } = await context.connection();
  const link = await client.access.createSignInLink.mutate({ name: options.name });
  const { expiresAt } = link;
  const signInUrl = `${url}${link.path}`;
  if (context.format === "table") talk(`This link signs one browser in, once, until ${expiresAt}:`);
  printOne({ url: signInUrl, expiresAt }, context.format, () => signInUrl);
  return exit.ok;
}

export function registerSignIn(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "sign-in",
      description: "print a link that signs one browser in to the dashboard",
      examples: ["sign-in", "sign-in --name mara -o json"],
    })
    .option("--name <name>", "who will use it, for the audit history", "operator");
  registrar.on<{ name: string }>(command, (context, _args, options) => signIn(context, options));
}
