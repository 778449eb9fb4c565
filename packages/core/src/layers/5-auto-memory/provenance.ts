/**
 * Who said what a memory says: the person, a tool, or the agent by itself. The words decide, not what the model claims. So a rule that
 * only a tool's output contains is never stored as the person's.
 */

import { termsOf } from "../../base/terms.ts"
import type { Memory, Provenance } from "../../memory/memory.ts"
import { type Block, isToolResult, resultBlocks, textOf } from "../../messages/blocks.ts"
import { contentOf, type Message } from "../../messages/messages.ts"
import type { Word } from "../../views/record/words.ts"

export interface Evidence {
  readonly conversation: string
  /** Everything the person said in the conversation. */
  readonly words: readonly Word[]
  /** What tools returned, as far as it is in view. */
  readonly results: readonly string[]
}

/** The share of a memory's terms that make a source likely. A memory is shortened and rephrased, so it is far from all. */
const PERSON_SHARE = 0.4
const TOOL_SHARE = 0.5

/** `before`: the memory as it was. Only what is new needs a source. */
export function sourceOf(memory: Memory, evidence: Evidence, before?: Memory): Provenance {
  const { conversation, words, results } = evidence
  const own = new Set(before ? stemsOf(before) : [])
  const terms = [...stemsOf(memory)].filter((stem) => !own.has(stem))
  if (terms.length === 0) return before?.source ?? { saidBy: "agent", conversation }
  const share = (stems: ReadonlySet<string>) => terms.filter((stem) => stems.has(stem)).length / terms.length
  const said = words.map(({ uuid, text }) => ({ uuid, stems: stemsIn(text) }))
  const byPerson = share(new Set(said.flatMap(({ stems }) => [...stems])))
  const byTools = Math.max(0, ...results.map((text) => share(stemsIn(text))))
  if (byPerson >= PERSON_SHARE && byPerson >= byTools) {
    const best = said.reduce((a, b) => (share(b.stems) >= share(a.stems) ? b : a))
    return { saidBy: "user", conversation, message: best.uuid }
  }
  return { saidBy: byTools >= TOOL_SHARE ? "tool" : "agent", conversation }
}

/** Texts of the tool results in these messages. */
export function resultTexts(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.type === "user"
      ? contentOf(message)
          .filter(isToolResult)
          .map((result) =>
            typeof result.content === "string" ? result.content : textOf(resultBlocks(result) as readonly Block[]),
          )
      : [],
  )
}

/** The frame of a feedback memory is the same in all of them, and says nothing about its source. */
const FRAME = /\*\*(?:Why|How to apply):\*\*/gi

const stemsOf = ({ name, description, body }: Memory): ReadonlySet<string> =>
  stemsIn(`${name}\n${description}\n${body.replace(FRAME, " ")}`)

const stemsIn = (text: string): ReadonlySet<string> => new Set(termsOf(text).map(({ stem }) => stem))
