/** Lists the decisions of the layers in a Strata journal, in order. Transcripts of other programs have none. */
import { type DecisionEntry, type Entry, handleOf } from "@strata/core"
import { formatNumber, pluralize } from "@strata/core/base"
import { type AuditFigures, isDecision } from "@strata/core/store"

/** Cache lifetimes of the prompt and of the messages. */
interface CacheLifetimes {
  readonly forPrompt: "5m" | "1h"
  readonly forMessages: "5m" | "1h"
}

const LIFETIME_LABELS = { "5m": "five minutes", "1h": "an hour" } as const

export function describeLifetimes({ forPrompt, forMessages }: CacheLifetimes): string {
  if (forPrompt === forMessages) return `everything for ${LIFETIME_LABELS[forMessages]}`
  return `tools and system prompt for ${LIFETIME_LABELS[forPrompt]}, messages for ${LIFETIME_LABELS[forMessages]}`
}

export interface LayerDecision {
  /** Number of responses before the decision. */
  readonly turn: number
  readonly what: LayerDecisionKind
  /** Tokens removed from the window. Absent if the decision does not record them. */
  readonly tokens?: number
  /** Tokens written to the cache again because of it. */
  readonly rewrites?: number
  readonly about: string
  /** Why the planner compacted before the window was full, or changed the lifetime of the cache. */
  readonly planned?: string
  /** Result of the check of a compaction's summary. */
  readonly audit?: AuditFigures
}

export type LayerDecisionKind =
  | "put aside"
  | "cleared"
  | "cleared by the server"
  | "folded"
  | "snipped"
  | "compacted"
  | "compaction failed"
  | "thinking dropped"
  | "cache lifetime"
  | "undone"

const CLEARING_REASON_LABELS = {
  idle: "after a long pause",
  size: "because the window was filling up",
  api: "by the server, on request",
  "cache-edit": "in the server's cache",
  asked: "on request",
} as const

export function listLayerDecisions(entries: readonly Entry[]): readonly LayerDecision[] {
  const decided: LayerDecision[] = []
  const responses = new Set<string>()
  /** Decisions that an undo can refer to. An undone compaction is not on the path, so an id that is missing here is one. */
  const subtypes = new Map<string, DecisionEntry["subtype"]>()
  let onServer = 0
  for (const entry of entries) {
    if (entry.type === "assistant" && !entry.isSidechain) responses.add(entry.message.id ?? entry.uuid)
    if (!isDecision(entry)) continue
    const turn = responses.size
    if (entry.subtype === "server-edited") {
      // each response reports the total cleared from its request
      const cleared = sumClearedTokens(entry.edits)
      if (cleared > onServer) decided.push({ turn, ...describeServerClearing(cleared - onServer) })
      onServer = cleared
    } else {
      const found = entry.subtype === "undone" ? describeUndoEntry(entry, subtypes) : descriptionOf(entry)
      if (found) decided.push({ turn, ...found })
      subtypes.set(entry.uuid, entry.subtype)
    }
  }
  return decided
}

/** Describes one decision briefly. For an undo, the undone decision is not named. */
export function describeDecision(decision: DecisionEntry): string {
  const found =
    decision.subtype === "undone"
      ? { what: "undone", about: `an earlier decision${requestSource(decision)}` }
      : descriptionOf(decision)
  return found ? `${found.what}: ${found.about}` : decision.subtype.replaceAll("-", " ")
}

type DecisionDescription = Omit<LayerDecision, "turn">
type UndoEntry = Extract<DecisionEntry, { readonly subtype: "undone" }>

function descriptionOf(decision: DecisionEntry): DecisionDescription | undefined {
  switch (decision.subtype) {
    case "tool-result-persisted":
      return { what: "put aside", ...effectFields(decision), about: `${formatNumber(decision.bytes)} bytes` }
    case "tool-results-cleared": {
      const results = pluralize(decision.toolUseIds.length, "result")
      const why = decision.planned === undefined ? {} : { planned: decision.planned }
      return {
        what: "cleared",
        ...effectFields(decision),
        about: `${results}, ${CLEARING_REASON_LABELS[decision.why]}`,
        ...why,
      }
    }
    case "folded":
      return { what: "folded", ...effectFields(decision), about: formatRange(decision) }
    case "snipped": {
      const why = decision.by === "agent" ? `the agent proposed it: ${decision.why}` : decision.why
      return {
        what: "snipped",
        ...effectFields(decision),
        about: [formatRange(decision), why].filter(Boolean).join(", "),
      }
    }
    case "compacted": {
      const { tokensBefore, tokensAfter, trigger, route, planned, audit } = decision
      const tokens = tokensBefore - tokensAfter
      const about = `${planned === undefined ? TRIGGER_LABELS[trigger] : "planned"}, ${route}`
      const why = planned === undefined ? {} : { planned }
      return { what: "compacted", tokens, about, ...why, ...(audit ? { audit } : {}) }
    }
    case "compaction-failed":
      return { what: "compaction failed", about: `${TRIGGER_LABELS[decision.trigger]}: ${decision.message}` }
    case "thinking-dropped":
      return { what: "thinking dropped", about: decision.why }
    case "cache-lifetime": {
      const { forPrompt, forMessages, why: planned } = decision
      return { what: "cache lifetime", about: describeLifetimes({ forPrompt, forMessages }), planned }
    }
    default:
      return undefined
  }
}

function describeUndoEntry(
  undo: UndoEntry,
  earlier: ReadonlyMap<string, DecisionEntry["subtype"]>,
): DecisionDescription {
  const { decision, tokens } = undo
  const subtype = earlier.get(decision)
  const what = subtype === undefined ? "a compaction" : (UNDONE_LABELS[subtype] ?? "an earlier decision")
  const size = tokens === undefined ? "" : `, to ${formatNumber(tokens)} tokens again`
  return { what: "undone", about: `${what}${size}${requestSource(undo)}` }
}

/** Where the user requested an undo, as a phrase. */
const requestSource = ({ by }: UndoEntry): string =>
  by === undefined ? "" : `, asked for ${REQUEST_SOURCE_LABELS[by]}`

const REQUEST_SOURCE_LABELS = { chat: "in the chat", command: "with strata undo", page: "on the page" } as const

const UNDONE_LABELS: Partial<Record<DecisionEntry["subtype"], string>> = {
  "tool-results-cleared": "a clearing of results",
  "media-withheld": "a clearing of images",
  folded: "a fold",
  snipped: "a snip",
}

const formatRange = ({ from, to }: { readonly from: string; readonly to: string }): string =>
  `${handleOf(from)} to ${handleOf(to)}`

const describeServerClearing = (tokens: number): DecisionDescription => ({
  what: "cleared by the server",
  tokens,
  about: "from its copy of the request",
})

const TRIGGER_LABELS = { auto: "automatic", manual: "on request" } as const

function effectFields({ effect }: { readonly effect?: { readonly saves: number; readonly rewrites: number } }) {
  return effect ? { tokens: effect.saves, rewrites: effect.rewrites } : {}
}

function sumClearedTokens(edits: readonly unknown[]): number {
  return edits.reduce<number>((sum, edit) => {
    const tokens = (edit as { cleared_input_tokens?: unknown } | null)?.cleared_input_tokens
    return sum + (typeof tokens === "number" ? tokens : 0)
  }, 0)
}
