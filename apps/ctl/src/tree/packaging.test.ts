import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { knownVariables } from "@llmgw/service";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { treeRoot } from "../up/layout.ts";

const read = (file: string) => readFileSync(join(treeRoot, file), "utf8");
const dockerfile = read("docker/Dockerfile");

const condition = z.object({ condition: z.enum(["service_healthy", "service_completed_successfully"]) });
const compose = z
  .object({
    services: z.record(
      z.string(),
      z.object({
        build: z.object({ context: z.literal(".."), dockerfile: z.string(), target: z.string() }).optional(),
        depends_on: z.record(z.string(), condition).default({}),
        healthcheck: z.object({ test: z.array(z.string()).min(2) }).optional(),
        entrypoint: z.array(z.string()).default([]),
        ports: z.array(z.string()).default([]),
        volumes: z.array(z.string()).default([]),
        environment: z.record(z.string(), z.string()).default({}),
      }),
    ),
    volumes: z.record(z.string(), z.null()),
  })
  .parse(parse(read("docker/compose.yaml"), { merge: true }));
const services = Object.entries(compose.services);

/** The COPY instructions that take files from this tree, as [source, destination] pairs with their stage. */
function copies(): { stage: string; from: string; to: string }[] {
  let stage = "";
  return dockerfile.split("\n").flatMap((line) => {
    stage = /^FROM \S+ AS (\S+)/.exec(line)?.[1] ?? stage;
    const words = /^COPY (?!--from)(.*)$/.exec(line)?.[1]?.split(" ") ?? [];
    const to = words.at(-1) ?? "";
    return words.slice(0, -1).map((from) => ({ stage, from, to }));
  });
}

test("every LLMGW variable of the packaging files is one that a program reads", () => {
  const files = readdirSync(join(treeRoot, "docker"), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const used = files.flatMap(
    (entry) => readFileSync(join(entry.parentPath, entry.name), "utf8").match(/LLMGW_\w+/g) ?? [],
  );
  expect(files.length).toBeGreaterThan(3);
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((name) => !knownVariables.includes(name))).toEqual([]);
});

test("everything that an image copies exists, and the installed lock sees every workspace", () => {
  const copied = copies();
  expect(copied.length).toBeGreaterThan(20);
  expect(copied.filter(({ from }) => !existsSync(join(treeRoot, from)))).toEqual([]);

  const { workspaces } = z.object({ workspaces: z.array(z.string()) }).parse(JSON.parse(read("package.json")));
  const manifests = workspaces
    .flatMap((pattern) => {
      const folder = pattern.replace(/\/\*$/, "");
      return folder === pattern ? [folder] : readdirSync(join(treeRoot, folder)).map((name) => `${folder}/${name}`);
    })
    .filter((folder) => existsSync(join(treeRoot, folder, "package.json")))
    .map((folder) => `${folder}/package.json`);
  expect(copied.filter(({ from }) => from.endsWith("/package.json")).map(({ from }) => from)).toEqual(manifests.sort());
});

test("each image runs the entry file of its program as an ordinary user", () => {
  const stages = dockerfile.split(/^FROM /m).slice(1);
  const runtime = stages.find((stage) => / AS runtime\n/.test(stage)) ?? "";
  expect(runtime.trimEnd().endsWith("USER node")).toBe(true);
  for (const target of ["admin", "router", "agent", "ctl"]) {
    const stage = stages.find((text) => text.startsWith(`runtime AS ${target}\n`)) ?? "";
    const entry = /^ENTRYPOINT \[.*"(apps\/\S+\.(?:ts|mjs))"/m.exec(stage)?.[1] ?? "";
    expect(entry, target).toContain(`apps/${target}/`);
    expect(existsSync(join(treeRoot, entry)), entry).toBe(true);
    expect(stage).not.toMatch(/^USER/m);
  }
});

test("the compose file publishes loopback ports only, and names only what it defines", () => {
  for (const [name, service] of services) {
    for (const port of service.ports) expect(port, name).toMatch(/^127\.0\.0\.1:/);
    for (const volume of service.volumes) expect(Object.keys(compose.volumes), name).toContain(volume.split(":")[0]);
    for (const [needed, { condition: state }] of Object.entries(service.depends_on)) {
      expect(Object.keys(compose.services), name).toContain(needed);
      if (state === "service_healthy") expect(compose.services[needed]?.healthcheck, needed).toBeDefined();
    }
    if (service.build === undefined) continue;
    expect(dockerfile).toContain(` AS ${service.build.target}\n`);
    for (const [file] of service.entrypoint.join(" ").matchAll(/apps\/\S+\.(?:ts|mjs)/g)) {
      expect(existsSync(join(treeRoot, file)), file).toBe(true);
    }
  }
  const longRunning = services.filter(([name]) => !["credentials", "ctl"].includes(name));
  expect(longRunning.filter(([, { healthcheck }]) => healthcheck === undefined)).toEqual([]);
});

test("the agent's systemd unit leaves engines alone and starts the agent's entry file", () => {
  const unit = read("docker/systemd/llmgw-agent.service");
  expect(unit).toMatch(/^KillMode=process$/m);
  const entry = /^ExecStart=.* (\S+)$/m.exec(unit)?.[1] ?? "";
  expect(existsSync(join(treeRoot, entry)), entry).toBe(true);
});
