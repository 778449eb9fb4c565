/** The offline model's answers as a brain: truthful quotations from the conversation, so an audit must find nothing wrong. */
import { answerAbout } from "@strata/core/internal/model/offline/answer"
import { NOTHING } from "@strata/core/internal/model/offline/summary"
import { readTimeline, wordsOf } from "@strata/core/internal/model/offline/timeline"
import type { Answer, Brain, BrainTurn } from "../brain.ts"
import { obedient } from "./obedient.ts"

export { summarise } from "@strata/core/internal/model/offline/summary"

/** Returns `undefined` if the request continues the conversation instead of asking about it. */
export function extractiveAnswer(turn: BrainTurn): Answer | undefined {
  const content = answerAbout(turn)
  return content && { content }
}

/** A brain that can do only this. It answers any other request by repeating the last thing the user said. */
export function extractiveBrain(): Brain {
  return obedient({
    name: "extractive",
    answer(turn) {
      const words = wordsOf(readTimeline(turn.request.messages), "human").at(-1)
      const repeated = { type: "text", text: words === undefined ? NOTHING : `You said: ${words}` } as const
      return extractiveAnswer(turn) ?? { content: [repeated] }
    },
  })
}
