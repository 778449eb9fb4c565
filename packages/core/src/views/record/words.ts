/** The words view: every message of the person and every answer to a question, verbatim, with the standing rules in it. */

import { type Entry, isMessage } from "../../journal/entries.ts"
import { textOf } from "../../messages/blocks.ts"
import { contentOf, isHuman, type Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { standingRules } from "./standing-rules.ts"
import { followCalls, type OpenCall } from "./tool-calls.ts"

export interface Words {
  readonly messages: Word[]
  readonly open: Map<string, OpenCall>
}

export interface Word {
  readonly uuid: Uuid
  readonly timestamp: string
  readonly text: string
  /** Only the beginning is here. The journal has all of it under the uuid. */
  readonly isCut?: true
  /** Sentences that say how things are to be done from now on, verbatim. */
  readonly rules: readonly string[]
}

const LONGEST_HELD = 10_000 // characters; longer messages are pasted logs and files, and a view must stay small
const HALF_A_CHARACTER = /[\uD800-\uDBFF]$/

/** The tool that asks the person. No MCP tool can have this name. The frame before the answer is not the person's. */
const ASKING = { tool: "AskUser", frame: /^The person answers: / }

export const words: Projection<Words> = {
  name: "words",
  scope: "path",
  start: () => ({ messages: [], open: new Map() }),
  apply(state, entry) {
    for (const text of spokenIn(state, entry)) note(state, entry, text)
    return state
  },
}

function spokenIn({ open }: Words, entry: Entry): readonly string[] {
  const answers = followCalls(open, entry)
    .filter(({ tool, failed, output }) => tool === ASKING.tool && !failed && ASKING.frame.test(output))
    .map(({ output }) => output.replace(ASKING.frame, ""))
  return isMessage(entry) && isHuman(entry) ? [...answers, textOf(contentOf(entry))] : answers
}

function note(state: Words, { uuid, timestamp }: Entry, text: string): void {
  if (text.trim() === "") return
  const rules = standingRules(text)
  if (text.length <= LONGEST_HELD) {
    state.messages.push({ uuid, timestamp, text, rules })
    return
  }
  const held = text.slice(0, LONGEST_HELD).replace(HALF_A_CHARACTER, "")
  const end = text.slice(-LONGEST_HELD)
  // the middle is pasted text: a specification is full of "must" and "never", and none of it is the person's own rule
  const own = rules.filter((rule) => held.includes(rule) || end.includes(rule))
  state.messages.push({ uuid, timestamp, text: held, isCut: true, rules: own })
}
