import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { connect, isSameListener } from "./connect.ts";

const dataDir = mkdtempSync(join(tmpdir(), "llmgw-connect-"));
const empty = join(dataDir, "empty");
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const url = "http://127.0.0.1:7170";
const run = { adminUrl: url, routerUrl: "", routerDiagnosticsUrl: "", apiKey: "k", operatorToken: "llmgw_op_x" };
const rest = { dashboardUser: null, dashboardPasswordFile: null, model: null, pids: {} };
writeFileSync(join(dataDir, "run.json"), JSON.stringify({ ...run, ...rest }));

test("the folder of a local cluster says where it is and gives its token, by flag as by variable", async () => {
  expect((await connect({ dataDir }, {})).url).toBe(url);
  expect((await connect({}, { LLMGW_DATA_DIR: dataDir })).url).toBe(url);
  expect((await connect({ dataDir }, { LLMGW_ADMIN_URL: "http://10.0.0.1:1" })).url).toBe(url);
});

test("the token serves every loopback name of the same port, and no other address", async () => {
  expect((await connect({ url: "http://localhost:7170", dataDir }, {})).url).toBe("http://localhost:7170");
  expect(isSameListener("http://[::1]:7170", url)).toBe(true);
  for (const other of ["http://localhost:7171", "http://10.0.0.1:7170", "https://localhost:7170", "nonsense"]) {
    expect(isSameListener(other, url)).toBe(false);
  }
  await expect(connect({ url: "http://10.0.0.1:7170", dataDir }, {})).rejects.toThrow("is of another cluster");
});

test("without a token it is said where it was looked for and how it is found", async () => {
  const failing = connect({ dataDir: empty }, {});
  await expect(failing).rejects.toThrow(join(empty, "run.json"));
  await expect(failing).rejects.toThrow("--data-dir DIR");
  await expect(failing).rejects.toMatchObject({ exitCode: 4 });
});
