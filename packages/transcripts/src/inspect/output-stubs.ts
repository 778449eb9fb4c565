/**
 * Finds responses whose recorded output tokens are stubs: some versions of Claude Code recorded the count from the start of a response,
 * not from its end. The content shows that more was written, so a price from such counts is too low.
 */

import type { Block } from "@strata/core"
import { isMessage } from "@strata/core"
import { counted, short } from "@strata/core/base"
import { type AssistantMessage, contentOf } from "@strata/core/messages"
import type { Entry } from "@strata/core/store"
import type { BlockTokens } from "@strata/core/tokens"

/** Responses with too few output tokens recorded. */
export interface OutputStubs {
  /** Responses whose count is a stub, of all that have one. */
  readonly responses: number
  /** Tokens recorded for them. */
  readonly recorded: number
  /** About the tokens of their content. Thinking that was not recorded is not in it. */
  readonly written: number
}

const SMALL = 40 // tokens; the estimate of less is too rough
const STUB_SHARE = 0.5 // of the estimate: estimates of code are off by less
const WORTH_SAYING = 0.05 // of all recorded output

export function outputStubs(entries: readonly Entry[], tokens: BlockTokens): OutputStubs | undefined {
  const responses = Map.groupBy(entries.filter(isAnswer), (message) => message.message.id ?? message.uuid)
  const found = { responses: 0, recorded: 0, written: 0 }
  let all = 0
  for (const pieces of responses.values()) {
    const recorded = Math.max(...pieces.map(({ message }) => message.usage?.output_tokens ?? 0))
    const written = tokens.blocks(pieces.flatMap((piece) => contentOf(piece).filter(isCounted)))
    all += recorded
    if (written < SMALL || recorded >= written * STUB_SHARE) continue
    found.responses++
    found.recorded += recorded
    found.written += written
  }
  return found.written - found.recorded > all * WORTH_SAYING ? found : undefined
}

export const stubSentences = ({ responses, recorded, written }: OutputStubs): string =>
  `The output tokens of ${counted(responses, "response")} were not recorded in full: ${short(recorded)} recorded, about ${short(written)} written. The cost of the output is higher than shown.`

const isAnswer = (entry: Entry): entry is AssistantMessage =>
  isMessage(entry) && entry.type === "assistant" && entry.message.usage !== undefined

const isCounted = ({ type }: Block): boolean => type === "text" || type === "thinking" || type === "tool_use"
