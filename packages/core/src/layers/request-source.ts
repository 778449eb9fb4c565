/** Which layers act in a conversation, by what its requests are for. */
import type { RequestSource } from "../base/vocabulary.ts"
import type { LayerName } from "./layer.ts"

/** Sources of requests that a layer makes itself. A layer that acted inside one would start work about its own work. */
const OF_LAYERS: ReadonlySet<RequestSource> = new Set([
  ...(["notes", "compaction", "by-hand", "memory", "dream", "progress", "keep-warm"] as const),
])

/** Layers that ask a model, or replace the conversation by what a model wrote. */
const ASKING: ReadonlySet<LayerName> = new Set(["session-memory", "compaction", "auto-memory", "dreaming"])

export const mayAct = (layer: LayerName, source: RequestSource): boolean =>
  !(ASKING.has(layer) && OF_LAYERS.has(source))
