import type { Command } from "commander";
import { type CommandContext, contextOf, outputOption } from "./context.ts";

export interface VerbSpec {
  /** As commander writes it: `drain <node>`. */
  readonly usage: string;
  readonly description: string;
  /** At least two, without the program's name. */
  readonly examples: readonly string[];
  /** The command it belongs below; the program itself unless given. */
  readonly parent?: Command;
}

/** What a command does; resolves to the exit code. `args` are its operands in order, absent optional ones undefined. */
export type Work<O> = (context: CommandContext, args: readonly (string | undefined)[], options: O) => Promise<number>;

/** Adds commands to the program, each with the common options, its examples, and an action that keeps its exit code. */
export class Registrar {
  readonly #program: Command;
  readonly #env: NodeJS.ProcessEnv;
  readonly #done: (code: number) => void;

  constructor(program: Command, env: NodeJS.ProcessEnv, done: (code: number) => void) {
    this.#program = program;
    this.#env = env;
    this.#done = done;
  }

  verb({ usage, description, examples, parent = this.#program }: VerbSpec): Command {
    return parent
      .command(usage)
      .description(description)
      .addOption(outputOption())
      .addHelpText("after", `\nExamples:\n${examples.map((example) => `  llmgw ctl ${example}`).join("\n")}`)
      .exitOverride();
  }

  on<O extends object>(command: Command, work: Work<O>): void {
    command.action(async () => {
      const args = command.processedArgs as (string | undefined)[];
      this.#done(await work(contextOf(command, this.#env), args, command.opts<O>()));
    });
  }
}
