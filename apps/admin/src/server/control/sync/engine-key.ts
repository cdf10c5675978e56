import { createHmac } from "node:crypto";

/** A generation's own engine key: HMAC-SHA256 over `<replica>/<generation>`, base64url. Its engine accepts no other. */
export function engineKey(clusterSecret: string, replicaId: string, generation: number): string {
  return createHmac("sha256", clusterSecret).update(`${replicaId}/${generation}`).digest("base64url");
}
