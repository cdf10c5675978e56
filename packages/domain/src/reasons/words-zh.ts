import type { FailureCategory } from "../cluster/shard.ts";
import type { Reason } from "./reason.ts";
import { gib, gibUp, type ReasonWords } from "./words.ts";

const duration = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1000)} 秒` : `${Math.round(ms / 60_000)} 分钟`;

const categories: Readonly<Record<FailureCategory, string>> = {
  out_of_memory: "显存不足",
  bad_configuration: "配置错误",
  port_in_use: "端口被占用",
  gpu_fault: "GPU 故障",
  model_not_found: "找不到模型",
  load_stalled: "加载停滞",
  killed: "被终止",
  stopped: "已停止",
  crash: "崩溃",
  unknown: "原因不明",
};

const owners: Readonly<Record<string, string>> = {
  operator: "运维人员",
  drain: "排空",
  health: "健康检查",
  flapping: "连接抖动",
};

const nearestOf = (p: { readonly nearest: string; readonly nearestReason?: Reason }): string =>
  p.nearestReason === undefined ? p.nearest : sentence(p.nearestReason);

/** The words of every reason in simplified Chinese. */
export const chinese: ReasonWords = {
  node_not_pinned: (p) => `${p.node} 不在该模型指定的节点之列（${p.pinned}）`,
  node_label_mismatch: (p) =>
    p.found === ""
      ? `${p.node} 没有标签 ${p.label}，需要 ${p.label}=${p.need}`
      : `${p.node} 的标签为 ${p.label}=${p.found}，需要 ${p.label}=${p.need}`,
  node_pool_mismatch: (p) =>
    p.need === ""
      ? `${p.node} 专用于资源池 ${p.found}，而该模型未指定资源池`
      : `${p.node} ${p.found === "" ? "不属于任何资源池" : `属于资源池 ${p.found}`}，需要资源池 ${p.need}`,
  node_simulated_mismatch: (p) => `${p.node} 是模拟节点，同一副本不能混用真实节点与模拟节点`,
  node_cordoned: (p) => `${p.node} 已被 ${p.by} 封锁（${owners[p.owner] ?? p.owner}）：${p.why}`,
  node_draining: (p) => `${p.node} 正在排空，由 ${p.by} 发起`,
  node_excluded: (p) => `本次决策不考虑 ${p.node}`,
  node_suspect: (p) => `${p.node} 已有 ${duration(p.silentMs)}没有上报`,
  node_lost: (p) => `${p.node} 已失联：${duration(p.silentMs)}没有上报`,
  node_never_seen: (p) => `${p.node} 从未上报过`,
  engine_not_runnable: (p) =>
    `${p.node} 无法运行 ${p.engine}；${p.found === "" ? "该节点没有任何引擎" : `现有引擎：${p.found}`}`,
  source_absent: (p) => `${p.node} 上没有 ${p.source}`,
  too_few_gpus: (p) => `${p.node} 有 ${p.found} 块 GPU，需要 ${p.need} 块`,
  gpu_types_differ: (p) => `${p.node} 没有 ${p.need} 块同型号的可用 GPU（${p.found}）`,
  gpu_not_pinned: (p) => `${p.gpu} 不在该模型指定的 GPU 之列`,
  gpu_cordoned: (p) => `${p.gpu} 已被 ${p.by} 封锁：${p.why}`,
  gpu_memory_short: (p) =>
    `${p.gpu} 空闲 ${gib(p.freeMib)}，需要 ${gibUp(p.needMib)}，还差 ${gibUp(p.needMib - p.freeMib)}${p.heldBy === "" ? "" : `，占用者：${p.heldBy}`}`,
  gpu_memory_unknown: (p) => `${p.gpu} 的空闲显存${p.found === "unsupported" ? "未上报" : "无法读取"}`,
  gpu_held: (p) => `${p.gpu} 已被 ${p.heldBy} 占用`,
  too_few_free_gpus: (p) =>
    `${p.node} 只有 ${p.found} 块同型号 GPU 空闲 ${gibUp(p.needMib)}，需要 ${p.need} 块${p.heldBy === "" ? "" : `；其余被占用：${p.heldBy}`}`,
  node_gone: (p) => `${p.node} 已不在集群中`,
  gpu_gone: (p) => `${p.gpu} 已不在其节点中`,
  no_fit: (p) => `没有节点能容纳 ${p.model}：共考察 ${p.nodes} 个节点；最接近的：${nearestOf(p)}`,
  no_nodes: (p) => `还没有节点加入，${p.model} 无处运行`,
  gpu_xid: (p) => `${p.gpu}：Xid ${p.xid}，${p.meaning}`,
  gpu_lost: (p) => `${p.gpu} 已丢失：驱动无法访问`,
  gpu_ecc: (p) => `${p.gpu} 自上次重置以来出现 ${p.errors} 个不可纠正的 ECC 错误`,
  gpu_mig_enabled: (p) => `${p.gpu} 已启用 MIG 切分，不能整卡使用`,
  gpu_recovery: (p) => `驱动要求对 ${p.gpu} 执行“${p.action}”`,
  gpu_unreadable: (p) => `无法读取 ${p.gpu} 的 ${p.what}`,
  gpu_missing: (p) => `${p.gpu} 原在该节点上，现已不再上报`,
  gpu_duplicate: (p) => `${p.gpu} 同时被 ${p.holder} 上报`,
  gpu_probe_failed: (p) => `${p.node} 的 GPU 探测失败：${p.why}`,
  awaiting_agent: (p) => `等待 ${p.node} 的代理`,
  awaiting_engine: (p) => `引擎正在 ${p.node} 上加载${p.message === "" ? "" : `：${p.message}`}`,
  awaiting_routers: (p) => `已就绪；等待以下路由器连通：${p.routers}`,
  start_failed: (p) => `在 ${p.node} 上启动失败（${categories[p.category]}）：${p.cause}`,
  backing_off: (p) => `已失败 ${p.failures} 次，最近一次在 ${p.node}：${p.cause}；稍后再次启动`,
  bad_configuration: (p) => `引擎拒绝其配置：${p.cause}`,
  engine_exited: (p) => `${p.node} 上的引擎已退出（${categories[p.category]}）：${p.cause}`,
  load_timed_out: (p) => `在 ${p.node} 上 ${duration(p.afterMs)}内未能就绪`,
  moving_for_drain: (p) => `正在迁出 ${p.node}，该节点由 ${p.by} 排空`,
  moving_for_node_lost: (p) => `${p.node} 已有 ${duration(p.silentMs)}没有上报；路由器仍能连通引擎`,
  moving_for_gpu: (p) => `正在迁出 ${p.node} 的 ${p.gpu}：${p.why}`,
  moving_for_rollout: (p) => `正在迁移到 ${p.model} 的第 ${p.to} 版，当前为第 ${p.from} 版`,
  moving_for_replica_drain: (p) => `由 ${p.by} 排空`,
  moving_for_gpu_drain: (p) => `正在迁出 ${p.node} 的 ${p.gpu}，该 GPU 由 ${p.by} 排空`,
  draining_inflight: (p) => `${p.routers} 个路由器上还有 ${p.inflight} 个请求在处理`,
  draining_engine_busy: (p) =>
    p.running < 0
      ? "等待引擎自己的计数两次为 0；尚未读到计数"
      : `等待引擎自己的计数两次为 0：${p.running} 个运行中，${p.waiting} 个等待中`,
  awaiting_router_ack: (p) => `等待以下路由器应用变更：${p.routers}`,
  router_may_still_send: (p) => `以下路由器没有上报，可能仍在发送请求：${p.routers}；以引擎自己的计数为准`,
  stopping_process: (p) => `等待 ${p.node} 上的进程（pid ${p.pid}）退出`,
  stuck_process: (p) => `${p.node} 上的进程 pid ${p.pid} 无法被 SIGKILL 终止`,
  node_unreachable: (p) => `${p.node} 无法连通，已有 ${duration(p.silentMs)}没有上报`,
  scaled_down: (p) => `副本数由 ${p.from} 缩减为 ${p.to}`,
  model_deleted: (p) => `${p.model} 已被删除`,
  drained_away: (p) => `已迁出 ${p.node}`,
  queued_behind: (p) => `等待 ${p.model} 的迁移名额：已用 ${p.inUse}/${p.maxSurge}`,
  waits_for_capacity: (p) => `无法迁移：${nearestOf(p)}`,
  replacement_failing: (p) => `其替换副本 ${p.replica} 在 ${p.node} 上失败：${p.cause}`,
  kept_for_count: (p) =>
    `${p.model} 含它在内有 ${p.serving} 个副本在服务，需要 ${p.desired} 个；在另一个副本开始服务之前它会保留`,
  proving_replacement: (p) => `其替换副本 ${p.replica} 已服务 ${duration(p.forMs)}，需要 ${duration(p.needMs)}`,
  stopped_at_deadline: () => "宽限期已到，仍没有替换副本提供服务",
  stopped_by_force: (p) => `由 ${p.by} 强制执行`,
  stopped_for_room: (p) => `为 ${p.model} 的新版本腾出位置而停止：${p.nearest}`,
  replaced_by_revision: (p) => `已由 ${p.model} 的第 ${p.revision} 版替换`,
  engine_count_disagreed: (p) =>
    p.running < 0
      ? "路由器均已空闲；引擎自己的计数无法读取"
      : `路由器均已空闲，而引擎仍计有 ${p.running} 个运行中、${p.waiting} 个等待中`,
  loss_no_replacement: (p) => `${p.model} 没有提供服务的替换副本`,
  loss_node_lost: (p) => `${p.node} 在确认其进程退出之前已失联`,
  loss_stuck_process: (p) => `${p.node} 上的进程 pid ${p.pid} 未能被 SIGKILL 终止`,
  node_flapping: (p) => `${p.node} 在 ${duration(p.withinMs)}内 ${p.returns} 次失联后恢复`,
  node_black_hole: (p) => `${duration(p.withinMs)}内多个模型（${p.models}）在 ${p.node} 上启动失败 ${p.failures} 次`,
  rollout_starts_failed: (p) =>
    `${p.model} 的第 ${p.revision} 版已启动失败 ${p.failures} 次，最近一次在 ${p.node}：${p.cause}`,
  rollout_not_reached: (p) =>
    `${p.model} 第 ${p.revision} 版的 ${p.replica} 已就绪，但以下路由器已有 ${duration(p.forMs)}未能连通：${p.routers}`,
};

function sentence(reason: Reason): string {
  const words = chinese[reason.code] as (params: Reason["params"]) => string;
  return words(reason.params);
}
