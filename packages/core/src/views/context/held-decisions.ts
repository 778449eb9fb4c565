/** The decisions since the last boundary, each with the messages it covers. Any of them can be undone, and the others are made again. */
import type { DecisionEntry } from "../../journal/entries.ts"
import type { Message, Uuid } from "../../messages/messages.ts"
import { HiddenRanges, hidesRange } from "./hidden-ranges.ts"
import { Overlay, type SavedOverlay } from "./overlay.ts"

export type UndoneDecision = DecisionEntry & { readonly subtype: "undone" }

interface HeldDecision {
  readonly decision: DecisionEntry
  /** It covers the messages up to this number, from `since` on. */
  readonly present: number
  readonly since?: number
}

/** For a forecast. */
const DROPPED: DecisionEntry = {
  type: "strata",
  subtype: "thinking-dropped",
  uuid: "",
  parentUuid: null,
  timestamp: "",
  why: "",
}

export class HeldDecisions {
  readonly #base: SavedOverlay
  readonly #list: HeldDecision[]

  /** `base`: the overlay without these decisions. */
  constructor(base: SavedOverlay, list: readonly HeldDecision[] = []) {
    this.#base = base
    this.#list = [...list]
  }

  get list(): readonly HeldDecision[] {
    return this.#list
  }

  /** `present`: how many messages there are. */
  add(decision: DecisionEntry, present: number): void {
    this.#list.push({ decision, present })
  }

  /** With the same base and no decisions. */
  emptied(): HeldDecisions {
    return new HeldDecisions(this.#base)
  }

  /** Where a range is opened again, thinking since then goes: it is bound to the view without that range. */
  without(
    uuid: Uuid,
    { present, undone = DROPPED }: { readonly present: number; readonly undone?: UndoneDecision | typeof DROPPED },
  ): { readonly target?: DecisionEntry; readonly held: HeldDecisions } {
    const found = this.#list.find(({ decision }) => decision.uuid === uuid)
    const list = this.#list.filter((each) => each !== found)
    if (!found) return { held: new HeldDecisions(this.#base, list) }
    const { decision: target, present: since } = found
    if (hidesRange(target) && target.thinking) list.push({ decision: undone, present, since })
    return { target, held: new HeldDecisions(this.#base, list) }
  }

  /** What they make of these messages. */
  replay(messages: readonly Message[]): { readonly overlay: Overlay; readonly ranges: HiddenRanges } {
    const overlay = Overlay.restore(this.#base)
    const ranges = new HiddenRanges()
    for (const { decision, present, since = 0 } of this.#list) {
      const held = messages.slice(since, present)
      overlay.decide(decision, held)
      if (hidesRange(decision)) ranges.decide(decision, held)
    }
    return { overlay, ranges }
  }
}
