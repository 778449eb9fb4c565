/** The undoable view: the decisions that a person can take back, oldest first. Only those that still count are in it. */

import { type DecisionEntry, type Entry, isBoundaryEntry, isDecision } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"

/** A kind of decision that can be taken back. */
export type UndoableKind = "compaction" | "clearing" | "images" | "fold" | "snip"

export interface Undoable {
  readonly kind: UndoableKind
  /** The decision. For a compaction: its boundary. */
  readonly uuid: Uuid
  readonly timestamp: string
  /** The newest message when it was decided. A compaction is anchored at its own boundary. */
  readonly at: Uuid | null
  /** Decisions that were made with it and are undone with it. */
  readonly companions: readonly Uuid[]
  /** Folds that were made with it. Undo takes back all of them; each can also be opened alone. */
  readonly joined?: readonly Uuid[]
}

export interface UndoableDecisions {
  readonly list: Undoable[]
  /** The newest decision, if the next one may have been made with it. `leads`: it comes first, and the next one is what can be undone. */
  before?: { readonly uuid: Uuid; readonly parentUuid: Uuid | null; readonly leads: boolean }
}

export const undoable: Projection<UndoableDecisions> = {
  name: "undoable",
  scope: "path",
  start: () => ({ list: [] }),
  apply(state, entry) {
    const { before } = state
    delete state.before
    if (isBoundaryEntry(entry)) {
      if (entry.isSidechain) return state
      const { uuid, timestamp } = entry
      state.list.push({ kind: "compaction", uuid, timestamp, at: uuid, companions: [] })
    } else if (isDecision(entry)) takeDecision(state, entry, before)
    return state
  },
}

function takeDecision(state: UndoableDecisions, entry: DecisionEntry, before: UndoableDecisions["before"]): void {
  const { uuid, timestamp, parentUuid } = entry
  const { list } = state
  if (entry.subtype === "undone") {
    takeBack(list, entry.decision)
    return
  }
  if (entry.subtype === "cache-edits-dropped") state.before = { uuid, parentUuid, leads: true }
  const last = list.at(-1)
  if (entry.subtype === "folded" && entry.joined && last?.kind === "fold" && last.at === parentUuid) {
    list[list.length - 1] = { ...last, joined: [...(last.joined ?? []), uuid] }
    return
  }
  const kind = kindOf(entry)
  if (kind !== undefined) {
    const companions = before?.leads && before.parentUuid === parentUuid ? [before.uuid] : []
    list.push({ kind, uuid, timestamp, at: parentUuid, companions })
    state.before = { uuid, parentUuid, leads: false }
    return
  }
  const isCompanion = entry.subtype === "thinking-dropped" && last !== undefined && before?.uuid === last.uuid
  if (isCompanion && last.at === parentUuid) list[list.length - 1] = { ...last, companions: [...last.companions, uuid] }
}

/** Of folds that were made together, those that are left can still be undone. */
function takeBack(list: Undoable[], decision: Uuid): void {
  const at = list.findIndex(({ uuid, joined }) => uuid === decision || joined?.includes(decision))
  const found = list[at]
  if (!found) return
  const [uuid, ...joined] = [found.uuid, ...(found.joined ?? [])].filter((each) => each !== decision)
  if (uuid === undefined) list.splice(at, 1)
  else list[at] = { ...found, uuid, joined }
}

const OF_THEIR_OWN: ReadonlyMap<string, UndoableKind> = new Map([
  ["folded", "fold"],
  ["snipped", "snip"],
])

/** Only what a person or the agent decided: what the layers clear by themselves is theirs to decide. */
function kindOf(entry: DecisionEntry & Entry): UndoableKind | undefined {
  if (entry.subtype === "tool-results-cleared") return entry.why === "asked" ? "clearing" : undefined
  if (entry.subtype === "media-withheld") return entry.asked ? "images" : undefined
  return OF_THEIR_OWN.get(entry.subtype)
}
