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
      ...spendingFacts("strata.spent", drafts),
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

/** What requests cost, under names that begin with `name`. */
export function spendingFacts(name: string, drafts: readonly Draft[]): ActionReport["facts"] {
  const responses = of(drafts, "spent")
  if (responses.length === 0) return {}
  const counts = responses.map(({ usage }) => tokenCounts(usage)).reduce(addCounts, NO_TOKENS)
  return {
    [`${name}.requests`]: responses.reduce((sum, { requests = 1 }) => sum + requests, 0),
    [`${name}.input_tokens`]: inputTokens(counts),
    [`${name}.output_tokens`]: counts.output,
    [`${name}.cache_read_tokens`]: counts.cacheRead,
    [`${name}.cache_write_tokens`]: counts.cacheWrite5m + counts.cacheWrite1h,
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
