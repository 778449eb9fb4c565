/** A responder that adds known false claims to summaries and notes, and lists them. A good audit finds exactly these. */

import { recognizeRequest } from "@strata/core/offline"
import type { Answer, AnswerBlock, Responder } from "../responder.ts"
import { extractFacts } from "./extractive/conversation-facts.ts"
import {
  FABRICATION_NAMES,
  FABRICATORS,
  type FabricatedText,
  type FabricationName,
  type Fabricator,
} from "./fabrications.ts"
import { createRandom } from "./seeded-random.ts"

export interface Fabrication {
  readonly kind: FabricationName
  /** Index of the request whose answer contains the claim, as in `ResponderTurn.index`. */
  readonly request: number
  /** The truth. Absent if the claim is invented. */
  readonly truth?: string
  /** The false text. Absent if the claim is an omission. */
  readonly claim?: string
}

export interface FabricatingResponder extends Responder {
  readonly fabrications: readonly Fabrication[]
}

/** Makes each of the given false claims once in every summary that allows it. */
export function fabricatingResponder(
  inner: Responder,
  kinds: readonly FabricationName[] = FABRICATION_NAMES,
): FabricatingResponder {
  const fabrications: Fabrication[] = []
  return {
    name: `fabricating ${inner.name}`,
    fabrications,
    async answer(turn) {
      const honest = await inner.answer(turn)
      const demand = recognizeRequest(turn)
      if (demand?.kind !== "summary" && demand?.kind !== "notes") return honest
      const facts = extractFacts(demand.timeline)
      const random = createRandom("lies", turn)
      return kinds.reduce<Answer>((answer, name) => {
        const fabricate: Fabricator = FABRICATORS[name]
        const result = fabricateOnce(answer, (text) => fabricate({ text, facts, random }))
        if (result === undefined) return answer
        const { text: _, ...what } = result.fabricated
        fabrications.push({ kind: name, request: turn.index, ...what })
        return result.answer
      }, honest)
    },
  }
}

/** Adds the claim to the first text that allows it: the answer's own, or text that a tool call will write. */
function fabricateOnce(
  answer: Answer,
  fabricate: (text: string) => FabricatedText | undefined,
): { answer: Answer; fabricated: FabricatedText } | undefined {
  for (const [index, block] of answer.content.entries()) {
    for (const { text, replace } of textsOf(block)) {
      const result = fabricate(text)
      if (result === undefined || result.text === text) continue
      return { answer: { ...answer, content: answer.content.with(index, replace(result.text)) }, fabricated: result }
    }
  }
  return undefined
}

function textsOf(block: AnswerBlock): { text: string; replace: (text: string) => AnswerBlock }[] {
  if (block.type === "text") return [{ text: block.text, replace: (text) => ({ ...block, text }) }]
  if (block.type !== "tool_use" || !("input" in block)) return []
  return Object.entries(block.input ?? {}).flatMap(([field, value]) => {
    if (!["new_string", "new_str", "content"].includes(field) || typeof value !== "string") return []
    const replace = (text: string) => ({ ...block, input: { ...(block.input as object), [field]: text } })
    return [{ text: value, replace }]
  })
}
