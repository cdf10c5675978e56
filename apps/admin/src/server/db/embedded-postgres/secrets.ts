import path from "node:path";
import { newSecret, readJsonFile, writeFileAtomic } from "@llmgw/service";
import { z } from "zod";
import { DatabaseError } from "../database-error.ts";

const secretsSchema = z.strictObject({
  /** Password of the role `postgres`, which only llmgw's own start-up uses. */
  superuserPassword: z.string().min(16),
  /** Password of the role `llmgw`, which owns the database and is not a superuser. */
  password: z.string().min(16),
});
export type PostgresSecrets = z.infer<typeof secretsSchema>;

/**
 * Reads the server's passwords from `<settingsDir>/secrets.json` (mode 0600), making them before the first start.
 * @throws DatabaseError when the file is damaged, or data exist whose passwords are gone.
 */
export async function keepSecrets(
  settingsDir: string,
  options: { readonly dataExist: boolean },
): Promise<PostgresSecrets> {
  const file = path.join(settingsDir, "secrets.json");
  const found = await readJsonFile(file, secretsSchema);
  if (found.kind === "ok") {
    return found.value;
  }
  if (found.kind === "invalid") {
    throw new DatabaseError(`The embedded database's passwords cannot be read: ${found.problem}. Restore that file.`);
  }
  if (options.dataExist) {
    throw new DatabaseError(
      `The embedded database has data, and ${file} with its passwords is gone. Restore the file, or delete ${settingsDir} to begin with an empty database.`,
    );
  }
  const secrets = { superuserPassword: newSecret(""), password: newSecret("") };
  await writeFileAtomic(file, `${JSON.stringify(secrets, undefined, 2)}\n`);
  return secrets;
}
