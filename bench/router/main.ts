/** `npm run bench -- router`: the router against other relays, in interleaved rounds; medians. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Child } from "./child.ts";
import { jsonPort, type Peer, type PeerName, peerNames, startPeer, tsx } from "./peers.ts";
import { machine, medians, type Row, tables, writeDocument, writeJson } from "./report.ts";
import {
  besideUploads,
  direct,
  memoryPerStream,
  type Numbers,
  pacedStreams,
  type Scenario,
  throughputScenarios,
} from "./scenarios.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    peers: { type: "string", default: peerNames.join(",") },
    only: { type: "string", default: "" },
    port: { type: "string", default: "21300" },
    "node-args": { type: "string", default: "" },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`npm run bench -- router [options]
  --rounds N       rounds of each scenario (5)
  --seconds N      measured seconds in each (3)
  --peers A,B      some of: ${peerNames.join(", ")}
  --only WORD      scenarios whose name has this word
  --port N         first of three free ports, for nginx, haproxy and portkey (21300)
  --node-args ARGS flags of Node for the router, such as --cpu-prof
  --write          put the tables into docs/performance.md`);
  process.exit(0);
}

const durationMs = Number(values.seconds) * 1_000;
const rounds = Number(values.rounds);
const folder = mkdtempSync(join(tmpdir(), "llmgw-bench-"));
const notes: string[] = [];
const rows: Row[] = [];
const engine = await Child.start({
  command: process.execPath,
  args: ["--import", tsx(), join(import.meta.dirname, "engine-main.ts")],
  portOf: jsonPort,
});

const isWanted = ({ name }: { name: string }) => name.includes(values.only);
const wanted = peerNames.filter((name) => values.peers.split(",").includes(name));
try {
  const ofJson = throughputScenarios.filter(({ name }) => !name.includes("SSE"));
  const ofStreams = throughputScenarios.filter(({ name }) => name.includes("SSE"));
  // Portkey's gateway answers the engine's event streams with a 500.
  const streaming = wanted.filter((name) => name !== "portkey");
  await compare(ofJson.filter(isWanted), wanted, { withDirect: false });
  await compare(ofStreams.filter(isWanted), streaming, { withDirect: false });
  await compare([pacedStreams(1_000)].filter(isWanted), streaming, { withDirect: true });
  const rest = [memoryPerStream(5_000), besideUploads].filter(isWanted);
  await compare(
    rest,
    wanted.filter((name) => name === "llmgw" || name === "bare undici relay"),
    { withDirect: false },
  );
  if (isWanted({ name: "1,000 endpoints" })) await compareEndpoints();
  const text = `${machine()}; ${rounds} interleaved rounds of ${values.seconds} s, medians.\n${notes.map((note) => `\n- ${note}`).join("")}\n\n${tables(rows)}`;
  console.log(`\n${text}\n${writeJson(rows, notes)}`);
  if (values.write) writeDocument(text);
} finally {
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Runs scenarios through all peers in turn, round by round, so that whatever else the machine does meets all of them. */
async function compare(
  scenarios: readonly Scenario[],
  names: readonly PeerName[],
  { withDirect }: { withDirect: boolean },
): Promise<void> {
  if (scenarios.length === 0) return;
  const peers = await started(names);
  try {
    for (const scenario of scenarios) await measure(scenario, withDirect ? [direct(engine), ...peers] : peers);
  } finally {
    await Promise.all(peers.map(({ child }) => child.stop()));
  }
}

async function measure(scenario: Scenario, peers: readonly Peer[]): Promise<void> {
  const found = new Map<string, Numbers[]>(peers.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const peer of peers) {
      const numbers = await scenario.run(peer, durationMs);
      found.get(peer.name)?.push(numbers);
      const text = Object.entries(numbers).map(([name, value]) => `${name} ${value.toFixed(2)}`);
      process.stderr.write(`${scenario.name}, round ${round + 1}, ${peer.name}: ${text.join(", ")}\n`);
    }
  }
  for (const [peer, list] of found) {
    rows.push({ scenario: scenario.name, about: scenario.about, peer, numbers: medians(list) });
  }
}

/** The router with 2 endpoints and with 1,000: what a choice costs more. */
async function compareEndpoints(): Promise<void> {
  const [base] = throughputScenarios;
  if (base === undefined) throw new Error("there is no scenario to compare endpoints by");
  const [few, many] = [await router(2, "2 endpoints"), await router(1_000, "1,000 endpoints")];
  try {
    await measure({ ...base, name: "1,000 endpoints", about: `${base.name}: ${base.about}` }, [few, many]);
  } finally {
    await Promise.all([few, many].map(({ child }) => child.stop()));
  }
}

async function router(endpoints: number, name: string): Promise<Peer> {
  const peer = await startPeer("llmgw", optionsWith(endpoints));
  if (typeof peer === "string") throw new Error(peer);
  return { ...peer, name };
}

async function started(names: readonly PeerName[]): Promise<Peer[]> {
  const peers: Peer[] = [];
  for (const name of names) {
    const peer = await startPeer(name, optionsWith(2));
    if (typeof peer !== "string") peers.push(peer);
    else if (!notes.includes(`${name} is left out: ${peer}.`)) notes.push(`${name} is left out: ${peer}.`);
  }
  return peers;
}

function optionsWith(endpoints: number) {
  return {
    enginePort: engine.port,
    folder,
    basePort: Number(values.port),
    endpoints,
    nodeArgs: values["node-args"].split(" ").filter((part) => part !== ""),
  };
}
