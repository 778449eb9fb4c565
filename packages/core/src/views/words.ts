/** The words view: every message of the human, verbatim, and the standing rules among them. */
import { textOf } from "../conversation/blocks.ts"
import { contentOf, isHuman, type Uuid } from "../conversation/messages.ts"
import { isMessage } from "../journal/entries.ts"
import type { Projection } from "./projection.ts"
import { standingRules } from "./standing-rules.ts"

export interface Words {
  readonly messages: Word[]
}

export interface Word {
  readonly uuid: Uuid
  readonly timestamp: string
  readonly text: string
  /** Only the beginning is held here: the whole stands in the journal under the uuid. */
  readonly isCut?: true
  /** Sentences that say how things are to be done from now on, in the human's own words. */
  readonly rules: readonly string[]
}

const LONGEST_HELD = 10_000 // characters; longer ones are pasted logs and files, and a view must stay small

export const words: Projection<Words> = {
  name: "words",
  scope: "path",
  start: () => ({ messages: [] }),
  apply(state, entry) {
    if (!isMessage(entry) || !isHuman(entry)) return state
    const text = textOf(contentOf(entry))
    if (text.trim() === "") return state
    const { uuid, timestamp } = entry
    const rules = standingRules(text)
    state.messages.push(
      text.length <= LONGEST_HELD
        ? { uuid, timestamp, text, rules }
        : { uuid, timestamp, text: text.slice(0, LONGEST_HELD), isCut: true, rules },
    )
    return state
  },
}
