/** How notes and compaction stand, as sentences for `/context` and `/notes`. Pure. */
import { counted, short } from "../display/wording.ts"

export interface CompactionState {
  readonly count: number
  /** Failures since the last success. */
  readonly failures: number
  /** So many of them stop the automatic ones. */
  readonly mostFailures: number
  /** The size at which it comes by itself; nothing where that is switched off. */
  readonly at: number | undefined
  readonly mayByHand: boolean
}

export type NotesState =
  | { readonly kind: "off" }
  /** `first`: the size of the context at which they begin. */
  | { readonly kind: "none"; readonly first: number }
  | {
      readonly kind: "taken"
      readonly path: string
      readonly tokens: number
      /** Messages that came after what they tell; absent where all of it is behind the last compaction. */
      readonly untold?: number
    }

export function compactionWords(state: CompactionState): string {
  const done = state.count === 0 ? [] : [`Compacted ${counted(state.count, "time")}.`]
  return [...done, automaticWords(state)].join(" ")
}

function automaticWords({ failures, mostFailures, at, mayByHand }: CompactionState): string {
  if (!mayByHand) return "Compaction is switched off."
  if (at === undefined) return "Automatic compaction is off; /compact does it by hand."
  const times = counted(failures, "time")
  if (failures >= mostFailures)
    return `Automatic compaction has failed ${times} in a row and is stopped; a /compact that succeeds starts it again.`
  const failed = failures === 0 ? "" : ` It has failed ${times} in a row; after ${mostFailures} it stops.`
  return `Automatic compaction is on and comes at ${short(at)}.${failed}`
}

export function notesWords(state: NotesState): string {
  if (state.kind === "off") return "Notes are switched off."
  if (state.kind === "none") return `There are no notes yet; they begin at ${short(state.first)}.`
  return `Notes: ${short(state.tokens)} tokens, ${reachWords(state.untold)}; in ${state.path}`
}

function reachWords(untold: number | undefined): string {
  if (untold === undefined) return "about what was said before the last compaction"
  return untold === 0 ? "up to the newest message" : `up to ${counted(untold, "message")} ago`
}
