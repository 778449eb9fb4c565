/** What a compaction is asked for, what it would do, and how far it has come: the words that layer 4 shares with the loop. */
import type { Uuid } from "../messages/messages.ts"
import type { Accounting } from "../tokens/accounting.ts"
import type { Thresholds } from "../tokens/window.ts"

/** Ways to a summary, cheapest first (L4-1). */
export const ROUTES = ["prepared", "notes", "shared", "direct", "offline"] as const
export type RouteName = (typeof ROUTES)[number]

export interface CompactionOrder {
  readonly trigger: "auto" | "manual"
  /** What the summary is to keep in mind, in the user's own words. */
  readonly instructions?: string
  /** Only what comes after a message, or only what comes before it (L4-16). Default: everything. */
  readonly range?: CompactionRange
  /** The only ways that may be tried. Default: by hand the model's, automatically all of them. */
  readonly routes?: readonly RouteName[]
  /** The API has refused a request as too long: whatever the estimate says, the context must shrink (L4-23). */
  readonly overflowed?: boolean
  /** The limits to fit, where they are not the conversation's own: those of a model to switch to (WIN-7). */
  readonly target?: Thresholds
}

export interface CompactionRange {
  readonly kind: "from" | "up-to"
  readonly uuid: Uuid
}

/** What would go, what would stay, what it would take. */
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
  readonly kept: { readonly uuids: readonly Uuid[]; readonly tokens: number }
  /** What is put behind the summary, a line each. */
  readonly restored: readonly string[]
  readonly tokensBefore: number
  readonly expectedAfter: number
  /** Whether that is enough; a compaction that gains too little is refused (L4-27). */
  readonly isWorthIt: boolean
  /** Of the model call by the first route; nothing where no call is made or no price is known. */
  readonly dollars?: number
}

/** Why there is no compaction. */
export interface Refusal {
  readonly kind: "refused"
  readonly why: RefusalReason
  /** For the person: what happened, what was kept, what to do next. */
  readonly message: string
}

export type RefusalReason =
  | "switched-off"
  | "nothing-to-summarise"
  | "stopped-after-failures"
  | "too-soon"
  | "out-of-reach"
  | "blocked-by-hook"
  | "no-such-message"
  | "calls-open"

export type CompactionProgress =
  | {
      readonly phase: "preparing" | "summarising" | "restoring"
      readonly route?: RouteName
      readonly characters?: number
    }
  /** Still at it: every half minute (L4-14). */
  | { readonly phase: "alive"; readonly seconds: number }
  /** Something for the person, from a hook or about a route that failed. */
  | { readonly phase: "message"; readonly message: string }
  | {
      readonly phase: "done"
      readonly route: RouteName
      readonly tokensBefore: number
      readonly tokensAfter: number
      /** Where the context had gone before it, by class (TOK-6). */
      readonly content: Accounting
    }
  | { readonly phase: "failed"; readonly message: string }
