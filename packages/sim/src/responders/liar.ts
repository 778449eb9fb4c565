/**
 * A responder that makes known false claims when it is asked for a summary or notes, and lists them. A good audit finds exactly
 * these.
 */

import { recogniseDemand } from "@strata/core/offline"
import type { Answer, AnswerBlock, Responder } from "../responder.ts"
import { throwDice } from "./dice.ts"
import { knownOf } from "./extractive/known.ts"
import { LIE_NAMES, LIES, type Lie, type Lied, type LieName } from "./lies.ts"

export interface ToldLie {
  readonly lie: LieName
  /** Index of the request whose answer contains the lie, as in `BrainTurn.index`. */
  readonly request: number
  /** The truth. Absent if the lie is made up. */
  readonly truth?: string
  /** What the answer says instead. Absent if the lie leaves something out. */
  readonly told?: string
}

export interface LyingResponder extends Responder {
  readonly told: readonly ToldLie[]
}

/** Makes each of the given false claims once in every summary that offers a place for it. */
export function lyingResponder(inner: Responder, lies: readonly LieName[] = LIE_NAMES): LyingResponder {
  const told: ToldLie[] = []
  return {
    name: `lying ${inner.name}`,
    told,
    async answer(turn) {
      const honest = await inner.answer(turn)
      const demand = recogniseDemand(turn)
      if (demand?.kind !== "summary" && demand?.kind !== "notes") return honest
      const facts = knownOf(demand.moments)
      const dice = throwDice("lies", turn)
      return lies.reduce<Answer>((answer, name) => {
        const lie: Lie = LIES[name]
        const lied = tellOnce(answer, (text) => lie({ text, facts, dice }))
        if (lied === undefined) return answer
        const { text: _, ...what } = lied.lie
        told.push({ lie: name, request: turn.index, ...what })
        return lied.answer
      }, honest)
    },
  }
}

/** Puts the lie into the first text that offers a place: the answer's own, or what a tool will write. */
function tellOnce(answer: Answer, lie: (text: string) => Lied | undefined): { answer: Answer; lie: Lied } | undefined {
  for (const [index, block] of answer.content.entries()) {
    for (const { text, replace } of textsOf(block)) {
      const lied = lie(text)
      if (lied === undefined || lied.text === text) continue
      return { answer: { ...answer, content: answer.content.with(index, replace(lied.text)) }, lie: lied }
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
