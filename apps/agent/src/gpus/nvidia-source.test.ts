import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@llmgw/service";
import { describe, expect, it } from "vitest";
import { until } from "../testing/until.ts";
import { nvidiaSource } from "./nvidia-source.ts";
import { nvidiaSmi } from "./testing/nvidia-smi-output.ts";

/** A stand-in for nvidia-smi, first on PATH, whose answer to the inventory query the test sets. */
async function fakeTool(timeoutMs = 10_000) {
  const dir = await mkdtemp(join(tmpdir(), "llmgw-smi-"));
  const program = join(dir, "nvidia-smi");
  const script = async (body: string) => {
    await writeFile(program, `#!/bin/sh\necho "$$" >> ${dir}/pids\n${body}\n`);
    await chmod(program, 0o755);
  };
  const source = nvidiaSource({
    env: { PATH: `${dir}:/usr/bin:/bin` },
    clock: systemClock,
    timeoutMs,
    killAfterMs: 150,
    shardOfPid: (pid) => (pid === 4242 ? "demo-abcde/0" : null),
    kernelLog: null,
  });
  return {
    dir,
    source,
    script,
    /** Answers the inventory query like this, and the process query with nothing. */
    says: async (stdout: string, { stderr = "", code = 0 }: { stderr?: string; code?: number } = {}) => {
      await writeFile(join(dir, "out"), stdout);
      await writeFile(join(dir, "err"), stderr);
      await script(
        `case "$1" in --query-gpu=*) cat ${dir}/out; cat ${dir}/err >&2; exit ${code};; *) cat ${dir}/apps 2>/dev/null;; esac`,
      );
    },
    apps: (text: string) => writeFile(join(dir, "apps"), text),
    pids: async () => (await readFile(join(dir, "pids"), "utf8")).trim().split("\n").map(Number),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

describe("nvidiaSource", () => {
  it("without the tool: a node without GPUs", async () => {
    const source = nvidiaSource({
      env: { PATH: "/nowhere" },
      clock: systemClock,
      timeoutMs: 1_000,
      killAfterMs: 100,
      shardOfPid: () => null,
      kernelLog: null,
    });
    expect(await source.look()).toEqual({ kind: "seen", gpus: [], warning: null });
  });

  it("says whose memory it is", async () => {
    await using tool = await fakeTool();
    await tool.says(nvidiaSmi.twoHealthy);
    await tool.apps(
      "4242, GPU-00000000-0000-4000-8000-0000000000a1, 22300\n99, GPU-00000000-0000-4000-8000-0000000000a1, 10\n",
    );
    expect(await tool.source.look()).toMatchObject({
      gpus: [
        { processes: [] },
        {
          processes: [
            { pid: 4242, shard: "demo-abcde/0" },
            { pid: 99, shard: null },
          ],
        },
      ],
    });
  });

  it.each(["stdout", "stderr"] as const)(
    "keeps a lost GPU's identity, and its siblings, when %s says so",
    async (where) => {
      await using tool = await fakeTool();
      await tool.says(nvidiaSmi.threeHealthy);
      await tool.source.look();
      const rows = `${nvidiaSmi.row0}\n${nvidiaSmi.row2}\n`;
      const stdout = where === "stdout" ? `${nvidiaSmi.lostLine}\n${rows}` : rows;
      await tool.says(stdout, { stderr: where === "stderr" ? nvidiaSmi.lostLine : "", code: 15 });
      const look = await tool.source.look();
      expect(look.kind === "seen" && look.gpus.toSorted((a, b) => a.index - b.index)).toMatchObject([
        { index: 0, totalMib: 81_559, faults: [] },
        {
          index: 1,
          uuid: "GPU-00000000-0000-4000-8000-0000000000a1",
          totalMib: "unreadable",
          faults: [{ kind: "lost" }],
        },
        { index: 2, totalMib: 81_559, faults: [] },
      ]);
    },
  );

  it.each([
    [nvidiaSmi.mismatch, 18, "Driver/library version mismatch"],
    ["No devices were found\n", 6, "No devices were found"],
    ["", 9, "exit code 9"],
  ])("calls a failure of the whole tool one of the probe: %s", async (stdout, code, said) => {
    await using tool = await fakeTool();
    await tool.says(stdout, { code });
    const look = await tool.source.look();
    expect(look).toMatchObject({ kind: "failed" });
    expect(JSON.stringify(look)).toContain(said);
  });

  it("does not take an empty list for a machine without GPUs once it has seen some", async () => {
    await using tool = await fakeTool();
    await tool.says(nvidiaSmi.twoHealthy);
    await tool.source.look();
    await tool.says("");
    expect(await tool.source.look()).toMatchObject({ kind: "failed" });
  });

  it("asks an old driver only for what it knows, in the same look", async () => {
    await using tool = await fakeTool();
    const core = nvidiaSmi.row0.split(",").slice(0, 6).join(",");
    await tool.script(`case "$1" in *mig.mode*) echo 'Field "mig.mode.current" is not a valid field to query.'; exit 2;;
      --query-gpu=*) echo '${core}';; esac`);
    expect(await tool.source.look()).toMatchObject({ gpus: [{ totalMib: 81_559, usedMib: 4, faults: [] }] });
  });

  it("gives up on a tool that hangs, ends its own child, and is well again with the next good answer", async () => {
    await using tool = await fakeTool(1_000);
    await tool.script('trap "" TERM\nwhile :; do sleep 0.05; done');
    expect(await tool.source.look()).toMatchObject({ kind: "failed" });
    const [pid = 0] = await tool.pids();
    await until("the hung tool to be gone", () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
    await tool.says(nvidiaSmi.twoHealthy);
    await until("a good answer", async () => (await tool.source.look()).kind === "seen");
  });

  it("asks for the health fields that this driver lists, and for no other", async () => {
    await using tool = await fakeTool();
    const core = nvidiaSmi.row0.split(",").slice(0, 6).join(",");
    const help = [
      "index",
      "uuid",
      "pci.bus_id",
      "name",
      "memory.total",
      "memory.used",
      "gpu_recovery_action",
      "remapped_rows.pending",
    ];
    const listed = help.map((field) => `"${field}"`).join("\n");
    await tool.script(`case "$1" in --help-query-gpu) printf '%s\n' '${listed}';;
      --query-gpu=*mig.mode*) echo 'Field "mig.mode.current" is not a valid field to query.'; exit 2;;
      --query-gpu=*) echo '${core}, Drain and Reset, Yes';; esac`);
    const look = await tool.source.look();
    expect(look.kind === "seen" && look.gpus[0]?.faults).toMatchObject([
      { kind: "recovery_action", action: "Drain and Reset" },
      { kind: "recovery_action", evidence: "remapped_rows.pending=Yes" },
    ]);
  });

  it("reads the XML report when the query answers with nothing it can read", async () => {
    await using tool = await fakeTool();
    await writeFile(join(tool.dir, "report.xml"), nvidiaSmi.xml);
    await tool.script(`case "$1" in -q) cat ${tool.dir}/report.xml;; --query-gpu=*) echo 'unexpected words';; esac`);
    expect(await tool.source.look()).toMatchObject({
      kind: "seen",
      gpus: [
        {
          uuid: "GPU-00000000-0000-4000-8000-0000000000a0",
          totalMib: 81_559,
          usedMib: 59,
          eccUncorrected: 0,
          migMode: "disabled",
          faults: [],
        },
        {
          totalMib: "unreadable",
          eccUncorrected: 3,
          faults: [{ kind: "unreadable" }, { kind: "recovery_action", action: "Reset" }],
        },
      ],
    });
  });
});
