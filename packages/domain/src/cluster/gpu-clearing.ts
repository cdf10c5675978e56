import type { ReasonLocale } from "../reasons/catalogue.ts";
import type { ReasonCode } from "../reasons/reason.ts";
import type { GpuHealth } from "./gpu.ts";

type HealthCode = Extract<ReasonCode, `gpu_${string}`>;

const clearing: Readonly<Partial<Record<HealthCode, Readonly<Record<ReasonLocale, string>>>>> = {
  gpu_xid: {
    en: "a reboot of its machine, if the kernel log is clean afterwards; restarting the agent clears nothing",
    "zh-CN": "重启其所在机器，且之后内核日志无异常；重启代理不会清除",
  },
  gpu_lost: {
    en: "a reboot of its machine, if the driver finds it again; restarting the agent clears nothing",
    "zh-CN": "重启其所在机器，且驱动重新识别到它；重启代理不会清除",
  },
  gpu_ecc: {
    en: "a reset of the GPU or a reboot of its machine, after which the driver counts 0",
    "zh-CN": "重置该 GPU 或重启其所在机器，之后驱动计数为 0",
  },
  gpu_recovery: {
    en: "doing what the driver asks, until it asks for nothing (None), or a reboot of its machine",
    "zh-CN": "按驱动要求处理，直到驱动不再要求（None），或重启其所在机器",
  },
  gpu_mig_enabled: {
    en: "switching MIG off (nvidia-smi -i <index> -mig 0)",
    "zh-CN": "关闭 MIG（nvidia-smi -i <索引> -mig 0）",
  },
  gpu_unreadable: {
    en: "the next probe that can read it",
    "zh-CN": "下一次能成功读取的探测",
  },
  gpu_missing: {
    en: "its node reporting it again",
    "zh-CN": "其所在节点重新上报它",
  },
};

/** What ends this verdict, for people; null when there is nothing to clear. */
export function whatClears(health: GpuHealth, locale: ReasonLocale = "en"): string | null {
  if (health.reason === null) return null;
  const table: Readonly<Partial<Record<ReasonCode, Readonly<Record<ReasonLocale, string>>>>> = clearing;
  return table[health.reason.code]?.[locale] ?? null;
}
