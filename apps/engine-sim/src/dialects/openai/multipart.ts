export interface FormPart {
  readonly name: string;
  /** Null for a plain field. */
  readonly fileName: string | null;
  readonly content: Buffer;
}

/** The parts of a `multipart/form-data` body (RFC 7578); null when it is none or has no end. */
export function parseMultipart(contentType: string | undefined, body: Buffer): FormPart[] | null {
  const match = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType ?? "");
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) {
    return null;
  }
  const delimiter = Buffer.from(`--${boundary}`);
  const parts: FormPart[] = [];
  let at = body.indexOf(delimiter);
  while (at >= 0) {
    const start = at + delimiter.length;
    if (body.subarray(start, start + 2).toString() === "--") {
      return parts;
    }
    const headEnd = body.indexOf("\r\n\r\n", start);
    const next = body.indexOf(Buffer.concat([Buffer.from("\r\n"), delimiter]), start);
    if (headEnd < 0 || next < headEnd) {
      return null;
    }
    const head = body.subarray(start, headEnd).toString("utf8");
    const name = /\bname="([^"]*)"/i.exec(head)?.[1];
    if (name !== undefined) {
      const fileName = /\bfilename="([^"]*)"/i.exec(head)?.[1] ?? null;
      parts.push({ name, fileName, content: body.subarray(headEnd + 4, next) });
    }
    at = next + 2;
  }
  return null;
}
