import type { GpuFacts, GpuFault, Reading } from "@llmgw/domain";

/** The fields that are asked for, in this order: columns are known by their place, never by a header. */
const inventoryFields = [
  "index",
  "uuid",
  "pci.bus_id",
  "name",
  "memory.total",
  "memory.used",
  "utilization.gpu",
  "temperature.gpu",
  "ecc.errors.uncorrected.volatile.total",
  "mig.mode.current",
] as const;
/** What every driver knows: asked for alone when it refuses one of the others. */
export const coreFields = inventoryFields.slice(0, 6);

/** What only newer drivers or larger cards know, with the older name of each where there was one. */
const healthFields = [
  ["gpu_recovery_action"],
  ["remapped_rows.pending"],
  ["remapped_rows.failure"],
  ["retired_pages.pending"],
  ["compute_mode"],
] as const;

/**
 * The fields to ask this driver for: one that it does not know makes the whole query fail, so what
 * `nvidia-smi --help-query-gpu` lists decides. A text that lists none says nothing, and the usual ones are asked for.
 */
export function fieldsOf(help: string): readonly string[] {
  const known = new Set([...help.matchAll(/"([\w.]+)"/g)].map(([, name]) => name));
  if (!coreFields.every((field) => known.has(field))) return inventoryFields;
  const extra = healthFields.flatMap((names) => names.find((name) => known.has(name)) ?? []);
  return [...inventoryFields.filter((field) => known.has(field)), ...extra];
}

export interface ParsedInventory {
  readonly gpus: readonly GpuFacts[];
  /** Lines that are no row: warnings and errors, of the whole tool or of one GPU. */
  readonly messages: readonly string[];
  /** GPUs that a message says are lost, by PCI bus id as the message spells it. */
  readonly lost: readonly { readonly busId: string; readonly evidence: string }[];
}

const uuidPattern = /^GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const lostPattern = /(?:unable to determine the device handle for|fallen off the bus|GPU is lost)/i;
const busIdPattern = /\b(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-9a-f])?\b/i;

/**
 * Reads `nvidia-smi --query-gpu=… --format=csv,noheader,nounits`. A token in brackets, `N/A` or `ERR!` makes its own
 * field unsupported or unreadable, never the row, and never 0; a broken row never hides the others.
 */
export function parseInventory(text: string, fields: readonly string[] = inventoryFields): ParsedInventory {
  const gpus: GpuFacts[] = [];
  const messages: string[] = [];
  const lost: { busId: string; evidence: string }[] = [];
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    if (line === "") continue;
    const columns = line.split(",").map((column) => column.trim());
    if (/^\d+$/.test(columns[0] ?? "") && uuidPattern.test(columns[1] ?? "")) {
      gpus.push(readRow(columns, fields));
      continue;
    }
    messages.push(line);
    const busId = busIdPattern.exec(line)?.[0];
    if (busId !== undefined && lostPattern.test(line)) lost.push({ busId, evidence: line });
  }
  return { gpus: withoutDuplicates(gpus), messages, lost };
}

function readRow(columns: readonly string[], fields: readonly string[]): GpuFacts {
  const [index, uuid = "", busId, name, total, used] = columns;
  /** A field that was not asked for is one that this driver does not have. */
  const column = (field: string) => (fields.includes(field) ? columns[fields.indexOf(field)] : "[N/A]");
  const utilization = column("utilization.gpu");
  const temperature = column("temperature.gpu");
  const ecc = column("ecc.errors.uncorrected.volatile.total");
  const mig = column("mig.mode.current");
  const totalMib = readNumber(total);
  const usedMib = readNumber(used);
  const percent = readNumber(utilization);
  const faults: GpuFault[] = [];
  if (columns.some((column) => /GPU is lost/i.test(column)))
    faults.push({ kind: "lost", evidence: columns.join(", ") });
  const unreadable = inventoryFields.slice(4, -1).flatMap((field) => {
    const token = column(field);
    return readNumber(token) === "unreadable" ? [`${field}=${token ?? "(missing)"}`] : [];
  });
  if (totalMib === "unreadable" || usedMib === "unreadable") {
    faults.push({ kind: "unreadable", evidence: unreadable.join(", ") });
  }
  faults.push(...adviceOf(column));
  return {
    uuid,
    index: Number(index),
    vendor: "nvidia",
    name: name ?? "unknown",
    pciBusId: busId === undefined || busId.startsWith("[") ? null : busId,
    totalMib,
    usedMib,
    temperatureC: readNumber(temperature),
    utilizationRatio: typeof percent === "number" ? percent / 100 : percent,
    eccUncorrected: readNumber(ecc),
    migMode: readMigMode(mig),
    faults,
    processes: [],
  };
}

/**
 * What the driver asks for. Rows that wait to be remapped take a reset; what runs goes on meanwhile, as the driver has
 * contained it. Rows that could not be remapped take another card. Words that nobody has seen are passed on as they are.
 */
export function adviceOf(column: (field: string) => string | undefined): GpuFault[] {
  const faults: GpuFault[] = [];
  const advise = (action: string, field: string) =>
    faults.push({ kind: "recovery_action", action, evidence: `${field}=${column(field)}` });
  const isYes = (field: string) => /^yes$/i.test(column(field) ?? "");
  const action = column("gpu_recovery_action") ?? "";
  if (!/^(?:none|\[?N\/A\]?|\[?not supported\]?|\[unknown error\]|)$/i.test(action))
    advise(action, "gpu_recovery_action");
  if (isYes("remapped_rows.failure")) {
    advise("Drain and replace it: a memory row could not be remapped", "remapped_rows.failure");
  }
  if (isYes("remapped_rows.pending")) advise("Reset: memory rows wait to be remapped", "remapped_rows.pending");
  if (isYes("retired_pages.pending")) advise("Reset: memory pages wait to be retired", "retired_pages.pending");
  if (/^prohibited$/i.test(column("compute_mode") ?? "")) {
    advise("Drain: its compute mode is Prohibited (nvidia-smi -c 0 allows work)", "compute_mode");
  }
  return faults;
}

/** `[N/A]` and `[Not Supported]`: there is no such thing here. Any other word in the place of a number: unreadable. */
export function readNumber(token: string | undefined): Reading {
  if (token === undefined || token === "") return "unreadable";
  if (/^\[?(?:N\/A|Not Supported|Requested functionality has been deprecated)\]?$/i.test(token)) return "unsupported";
  const value = Number(token);
  return Number.isFinite(value) && value >= 0 ? value : "unreadable";
}

export function readMigMode(token: string | undefined): GpuFacts["migMode"] {
  switch (token?.toLowerCase()) {
    case "enabled":
      return "enabled";
    case "disabled":
      return "disabled";
    default:
      return readNumber(token) === "unsupported" ? "unsupported" : "unreadable";
  }
}

/** Two rows with one UUID: which is which cannot be said, so one stays, and it says so. */
function withoutDuplicates(gpus: readonly GpuFacts[]): GpuFacts[] {
  const byUuid = new Map<string, GpuFacts>();
  for (const gpu of gpus) {
    const other = byUuid.get(gpu.uuid);
    const evidence = `nvidia-smi lists ${gpu.uuid} twice, as GPU ${other?.index} and GPU ${gpu.index}`;
    byUuid.set(
      gpu.uuid,
      other === undefined ? gpu : { ...gpu, faults: [...gpu.faults, { kind: "unreadable", evidence }] },
    );
  }
  return [...byUuid.values()];
}

/** Reads `nvidia-smi --query-compute-apps=pid,gpu_uuid,used_memory --format=csv,noheader,nounits`. */
export function parseComputeApps(text: string): { pid: number; gpuUuid: string; usedMib: Reading }[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [pid, gpuUuid, used] = line.split(",").map((column) => column.trim());
    if (pid === undefined || !/^\d+$/.test(pid) || gpuUuid === undefined || !uuidPattern.test(gpuUuid)) return [];
    return [{ pid: Number(pid), gpuUuid, usedMib: readNumber(used) }];
  });
}

/** True for two spellings of one PCI bus id: the domain has 4 or 8 digits or is left out, the function may be. */
export function isSameBusId(a: string, b: string): boolean {
  return shortBusId(a) === shortBusId(b);
}

function shortBusId(busId: string): string {
  const match = /(?:([0-9a-f]+):)?([0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9a-f])?$/i.exec(busId);
  const domain = Number.parseInt(match?.[1] ?? "0", 16);
  return `${domain}:${match?.[2]?.toLowerCase() ?? busId}`;
}
