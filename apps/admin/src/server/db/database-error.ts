import { ConfigError } from "@llmgw/service";

/**
 * Something about the database that the person who runs llmgw can act on: a busy port, a wrong address, a failed
 * migration. The message is meant to be shown as it is, without a stack.
 */
export class DatabaseError extends ConfigError {
  constructor(message: string, options?: ErrorOptions) {
    super([message], options);
    this.name = "DatabaseError";
  }
}
