/**
 * Layer 2: clears old tool results that can be had again, before every request and at no cost: by time, by size, or by asking the
 * server. Which of them applies is in `policy.ts`; each plans in a file of its own, and this one carries plans out.
 *
 * A result is cleared whole and once. Where thinking is bound to what stands before it, the thinking goes along (L2-11, CACHE-6).
 */
import type { DecisionDraft } from "../../journal/entries.ts"
import type { Layer, Turn } from "../layer.ts"
import { editsForServer, serverTrigger } from "./by-api.ts"
import { planBySize } from "./by-size.ts"
import { idleMinutes, planByTime } from "./by-time.ts"
import { cacheState } from "./cache-state.ts"
import { cachePrices } from "./payback.ts"
import { type MechanismName, mechanismsFor } from "./policy.ts"
import { type Survey, survey } from "./survey.ts"

export interface MicrocompactionOptions {
  /** Hears which results are no longer in view, so that files they showed can be read again (L2-7). */
  readonly onCleared?: (toolUseIds: readonly string[]) => void
}

type Reason = "idle" | "size"

export function microcompaction({ onCleared }: MicrocompactionOptions = {}): Layer {
  return {
    name: "microcompact",

    async beforeRequest(turn) {
      const inForce = await mechanismsHere(turn)
      const byTime = inForce.has("by-time") ? await clearByTime(turn) : []
      const drafts = byTime.length > 0 || !inForce.has("by-size") ? byTime : await clearBySize(turn)
      const cleared = drafts.flatMap((draft) => (draft.subtype === "tool-results-cleared" ? draft.toolUseIds : []))
      if (cleared.length > 0) onCleared?.(cleared)
      return drafts
    },

    async requestExtras(turn) {
      const { facts, flags, views, now } = turn
      if (!(await mechanismsHere(turn)).has("by-api")) return undefined
      return editsForServer({
        accepts: facts.accepts,
        tools: toolNames(views.context.prompt?.tools),
        messages: () => views.context.storedMessages(),
        now,
        trigger: await triggerFor(turn),
        keep: await flags.figure("api-clear-keep"),
        idleGapMinutes: await flags.figure("idle-gap"),
      })
    },

    describe(drafts, { saved }) {
      const count = drafts.reduce(
        (sum, draft) =>
          sum + (draft.type === "strata" && draft.subtype === "tool-results-cleared" ? draft.toolUseIds.length : 0),
        0,
      )
      const results = count === 1 ? "1 old tool result was" : `${count} old tool results were`
      return `${results} cleared: ${saved.toLocaleString("en-US")} tokens saved.`
    },
  }
}

async function mechanismsHere(turn: Turn): Promise<ReadonlySet<MechanismName>> {
  const { facts, flags } = turn
  const serverHasRoom = (await triggerFor(turn)) > (await flags.figure("api-clear-keep"))
  return mechanismsFor({ accepts: facts.accepts, serverHasRoom }, flags)
}

async function triggerFor({ flags, thresholds }: Turn): Promise<number> {
  return serverTrigger({ most: await flags.figure("api-clear-trigger"), autoCompact: thresholds.autoCompact })
}

async function clearByTime({ views, flags, now, facts }: Turn): Promise<DecisionDraft[]> {
  if (idleMinutes(views.context.lastResponse, now) <= (await flags.figure("idle-gap"))) return []
  const found = survey(views)
  const toolUseIds = planByTime(found.results, await flags.figure("idle-keep"))
  return clearing({ toolUseIds, why: "idle", found, boundThinking: facts.accepts.boundThinking })
}

async function clearBySize(turn: Turn): Promise<DecisionDraft[]> {
  const { views, flags, facts, fill, thresholds } = turn
  if (fill.used < thresholds.warning) return []
  const found = survey(views)
  const { boundThinking } = facts.accepts
  const plan = planBySize({
    survey: found,
    figures: {
      keep: await flags.figure("size-clear-keep"),
      least: await flags.figure("size-clear-least"),
      protect: await flags.figure("size-clear-protect"),
      horizon: await flags.figure("expected-turns"),
    },
    cache: cacheState(turn),
    prices: cachePrices(facts, fill.used),
    boundThinking,
  })
  return plan.clears ? clearing({ toolUseIds: plan.toolUseIds, why: "size", found, boundThinking }) : []
}

interface ClearingToDecide {
  readonly toolUseIds: readonly string[]
  readonly why: Reason
  readonly found: Survey
  readonly boundThinking: boolean
}

/** The decisions that clear these results. Thinking that stands behind a changed place, and is bound to it, is dropped as a whole. */
function clearing({ toolUseIds, why, found, boundThinking }: ClearingToDecide): DecisionDraft[] {
  if (toolUseIds.length === 0) return []
  const ids = new Set(toolUseIds)
  const first = Math.min(...found.results.filter(({ toolUseId }) => ids.has(toolUseId)).map(({ before }) => before))
  const dropsThinking = boundThinking && found.thinking.some(({ before }) => before > first)
  return [
    { type: "strata", subtype: "tool-results-cleared", toolUseIds, why },
    ...(dropsThinking
      ? [{ type: "strata" as const, subtype: "thinking-dropped" as const, why: "tool results before it were cleared" }]
      : []),
  ]
}

const toolNames = (tools: unknown): readonly string[] =>
  Array.isArray(tools) ? tools.map(({ name }: { name: unknown }) => String(name)) : []
