/** Manual clearing: clears what the user requested, or reports what that would do. */
import { StrataError } from "../base/errors.ts"
import { InvalidOptionError } from "../base/options.ts"
import { NO_TOKENS } from "../base/text.ts"
import { cacheLifetime } from "../layers/2-microcompact/clearable-content.ts"
import {
  type ClearingTarget,
  clearedCounts,
  clearManually,
  type ManualClearing,
} from "../layers/2-microcompact/microcompaction.ts"
import type { LayerContext } from "../layers/layer.ts"
import { costOf } from "../tokens/models.ts"
import { loadViews } from "../views/load.ts"
import type { Engine } from "./engine.ts"

/** Which old results or images to clear. */
export type ClearingRequest = ClearingTarget & {
  /** Whether to only report what would happen. */
  readonly dryRun?: boolean
}

/** What was cleared, or would be cleared. */
export interface ClearingReport {
  /** Number of cleared results. `shortened`: results that were only shortened. `images`: omitted images and documents. */
  readonly results: number
  readonly shortened: number
  readonly images: number
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Tokens that the next request writes to the cache again. */
  readonly rewrites: number
  /** Additional cost compared with reading them, in dollars. Absent if the price is unknown. */
  readonly dollars?: number
}

export async function clearResults(engine: Engine, request: ClearingRequest): Promise<ClearingReport> {
  await engine.readFlags()
  if (!isComplete(request)) throw new InvalidOptionError("downTo", WHAT_TO_CLEAR)
  const { record, layers, isOff } = engine
  if (isOff) throw new StrataError('Nothing was cleared: all layers are switched off (the setting "off").')
  const context = engine.context()
  const tokensBefore = context.size.tokens
  const planned = clearManually(context, request)
  if (planned.drafts.length > 0 && !request.dryRun)
    await layers.act({ name: "microcompact" }, async () => ({
      drafts: planned.drafts,
      counts: clearedCounts(planned.drafts),
    }))
  const tokensAfter = request.dryRun ? await sizeAfter(planned, engine) : record.views.context.size().tokens
  const { results, shortened, images, rewrites } = planned
  return { results, shortened, images, tokensBefore, tokensAfter, rewrites, ...rewritingCost(rewrites, context) }
}

const WHAT_TO_CLEAR =
  'Say what to clear. `{ downTo: 60_000 }` clears the oldest results until the context has this many tokens. `{ tool: "Read" }` clears those of one tool. `{ images: true }` clears images and documents. `{ prune: true }` clears what later work has overtaken. Nothing was cleared.'

/** Whether the request names a target. Callers without type checks may omit it. */
function isComplete(request: ClearingRequest): boolean {
  if ("images" in request) return request.images === true
  if ("prune" in request) return request.prune === true
  return "tool" in request ? typeof request.tool === "string" : Number.isFinite(request.downTo)
}

/** Computes the size after clearing on separate views, so that it equals the size that the real decisions give. */
async function sizeAfter({ drafts }: ManualClearing, { record }: Engine): Promise<number> {
  const { views } = await loadViews(record.journal, record.viewOptions)
  for (const draft of drafts) views.apply(record.place(draft, views.context.newest?.uuid ?? null))
  return views.context.size().tokens
}

function rewritingCost(tokens: number, { facts, views }: LayerContext): { readonly dollars?: number } {
  const write = cacheLifetime(views) === "1h" ? "cacheWrite1h" : "cacheWrite5m"
  const [written, read] = [write, "cacheRead" as const].map((kind) => costOf(facts, { ...NO_TOKENS, [kind]: tokens }))
  return written?.known && read?.known ? { dollars: written.dollars - read.dollars } : {}
}
