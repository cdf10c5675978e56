import { randomFillSync } from "node:crypto";
import { uuidv7 } from "@llmgw/service";

const ID_BYTES = 10;
const POOL_BYTES = ID_BYTES * 400;

/** Makes ids of requests, `req_<uuidv7>`. Random bytes are fetched for many at once: each fetch is a system call. */
export class RequestIds {
  readonly #pool = Buffer.alloc(POOL_BYTES);
  #used = POOL_BYTES;

  next(nowMs: number): string {
    if (this.#used === POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    const random = this.#pool.subarray(this.#used, this.#used + ID_BYTES);
    this.#used += ID_BYTES;
    return `req_${uuidv7(nowMs, random)}`;
  }
}
