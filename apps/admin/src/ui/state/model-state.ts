import type { ModelView } from "@llmgw/api";
import type { StateWord } from "./states.tsx";

/** How a model is served, worst first: down, below what was asked for, as asked. */
export function modelStateOf(model: ModelView): StateWord {
  if (model.deletedAt !== null) return { state: "stopped", word: "Deleted" };
  if (model.desired === 0) return { state: "stopped", word: "Scaled to 0" };
  const answering = model.serving + model.moving;
  if (answering === 0)
    return model.placed > 0 ? { state: "failed", word: "Down, loading" } : { state: "failed", word: "Down" };
  if (model.serving < model.desired) {
    return model.moving > 0 && answering >= model.desired
      ? { state: "moving", word: `Moving ${model.moving}` }
      : { state: "degraded", word: `${model.desired - model.serving} short` };
  }
  return { state: "serving", word: "Serving" };
}
