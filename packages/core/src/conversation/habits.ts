/** What is known about someone's pauses before a conversation has had any, and how it is kept for later conversations of the same owner. */
import type { Owner } from "../base/owner.ts"
import type { CacheHistory } from "../views/cache/cache-history.ts"
import {
  type EarlierPauses,
  NO_EARLIER_PAUSES,
  type PausePrior,
  pausesSince,
  withConversation,
} from "../views/cache/earlier-pauses.ts"
import type { Pauses } from "../views/cache/pauses.ts"
import { type KeptSums, keepPauses, pausesIn, type SharedFiles } from "./kept-pauses.ts"
import type { ConversationOptions } from "./options.ts"

export interface Habits {
  readonly prior: PausePrior
  /** Adds the pauses since the conversation was opened. A store that cannot be written costs only what would have been learnt. */
  keep(pauses: Pauses): Promise<void>
}

export interface HabitsOptions {
  /** Where the pauses of all owners are kept, and what is there. Without it, or an owner, nothing is kept for later. */
  readonly kept?: (SharedFiles & { readonly text: string | undefined }) | undefined
  readonly owner?: Owner | undefined
  readonly asked?: PausePrior["asked"]
  readonly isProgram: boolean
  /** The pauses that the conversation has had already. */
  readonly before: Pauses
}

export function habitsOf({ kept, owner, asked, isProgram, before }: HabitsOptions): Habits {
  const earlier = kept && owner !== undefined ? asEarlier(pausesIn(kept.text, owner)) : undefined
  const { withinHour, beyondHour, grown } = before
  const start: EarlierPauses = { conversations: 0, withinHour, beyondHour, grown }
  return {
    prior: { asked, isProgram, earlier },
    async keep(pauses) {
      const added = pausesSince(pauses, start)
      if (!kept || owner === undefined || isProgram || added.grown <= 0) return
      await keepPauses(kept, owner, (sums) => ({
        ...withConversation(asEarlier(sums) ?? NO_EARLIER_PAUSES, added),
      })).catch(() => undefined)
    },
  }
}

function asEarlier(sums: KeptSums | undefined): EarlierPauses | undefined {
  const { conversations, withinHour, beyondHour, grown } = (sums ?? {}) as Partial<EarlierPauses>
  const isSum = (each: EarlierPauses["withinHour"] | undefined) =>
    typeof each?.count === "number" && typeof each.tokens === "number"
  if (typeof conversations !== "number" || typeof grown !== "number") return undefined
  return isSum(withinHour) && isSum(beyondHour)
    ? { conversations, grown, withinHour: withinHour!, beyondHour: beyondHour! }
    : undefined
}

/**
 * How long the caller asks the server to keep what it caches: by breakpoints in the options, now or when the conversation began, or by what
 * the requests of another program wrote, where the conversation comes from one.
 */
export function askedLifetime(
  { system, tools, messages }: Pick<ConversationOptions, "system" | "tools" | "messages">,
  { chosen, expected, begun, wroteForAnHour }: Pick<CacheHistory, "chosen" | "expected" | "begun" | "wroteForAnHour">,
): "5m" | "1h" | undefined {
  const marks = [...marksIn(system), ...marksIn(tools), ...marksIn(messages)]
  if (marks.length > 0) return marks.includes("1h") ? "1h" : "5m"
  const isBrought = begun ? begun.forAnHour : chosen === undefined && wroteForAnHour
  return expected === "asked" || isBrought ? "1h" : undefined
}

/** In blocks, tools and messages. Functions and other objects have none. */
function marksIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(marksIn)
  if (typeof value !== "object" || value === null) return []
  const { cache_control: mark, content, message } = value as Readonly<Record<string, unknown>>
  const own = typeof mark === "object" && mark !== null ? [(mark as { ttl?: unknown }).ttl ?? "5m"] : []
  return [...own, ...marksIn(content), ...marksIn(message)]
}
