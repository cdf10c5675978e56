import type { Command } from "commander";
import { type CommandContext, contextOf, optionsOf, type Surroundings, withCommonOptions } from "./context.ts";
import { CtlError, exit } from "./exit.ts";
import { programName } from "./program-name.ts";

export interface VerbSpec {
  /** As commander writes it: `drain <node>`. */
  readonly usage: string;
  readonly description: string;
  /** At least two, without the program's name. */
  readonly examples: readonly string[];
  /** The command it belongs below; the program itself unless given. */
  readonly parent?: Command;
  /** False for a command whose output has one form only: it offers no `-o`. */
  readonly prints?: boolean;
}

/** What a command does; resolves to the exit code. `args` are its operands in order, absent optional ones undefined. */
export type Work<O> = (context: CommandContext, args: readonly (string | undefined)[], options: O) => Promise<number>;

/** Adds commands to the program, each with the common options, its examples, and an action that keeps its exit code. */
export class Registrar {
  /** Every example of every command added so far, without the program's name. */
  readonly examples: string[] = [];
  readonly #program: Command;
  readonly #surroundings: Surroundings;
  readonly #done: (code: number) => void;

  constructor(program: Command, surroundings: Surroundings, done: (code: number) => void) {
    this.#program = program;
    this.#surroundings = surroundings;
    this.#done = done;
  }

  verb({ usage, description, examples, parent = this.#program, prints = true }: VerbSpec): Command {
    this.examples.push(...examples);
    const command = parent
      .command(usage)
      .description(description)
      .addHelpText("after", `\nExamples:\n${examples.map((one) => `  ${programName()} ctl ${one}`).join("\n")}`)
      .exitOverride();
    return withCommonOptions(command, { prints });
  }

  on<O extends object>(command: Command, work: Work<O>): void {
    command.action(async () => {
      refuseOutput(command);
      const args = command.processedArgs as (string | undefined)[];
      this.#done(await work(contextOf(command, this.#surroundings), args, optionsOf<O>(command)));
    });
  }
}

/** `-o` before the name of a command that has no such option would be ignored otherwise. */
function refuseOutput(command: Command): void {
  if (command.options.some((option) => option.attributeName() === "output")) return;
  for (let giver = command.parent; giver !== null; giver = giver.parent) {
    if (giver.getOptionValueSource("output") === "cli") {
      throw new CtlError(`${command.name()} prints in one form only: leave out -o`, exit.usage);
    }
  }
}
