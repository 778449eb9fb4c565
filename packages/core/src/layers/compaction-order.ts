/** What a compaction is asked for, what it would do, and how far it has come: the types that layer 4 shares with the loop. */
import type { AuditFigures } from "../journal/entries.ts"
import type { Uuid } from "../messages/messages.ts"
import type { Accounting } from "../tokens/accounting.ts"
import type { Thresholds } from "../tokens/window.ts"

/** Routes to a summary, cheapest first. */
export const ROUTES = ["notes", "server", "shared", "direct", "offline"] as const
/** How a summary is produced. */
export type RouteName = (typeof ROUTES)[number]

/** How each route is named to a person. */
export const ROUTE_WORDS: Readonly<Record<RouteName, string>> = {
  notes: "from the notes",
  server: "by the model's API",
  shared: "by the model, from its cache",
  direct: "by the model",
  offline: "without a model",
}

/** What to compact, and how. */
export interface CompactionOrder {
  readonly trigger: "auto" | "manual"
  /** What the summary should focus on, in the user's own words. */
  readonly instructions?: string
  /** Only what comes after a message, or only what comes before it. Default: everything. */
  readonly range?: CompactionRange
  /** The only routes to try. Default: by hand those that ask a model, automatically all of them. */
  readonly routes?: readonly RouteName[]
  /** The API has refused a request as too long: the context must shrink even if the estimate says it fits. */
  readonly overflowed?: boolean
  /** How often the same request was compacted for already, and refused again. Each attempt aims lower. Default 0. */
  readonly attempt?: number
  /** The limits to fit, where they are not the conversation's own: those of a model to switch to. */
  readonly target?: Thresholds
  /** Tokens of all that is left besides system prompt and tools. Where that cannot be reached, nothing changes and the least is said. */
  readonly budget?: number
  /** Shown the summary before it takes effect. What it resolves with is used in its place; nothing, or an empty text, cancels. */
  readonly review?: (written: WrittenSummary) => Promise<string | undefined>
  /** Why the planner compacts before the window is full, in one sentence. */
  readonly planned?: string
  /** Takes exactly this summary, which a plan wrote. It fails where the conversation has changed since. */
  readonly written?: PlannedSummary
}

/** A summary, and how it was produced. */
export interface WrittenSummary {
  readonly text: string
  readonly route: RouteName
}

/** The summary that a compaction would install. */
export interface PlannedSummary extends WrittenSummary {
  /** The last message that it covers. */
  readonly last: Uuid
}

/** A part of the conversation: from a message on, or up to one. */
export interface CompactionRange {
  readonly kind: "from" | "up-to"
  readonly uuid: Uuid
}

/**
 * What would be summarised, what would be kept, and what it would cost. The figures add up: `fixed`, `summarised` and `kept` are
 * `tokensBefore`; `fixed`, the summary, what is kept (`shortenedTo`, if set) and what is added are `expectedAfter`.
 */
export interface CompactionPlan {
  readonly trigger: CompactionOrder["trigger"]
  readonly kind: "all" | CompactionRange["kind"]
  /** In the order they are tried. */
  readonly routes: readonly RouteName[]
  readonly summarised: {
    readonly messages: number
    readonly tokens: number
    readonly first: Uuid
    readonly last: Uuid
  }
  /** `shortenedTo`: the size of what is kept after long results in it were shortened. */
  readonly kept: { readonly uuids: readonly Uuid[]; readonly tokens: number; readonly shortenedTo?: number }
  /** System prompt and tools, which stay. */
  readonly fixed: number
  /** What is added after the summary, one line each. */
  readonly restored: readonly string[]
  /** The size of that. */
  readonly added: number
  /**
   * Its size with the text around it. `expected`: no model has written it yet. Then it is judged by this many earlier summaries of the
   * conversation, or with 0 of them by the length that the model is asked for.
   */
  readonly summary:
    | { readonly tokens: number; readonly is: "written" }
    | { readonly tokens: number; readonly is: "expected"; readonly earlier: number }
  /** The summary, where a model was asked for it. Give it to `compact` to take exactly this one. */
  readonly written?: PlannedSummary
  readonly tokensBefore: number
  readonly expectedAfter: number
  /** The least and the most that it may be. Both are `expectedAfter` where the summary is written. */
  readonly between: readonly [least: number, most: number]
  /** Whether that is enough. A compaction that gains too little is refused. */
  readonly isWorthIt: boolean
  /** Price of the model call by the first route. Absent where there is no call or no known price. */
  readonly dollars?: number
}

/** Why there is no compaction. */
export interface Refusal {
  readonly kind: "refused"
  readonly why: RefusalReason
  /** For the person: what happened, what was kept, what to do next. */
  readonly message: string
}

/** Why a compaction was refused. */
export type RefusalReason =
  | "switched-off"
  | "nothing-to-summarise"
  | "stopped-after-failures"
  | "too-soon"
  | "just-undone"
  | "out-of-reach"
  | "no-gain"
  | "blocked-by-hook"
  | "no-such-message"
  | "calls-open"
  | "cancelled"

/** How far a compaction has come. */
export type CompactionProgress =
  | {
      readonly phase: "preparing" | "summarising" | "restoring"
      readonly route?: RouteName
      readonly characters?: number
    }
  /** A hook runs. */
  | { readonly phase: "hook"; readonly event: "PreCompact" | "SessionStart"; readonly hook: string }
  /** Still running: every half minute. */
  | { readonly phase: "alive"; readonly seconds: number }
  /** Something for the person, from a hook or about a route that failed. */
  | { readonly phase: "message"; readonly message: string }
  | {
      readonly phase: "done"
      readonly route: RouteName
      readonly tokensBefore: number
      readonly tokensAfter: number
      /** How the summary was checked. */
      readonly audit?: AuditFigures
      /** What the context held before, by class. */
      readonly content: Accounting
    }
  | { readonly phase: "failed"; readonly message: string }
