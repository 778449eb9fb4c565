/**
 * Measures the cost of the planner: its decision before every request of a long conversation, and its count of requests that keep the cache
 * warm. The cost must depend on new content only: at 1M tokens about the same as at 100K, and less than 0.2 ms.
 *
 *     npm run bench -- planner
 */
import { findModel } from "@strata/core"
import type { LayerContext } from "../../../packages/core/src/layers/layer.ts"
import { pausePlan } from "../../../packages/core/src/layers/planner/lifetime.ts"
import { plannedCompaction } from "../../../packages/core/src/layers/planner/planner.ts"
import { createFlags } from "../../../packages/core/src/settings/flags.ts"
import { DEFAULT_SETTINGS } from "../../../packages/core/src/settings/settings.ts"
import { Views } from "../../../packages/core/src/views/views.ts"
import { type WorkRound, workload } from "../../../packages/core/test/workloads.ts"
import { isShort, quantile } from "../measure.ts"

const MODEL = "claude-opus-5-5"
const TURNS = isShort ? 200 : 1_000
const TOKENS_PER_TURN = 100
const GOAL_MS = 0.2
const { facts } = findModel(MODEL)
/** A planner that decides before every request and never compacts, so that only its decisions are measured. */
const flags = createFlags({ settings: { ...DEFAULT_SETTINGS, planner: "balanced" } }).current
const roomy = { window: 1e9, limit: 1e9, blocking: 1e9, autoCompact: 1e9, warning: 1e9 }

const round = (_: unknown, number: number): WorkRound => ({
  tool: "Read",
  result: 4 * TOKENS_PER_TURN,
  usage: { input_tokens: 3, output_tokens: 20, cache_read_input_tokens: TOKENS_PER_TURN * number },
})

function choosing(turns: number): { readonly tokens: number; readonly times: readonly number[] } {
  const views = new Views({ family: facts.family })
  const entries = workload(Array.from({ length: turns + TURNS }, round), { model: MODEL })
  const times: number[] = []
  entries.forEach((entry, at) => {
    views.apply(entry)
    if (entry.type !== "user" || at < entries.length - 2 * TURNS) return
    const size = views.context.size()
    const fill = { used: size.tokens, state: "fine" }
    const now = new Date(entry.timestamp)
    const context = { views, flags, facts, model: MODEL, size, fill, thresholds: roomy, now } as LayerContext
    const start = performance.now()
    plannedCompaction(context, undefined)
    pausePlan(context)
    times.push(performance.now() - start)
  })
  return { tokens: views.context.size().tokens, times: times.slice(TURNS / 10) }
}

const [small, large] = [choosing(1_000), choosing(10_000)]
const figures = ({ tokens, times }: typeof small) => ({
  tokens,
  median: `${quantile(times, 0.5).toFixed(3)} ms`,
  p95: `${quantile(times, 0.95).toFixed(3)} ms`,
})
console.log(`Time that the planner adds to a turn, over ${TURNS} turns`)
console.table([figures(small), figures(large)])
const median = quantile(large.times, 0.5)
console.log(
  `ratio ${(median / quantile(small.times, 0.5)).toFixed(2)}; goal ${GOAL_MS} ms: ${median < GOAL_MS ? "reached" : "missed"}`,
)
process.exitCode = median < GOAL_MS ? 0 : 1
