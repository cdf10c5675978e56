import { createServer } from "node:net";
import path from "node:path";
import { writeFileAtomic } from "@llmgw/service";
import { DatabaseError } from "../database-error.ts";
import { readFileIfPresent } from "../read-file-if-present.ts";

/** The server listens here and nowhere else; there is no unix socket. */
export const loopback = "127.0.0.1";

/** One line for a port that something else holds. */
export function busyPortError(port: number): DatabaseError {
  return new DatabaseError(
    `Port ${port} on ${loopback} is in use by another program, so the embedded database cannot start. Free it, set LLMGW_POSTGRES_PORT to another port, or unset LLMGW_POSTGRES_PORT to let llmgw choose one.`,
  );
}

/**
 * Chooses the server's port: the wanted one, else the one of the last start if it is free, else any free one.
 * @throws DatabaseError when the wanted port is busy.
 */
export async function choosePort(options: {
  readonly wanted: number | undefined;
  readonly settingsDir: string;
}): Promise<number> {
  const { wanted, settingsDir } = options;
  if (wanted !== undefined) {
    if ((await tryPort(wanted)) === undefined) {
      throw busyPortError(wanted);
    }
    return wanted;
  }
  const file = path.join(settingsDir, "port");
  const remembered = Number((await readFileIfPresent(file))?.trim());
  if (Number.isInteger(remembered) && remembered > 0 && (await tryPort(remembered)) !== undefined) {
    return remembered;
  }
  const free = await tryPort(0);
  if (free === undefined) {
    throw new DatabaseError(`No free port on ${loopback} for the embedded database.`);
  }
  await writeFileAtomic(file, `${free}\n`);
  return free;
}

/** Listens for an instant: the port listened on (any free one for 0), undefined when it is busy. */
function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => {
      if ("code" in error && error.code === "EADDRINUSE") {
        resolve(undefined);
      } else if ("code" in error && error.code === "EACCES") {
        reject(
          new DatabaseError(
            `Port ${port} needs rights that this user has not. Set LLMGW_POSTGRES_PORT to a port above 1023.`,
          ),
        );
      } else {
        reject(error);
      }
    });
    server.listen({ host: loopback, port }, () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === "object" ? address.port : undefined));
    });
  });
}
