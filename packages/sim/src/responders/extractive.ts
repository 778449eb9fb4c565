/**
 * Answers to requests about the conversation: summaries, notes, memories, consolidations, a progress line. Short and not perfect, as a
 * model's are. With the library's offline model it shares how a request is read, and nothing of what is written: a referee must not quote
 * the player.
 */
import { commandOf, headOf, pathOf, readTimeline, recogniseDemand, wordsOf } from "@strata/core/offline"
import type { Answer, Responder, ResponderTurn } from "../responder.ts"
import { dream } from "./extractive/dreams.ts"
import { type Known, knownOf } from "./extractive/known.ts"
import { keepMemories } from "./extractive/memories.ts"
import { type Said, takeNotes } from "./extractive/notes.ts"
import { writeSummary } from "./extractive/summary.ts"
import { obedient } from "./obedient.ts"

const MAX_LINE = 120 // characters of a progress line

/** Returns `undefined` if the request continues the conversation instead of asking about it. */
export function extractiveAnswer(turn: ResponderTurn): Answer | undefined {
  const said = dream(turn.request) ?? answerTo(turn)
  if (said === undefined) return undefined
  if (typeof said === "string") return { content: [{ type: "text", text: said }] }
  return { content: said.map(({ name, input }) => ({ type: "tool_use", id: turn.nextToolUseId(), name, input })) }
}

function answerTo(turn: ResponderTurn): Said | undefined {
  const demand = recogniseDemand(turn)
  if (!demand) return undefined
  const known = knownOf(demand.moments)
  const { request } = turn
  switch (demand.kind) {
    case "summary":
      return writeSummary({ ...demand, known })
    case "notes":
      return takeNotes({ request, demand, known })
    case "memory":
      return keepMemories({ request, demand, known })
    case "progress":
      return progressLine(known)
  }
}

function progressLine({ calls, lastText, userMessages }: Known): string {
  const lastCall = calls.at(-1)
  if (!lastCall) return headOf(lastText ?? userMessages.at(-1) ?? "Starting", MAX_LINE)
  return headOf(`Using ${lastCall.name} ${pathOf(lastCall) ?? commandOf(lastCall) ?? ""}`.trim(), MAX_LINE)
}

/** A responder that can do only this. It answers any other request by repeating the last thing the user said. */
export function extractiveResponder(): Responder {
  return obedient({
    name: "extractive",
    answer(turn) {
      const words = wordsOf(readTimeline(turn.request.messages), "human").at(-1)
      const repeated = { type: "text", text: words === undefined ? "Nothing was said." : `You said: ${words}` } as const
      return extractiveAnswer(turn) ?? { content: [repeated] }
    },
  })
}
