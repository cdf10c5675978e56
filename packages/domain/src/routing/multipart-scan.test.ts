import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textOf, utf8 } from "../testing/utf8.ts";
import { MultipartScan, type MultipartScanResult, multipartBoundary } from "./multipart-scan.ts";

function scan(bytes: Uint8Array, boundary = "XB", stepBytes = 1_000_000): MultipartScanResult {
  const body = new MultipartScan(bytes, boundary);
  for (;;) {
    const result = body.step(stepBytes);
    if (result !== null) return result;
  }
}

function part(name: string, value: string, extra = ""): string {
  return `--XB\r\nContent-Disposition: form-data; name="${name}"${extra}\r\n\r\n${value}\r\n`;
}

const audio = "RIFF\0\u0001\r\n--XB-not-a-delimiter\r\n--XBx\r\n\r\n";
const file = part("file", audio, '; filename="a; name=model.wav"\r\nContent-Type: audio/wav');

function modelOf(text: string, stepBytes?: number): string | null {
  const result = scan(utf8(text), "XB", stepBytes);
  return result.kind === "ok" ? textOf(utf8(text).subarray(result.model.start, result.model.end)) : null;
}

describe("the scan of a form", () => {
  test("finds the model behind a file that holds nearly a delimiter, however small its steps are", () => {
    const text = `${file}${part("stream", "true")}${part("model", "m1")}--XB--\r\n`;
    for (const step of [1, 7, 1_000]) {
      expect(modelOf(text, step)).toBe("m1");
      expect(scan(utf8(text), "XB", step)).toMatchObject({ kind: "ok", stream: true });
    }
  });

  test("finds it whatever bytes the file has", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 1, max: 50 }), (bytes, step) => {
        const before = utf8('--XB\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n');
        const after = utf8(`\r\n${part("model", "org/m-2")}--XB--`);
        const body = Uint8Array.from([...before, ...bytes, ...after]);
        const result = scan(body, "XB", step);
        expect(result.kind).toBe("ok");
        if (result.kind === "ok") expect(textOf(body.slice(result.model.start, result.model.end))).toBe("org/m-2");
      }),
    );
  });

  test.each([
    ["garbage", "nonsense", null],
    ["nothing", "", null],
    ["no end", part("model", "m1"), null],
    ["no model", `${file}--XB--`, "model"],
    ["an empty model", `${part("model", "")}--XB--`, "model"],
    ["two models", `${part("model", "m1")}${part("model", "m2")}--XB--`, "model"],
    ["two streams", `${part("stream", "true")}${part("stream", "false")}${part("model", "m2")}--XB--`, "stream"],
    ["a file of that name only", `${part("file", "x", '; filename="; name=model"')}--XB--`, "model"],
  ])("refuses %s", (_what, text, param) => {
    for (const step of [1, 1_000]) expect(scan(utf8(text), "XB", step)).toMatchObject({ kind: "invalid", param });
  });

  test("knows the boundary, quoted or not, of forms only", () => {
    expect(multipartBoundary("multipart/form-data; boundary=XB")).toBe("XB");
    expect(multipartBoundary('Multipart/Form-Data;charset=utf-8; boundary="X B"')).toBe("X B");
    expect(multipartBoundary("multipart/form-data")).toBeNull();
    expect(multipartBoundary("multipart/mixed; boundary=XB")).toBeNull();
    expect(multipartBoundary("application/json")).toBeNull();
  });
});
