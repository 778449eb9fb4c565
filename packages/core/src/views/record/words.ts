/** The words view: every message of the person and every answer to a question, verbatim, with the standing rules in it. */

import { type Entry, isDecision, isMessage } from "../../journal/entries.ts"
import { isHuman, type SaidInResult, spokenText, type Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { otherRules, standingRules } from "./standing-rules.ts"
import { followCalls, type OpenCall } from "./tool-calls.ts"

export interface Words {
  readonly messages: Word[]
  readonly open: Map<string, OpenCall>
}

export interface Word {
  readonly uuid: Uuid
  readonly timestamp: string
  readonly text: string
  /** Where it was said, if not in a message of its own: at the refusal of a call, or as the answer to a question. */
  readonly saidAt?: SaidInResult["at"]
  /** The transcript of another program says that they said it. */
  readonly isImported?: true
  /** Only the beginning is here. The journal has all of it under the uuid. */
  readonly isCut?: true
  /** Sentences that say how things are to be done from now on, verbatim. */
  readonly rules: readonly string[]
  /** How many more sentences read like rules and are not among them: those of pasted text. The journal has them under the uuid. */
  readonly otherRules?: number
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
    // it follows what was imported; older versions did not mark each message
    if (isDecision(entry) && entry.subtype === "imported")
      return { ...state, messages: state.messages.map((word) => ({ ...word, isImported: true })) }
    for (const said of spokenIn(state, entry)) note(state, entry, said)
    return state
  },
}

type Said = Pick<Word, "text" | "saidAt" | "isImported">

function spokenIn({ open }: Words, entry: Entry): readonly Said[] {
  const answers = followCalls(open, entry)
    .filter(({ tool, failed, output }) => tool === ASKING.tool && !failed && ASKING.frame.test(output))
    .map(({ output }): Said => ({ text: output.replace(ASKING.frame, ""), saidAt: "answer" }))
  if (!isMessage(entry) || entry.type !== "user" || entry.isSidechain) return answers
  const inResults = (entry.saidInResults ?? []).map(({ text, at }): Said => ({ text, saidAt: at }))
  const said = [...answers, ...inResults, ...(isHuman(entry) ? [{ text: entry.written ?? spokenText(entry) }] : [])]
  return entry.isImported ? said.map((each) => ({ ...each, isImported: true })) : said
}

function note(state: Words, { uuid, timestamp }: Entry, { text, saidAt, isImported }: Said): void {
  if (text.trim() === "") return
  const others = otherRules(text)
  const isLong = text.length > LONGEST_HELD
  const held = isLong ? text.slice(0, LONGEST_HELD).replace(HALF_A_CHARACTER, "") : text
  state.messages.push({
    uuid,
    timestamp,
    text: held,
    ...(saidAt ? { saidAt } : {}),
    ...(isImported ? { isImported } : {}),
    ...(isLong ? { isCut: true } : {}),
    rules: standingRules(text),
    ...(others > 0 ? { otherRules: others } : {}),
  })
}
