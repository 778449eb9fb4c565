/** What the layers decided in a Strata journal, in order. Other programs' transcripts have no decisions. */
import { type DecisionEntry, type Entry, handleOf } from "@strata/core"
import { counted, grouped } from "@strata/core/base"
import { type AuditFigures, isDecision } from "@strata/core/store"

/** How long the server keeps what it caches, in words. */
interface Lifetimes {
  readonly forPrompt: "5m" | "1h"
  readonly forMessages: "5m" | "1h"
}

const WORDS = { "5m": "five minutes", "1h": "an hour" } as const

export function lifetimeWords({ forPrompt, forMessages }: Lifetimes): string {
  if (forPrompt === forMessages) return `everything for ${WORDS[forMessages]}`
  return `tools and system prompt for ${WORDS[forPrompt]}, messages for ${WORDS[forMessages]}`
}

export interface Decided {
  /** Responses before it. */
  readonly turn: number
  readonly what: DecidedWhat
  /** Tokens taken out of the window; absent if the decision does not record them. */
  readonly tokens?: number
  /** Tokens written to the cache again because of it. */
  readonly rewrites?: number
  readonly about: string
  /** Why the planner compacted before the window was full, or changed the lifetime of the cache. */
  readonly planned?: string
  /** How the summary of a compaction was checked. */
  readonly audit?: AuditFigures
}

export type DecidedWhat =
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

const REASONS = {
  idle: "after a long pause",
  size: "because the window was filling up",
  api: "by the server, on request",
  "cache-edit": "in the server's cache",
  asked: "on request",
} as const

export function decisionsIn(entries: readonly Entry[]): readonly Decided[] {
  const decided: Decided[] = []
  const responses = new Set<string>()
  /** What an undo may name. An undone compaction is not on the path, so what is not here is one. */
  const subtypes = new Map<string, DecisionEntry["subtype"]>()
  let onServer = 0
  for (const entry of entries) {
    if (entry.type === "assistant" && !entry.isSidechain) responses.add(entry.message.id ?? entry.uuid)
    if (!isDecision(entry)) continue
    const turn = responses.size
    if (entry.subtype === "server-edited") {
      // each response reports everything cleared from its request
      const cleared = clearedBy(entry.edits)
      if (cleared > onServer) decided.push({ turn, ...byServer(cleared - onServer) })
      onServer = cleared
    } else {
      const found = entry.subtype === "undone" ? undone(entry, subtypes) : described(entry)
      if (found) decided.push({ turn, ...found })
      subtypes.set(entry.uuid, entry.subtype)
    }
  }
  return decided
}

/** One decision in a few words. An undo is named without what it took back. */
export function decisionWords(decision: DecisionEntry): string {
  const found =
    decision.subtype === "undone"
      ? { what: "undone", about: `an earlier decision${whereAsked(decision)}` }
      : described(decision)
  return found ? `${found.what}: ${found.about}` : decision.subtype.replaceAll("-", " ")
}

type Description = Omit<Decided, "turn">
type Undone = Extract<DecisionEntry, { readonly subtype: "undone" }>

function described(decision: DecisionEntry): Description | undefined {
  switch (decision.subtype) {
    case "tool-result-persisted":
      return { what: "put aside", ...effectOf(decision), about: `${grouped(decision.bytes)} bytes` }
    case "tool-results-cleared": {
      const results = counted(decision.toolUseIds.length, "result")
      const why = decision.planned === undefined ? {} : { planned: decision.planned }
      return { what: "cleared", ...effectOf(decision), about: `${results}, ${REASONS[decision.why]}`, ...why }
    }
    case "folded":
      return { what: "folded", ...effectOf(decision), about: rangeOf(decision) }
    case "snipped": {
      const why = decision.by === "agent" ? `the agent proposed it: ${decision.why}` : decision.why
      return { what: "snipped", ...effectOf(decision), about: [rangeOf(decision), why].filter(Boolean).join(", ") }
    }
    case "compacted": {
      const { tokensBefore, tokensAfter, trigger, route, planned, audit } = decision
      const tokens = tokensBefore - tokensAfter
      const about = `${planned === undefined ? TRIGGERS[trigger] : "planned"}, ${route}`
      const why = planned === undefined ? {} : { planned }
      return { what: "compacted", tokens, about, ...why, ...(audit ? { audit } : {}) }
    }
    case "compaction-failed":
      return { what: "compaction failed", about: `${TRIGGERS[decision.trigger]}: ${decision.message}` }
    case "thinking-dropped":
      return { what: "thinking dropped", about: decision.why }
    case "cache-lifetime": {
      const { forPrompt, forMessages, why: planned } = decision
      return { what: "cache lifetime", about: lifetimeWords({ forPrompt, forMessages }), planned }
    }
    default:
      return undefined
  }
}

function undone(undo: Undone, earlier: ReadonlyMap<string, DecisionEntry["subtype"]>): Description {
  const { decision, tokens } = undo
  const subtype = earlier.get(decision)
  const what = subtype === undefined ? "a compaction" : (UNDONE[subtype] ?? "an earlier decision")
  const size = tokens === undefined ? "" : `, to ${grouped(tokens)} tokens again`
  return { what: "undone", about: `${what}${size}${whereAsked(undo)}` }
}

/** Where a person asked for an undo. */
const whereAsked = ({ by }: Undone): string => (by === undefined ? "" : `, asked for ${ASKED[by]}`)

const ASKED = { chat: "in the chat", command: "with strata undo", page: "on the page" } as const

const UNDONE: Partial<Record<DecisionEntry["subtype"], string>> = {
  "tool-results-cleared": "a clearing of results",
  "media-withheld": "a clearing of images",
  folded: "a fold",
  snipped: "a snip",
}

const rangeOf = ({ from, to }: { readonly from: string; readonly to: string }): string =>
  `${handleOf(from)} to ${handleOf(to)}`

const byServer = (tokens: number): Description => ({
  what: "cleared by the server",
  tokens,
  about: "from its copy of the request",
})

const TRIGGERS = { auto: "automatic", manual: "on request" } as const

function effectOf({ effect }: { readonly effect?: { readonly saves: number; readonly rewrites: number } }) {
  return effect ? { tokens: effect.saves, rewrites: effect.rewrites } : {}
}

function clearedBy(edits: readonly unknown[]): number {
  return edits.reduce<number>((sum, edit) => {
    const tokens = (edit as { cleared_input_tokens?: unknown } | null)?.cleared_input_tokens
    return sum + (typeof tokens === "number" ? tokens : 0)
  }, 0)
}
