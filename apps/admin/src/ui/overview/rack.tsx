import type { NodeView } from "@llmgw/api";
import Link from "next/link";
import { gibNumber } from "../data/format.ts";
import { hardwareOf } from "../nodes/nodes.tsx";
import { memoryOf, share, vars } from "../parts/memory-bar.tsx";
import { paths } from "../parts/page.tsx";
import { SimulatedMark } from "../parts/simulated.tsx";
import { exclusionOf, exclusionWord, gpuName, gpuStateOf } from "../state/gpu-state.ts";
import { nodeStateOf } from "../state/node-state.ts";
import { phaseState } from "../state/replica-state.ts";
import { StateIcon, type StateName, StatusBadge } from "../state/states.tsx";
import { type Tile, tilesOf } from "./tiles.ts";

const mostColumns = 8;

/** States that tint a tile: everything but the normal ones. */
const tinted: ReadonlySet<StateName> = new Set(["starting", "moving", "draining", "blocked", "failed", "pending"]);

function Bars({ tile }: { readonly tile: Tile }) {
  return (
    <span className="bars" style={vars({ "--n": tile.gpus.length })}>
      {tile.gpus.map((gpu) => {
        const { oursMib, foreignMib, totalMib } = memoryOf([gpu]);
        return (
          <i
            key={gpu.uuid}
            style={vars({ "--p": share(oursMib, totalMib), "--q": share(oursMib + foreignMib, totalMib) })}
          />
        );
      })}
    </span>
  );
}

interface TileProps {
  readonly node: NodeView;
  readonly tile: Tile;
  /** How many shards the replica of the tile has over all nodes. */
  readonly shardsOf: ReadonlyMap<string, number>;
}

function TileView({ node, tile, shardsOf }: TileProps) {
  const [gpu] = tile.gpus;
  if (gpu === undefined) return null;
  const span = vars({ "--n": tile.gpus.length });
  const health = gpuStateOf(node, gpu);
  const [tenant] = tile.tenants;
  const names = tile.gpus.map(gpuName).join(", ");
  if (tenant === undefined) return <EmptyTile node={node} tile={tile} />;
  const phase = phaseState(tenant.replicaPhase, tenant.loadRatio);
  const ranks = shardsOf.get(tenant.replicaId) ?? 1;
  const isHurt = health.state !== "healthy" && health.state !== "cordoned";
  const shown = isHurt ? health : phase;
  const others = tile.tenants.length - 1;
  return (
    <Link
      className={`blk s-${shown.state} ${tinted.has(shown.state) || isHurt ? "is-tint" : ""} ${ranks > 1 ? "is-gang" : ""}`}
      style={span}
      href={paths.replica(tenant.replicaId)}
      title={`${names}: ${tenant.replicaId}, ${phase.word}${isHurt ? `; GPU ${health.word}` : ""}`}
    >
      <b>{tenant.replicaId}</b>
      <small>
        <StateIcon state={shown.state} />
        <span>
          {shown.word}
          {ranks > 1 && `, shard ${tenant.rank + 1} of ${ranks}`}
          {others > 0 && `, +${others} more`}
        </span>
      </small>
      <Bars tile={tile} />
    </Link>
  );
}

function EmptyTile({ node, tile }: { readonly node: NodeView; readonly tile: Tile }) {
  const [gpu] = tile.gpus;
  if (gpu === undefined) return null;
  const health = gpuStateOf(node, gpu);
  const { oursMib, foreignMib, totalMib } = memoryOf([gpu]);
  if (!gpu.schedulable || health.state === "unhealthy" || health.state === "unknown") {
    return (
      <Link
        className={`blk s-${health.state === "healthy" ? "cordoned" : health.state} is-out`}
        href={paths.node(node.name)}
        title={`${gpuName(gpu)}: ${exclusionOf(gpu) ?? health.word}`}
      >
        <b>{exclusionWord(node, gpu)}</b>
        <small>
          <StateIcon state={health.state === "healthy" ? "cordoned" : health.state} />
          <span>{health.state === "healthy" ? "Excluded" : health.word}</span>
        </small>
      </Link>
    );
  }
  if (node.availability !== "active" || node.liveness !== "live") {
    return (
      <div className={`blk is-shut s-${nodeStateOf(node).state}`} title={`${gpuName(gpu)}: empty, takes no new work`}>
        <b>empty</b>
        <small>excluded</small>
        <Bars tile={tile} />
      </div>
    );
  }
  return (
    <div className={`blk is-free s-${health.state}`} title={`${gpuName(gpu)}: free`}>
      <b>{totalMib === 0 ? "?" : gibNumber(totalMib - oursMib - foreignMib)} GiB</b>
      <small>
        {foreignMib > 0 ? (
          <>
            <StateIcon state="degraded" />
            <span>{gibNumber(foreignMib)} not ours</span>
          </>
        ) : (
          "free"
        )}
      </small>
      <Bars tile={tile} />
    </div>
  );
}

/** Nodes as rows, their GPUs as tiles. A replica over several nodes has the same outline on each. */
export function Rack({ nodes }: { readonly nodes: readonly NodeView[] }) {
  const columns = Math.min(mostColumns, Math.max(2, ...nodes.map((node) => node.gpus.length)));
  const shardsOf = new Map<string, number>();
  for (const shard of nodes.flatMap((node) => node.shards)) {
    shardsOf.set(shard.replicaId, Math.max(shardsOf.get(shard.replicaId) ?? 0, shard.rank + 1));
  }
  return (
    <ul className="rack">
      {nodes.map((node) => {
        const state = nodeStateOf(node);
        return (
          <li key={node.id} className={`rack-row ${state.state === "ready" ? "" : `s-${state.state}`}`}>
            <div className="rack-node">
              <Link href={paths.node(node.name)}>{node.name}</Link>
              <StatusBadge {...state} />
              <small title={hardwareOf(node)}>{node.simulated ? <SimulatedMark /> : hardwareOf(node)}</small>
            </div>
            <div className="rack-tiles" style={vars({ "--cols": columns })}>
              {tilesOf(node, columns).map((tile) => (
                <TileView key={tile.gpus[0]?.uuid} node={node} tile={tile} shardsOf={shardsOf} />
              ))}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
