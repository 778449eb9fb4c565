/** What telemetry says about a layer's action: what set it off, what it cost, and for a compaction how it follows the one before. */
import { addCounts, inputTokens, NO_TOKENS } from "../base/token-counts.ts"
import type { RequestSource } from "../base/vocabulary.ts"
import type { Decision, DecisionOf, Draft } from "../journal/entries.ts"
import { tokenCounts } from "../tokens/price.ts"

/** `by-time`: after a pause. `reactive`: the API had refused a request as too long. */
export type Trigger = "auto" | "manual" | "by-time" | "reactive"

export interface ActionReport {
  readonly trigger: Trigger
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

export interface HowAsked {
  /** What the requests of the conversation are for. */
  readonly source: RequestSource
  /** Known where someone asked for it, or the API refused a request. */
  readonly trigger?: Trigger | undefined
}

export function reportOf(drafts: readonly Draft[], { source, trigger }: HowAsked): ActionReport {
  const afterPause = of(drafts, "tool-results-cleared").some(({ why }) => why === "idle")
  return {
    trigger: trigger ?? (afterPause ? "by-time" : "auto"),
    facts: {
      "strata.source": source,
      "strata.decisions": [...new Set(drafts.map(kindOf))].join(" "),
      ...costOf(of(drafts, "spent")),
      ...compactionFacts(of(drafts, "compacted").at(-1)),
    },
  }
}

/** The drafts with what their requests are for, where a reader of the journal asks for it. */
export const withSource = (drafts: readonly Draft[], source: RequestSource): readonly Draft[] =>
  drafts.map((draft) =>
    draft.type === "strata" && (draft.subtype === "compacted" || draft.subtype === "compaction-failed")
      ? { ...draft, source }
      : draft,
  )

function costOf(responses: readonly DecisionOf<"spent">[]): ActionReport["facts"] {
  if (responses.length === 0) return {}
  const counts = responses.map(({ usage }) => tokenCounts(usage)).reduce(addCounts, NO_TOKENS)
  return {
    "strata.spent.requests": responses.reduce((sum, { requests = 1 }) => sum + requests, 0),
    "strata.spent.input_tokens": inputTokens(counts),
    "strata.spent.output_tokens": counts.output,
    "strata.spent.cache_read_tokens": counts.cacheRead,
    "strata.spent.cache_write_tokens": counts.cacheWrite5m + counts.cacheWrite1h,
  }
}

function compactionFacts(compacted: DecisionOf<"compacted"> | undefined): ActionReport["facts"] {
  if (!compacted) return {}
  const { route, threshold, previous, planned, boundary } = compacted
  return {
    "strata.compaction.id": boundary,
    "strata.compaction.route": route,
    "strata.compaction.threshold": threshold,
    "strata.compaction.planned": planned !== undefined,
    "strata.compaction.chained": previous !== undefined,
    ...(previous
      ? { "strata.compaction.previous": previous.boundary, "strata.compaction.responses": previous.responses }
      : {}),
  }
}

const of = <S extends Decision["subtype"]>(drafts: readonly Draft[], subtype: S): readonly DecisionOf<S>[] =>
  drafts.filter((draft) => draft.type === "strata" && draft.subtype === subtype) as unknown as readonly DecisionOf<S>[]

const kindOf = (draft: Draft): string => ("subtype" in draft ? draft.subtype : draft.type)
