/** Why a cache broke, as far as the journal shows: decisions between two responses, the pause, and how much was still read. */
import type { DecisionEntry } from "../../journal/entries.ts"

/** A recorded decision that changes what is sent before the newest messages. */
export type CacheChange = "compaction" | "clearing" | "deletion" | "undoing" | "rewinding" | "prompt"

/** Breaks after these are intended: the context was made smaller or replaced. */
export const MEANT: ReadonlySet<CacheChange> = new Set(["compaction", "clearing", "deletion", "undoing", "rewinding"])

/** Why the server's cache broke. */
export type BreakCause =
  | "compaction"
  | "clearing"
  | "undone"
  | "rewound"
  | "other-model"
  | "prompt-changed"
  | "hour-over"
  | "five-minutes-over"
  /** Nothing was read: the prompt or the tools changed, or the provider dropped the cache. */
  | "all-gone"
  /** Only the part that never changes was read. */
  | "prompt-left"
  | "history-changed"

/** In order of precedence. */
const CAUSE_OF: readonly (readonly [CacheChange, BreakCause])[] = [
  ["compaction", "compaction"],
  ["clearing", "clearing"],
  ["deletion", "clearing"],
  ["rewinding", "rewound"],
  ["undoing", "undone"],
]

const FIVE_MINUTES = 5
const HOUR = 60
const SLACK = 1.05 // a prompt is about as large each time it is read

export function changeIn(decision: DecisionEntry): CacheChange | undefined {
  switch (decision.subtype) {
    case "compacted":
      return "compaction"
    case "tool-results-cleared":
      return decision.why === "cache-edit" ? "deletion" : "clearing"
    case "cache-edits-dropped":
    case "thinking-dropped":
    case "media-withheld":
    case "folded":
    case "snipped":
      return "clearing"
    case "undone":
      return "undoing"
    case "rewound":
      return "rewinding"
    case "prompt-rendered":
      return decision.why === "start" ? undefined : "prompt"
    default:
      return undefined
  }
}

export interface Evidence {
  readonly changes: readonly CacheChange[]
  readonly otherModel: boolean
  readonly gapMinutes: number
  readonly wroteForAnHour: boolean
  readonly read: number
  /** The smallest read so far. */
  readonly leastRead: number
}

/** The first cause that fits. */
export function causeOf({ changes, otherModel, gapMinutes, wroteForAnHour, read, leastRead }: Evidence): BreakCause {
  const recorded = CAUSE_OF.find(([change]) => changes.includes(change))
  if (recorded) return recorded[1]
  if (otherModel) return "other-model"
  if (changes.includes("prompt")) return "prompt-changed"
  if (gapMinutes > HOUR) return "hour-over"
  if (gapMinutes > FIVE_MINUTES && !wroteForAnHour) return "five-minutes-over"
  if (read === 0) return "all-gone"
  return read <= SLACK * leastRead ? "prompt-left" : "history-changed"
}
