/**
 * Answers requests about the conversation: summaries, notes, memories, consolidations, a progress line. The answers are short and
 * imperfect, as a model's are. The library's offline model shares the code that reads a request, but nothing that writes an answer: the
 * simulator tests the library and must not share its output.
 */
import { headOf, readTimeline, recognizeRequest, textsOfKind, toolCommand, toolPath } from "@strata/core/offline"
import type { Answer, Responder, ResponderTurn } from "../responder.ts"
import { constrainResponder } from "./constrained.ts"
import { type ConversationFacts, extractFacts } from "./extractive/conversation-facts.ts"
import { dream } from "./extractive/dreams.ts"
import { writeMemories } from "./extractive/memories.ts"
import { type ExtractedAnswer, takeNotes } from "./extractive/notes.ts"
import { writeSummary } from "./extractive/summary.ts"

const MAX_LINE = 120 // characters of a progress line

/** Returns `undefined` if the request continues the conversation instead of asking about it. */
export function extractiveAnswer(turn: ResponderTurn): Answer | undefined {
  const extracted = dream(turn.request) ?? answerTo(turn)
  if (extracted === undefined) return undefined
  if (typeof extracted === "string") return { content: [{ type: "text", text: extracted }] }
  return { content: extracted.map(({ name, input }) => ({ type: "tool_use", id: turn.nextToolUseId(), name, input })) }
}

function answerTo(turn: ResponderTurn): ExtractedAnswer | undefined {
  const demand = recognizeRequest(turn)
  if (!demand) return undefined
  const known = extractFacts(demand.timeline)
  const { request } = turn
  switch (demand.kind) {
    case "summary":
      return writeSummary({ ...demand, known })
    case "notes":
      return takeNotes({ request, demand, known })
    case "memory":
      return writeMemories({ request, demand, known })
    case "progress":
      return progressLine(known)
  }
}

function progressLine({ calls, lastText, userMessages }: ConversationFacts): string {
  const lastCall = calls.at(-1)
  if (!lastCall) return headOf(lastText ?? userMessages.at(-1) ?? "Starting", MAX_LINE)
  return headOf(`Using ${lastCall.name} ${toolPath(lastCall) ?? toolCommand(lastCall) ?? ""}`.trim(), MAX_LINE)
}

/** A responder with this capability only. It answers any other request by repeating the user's last text. */
export function extractiveResponder(): Responder {
  return constrainResponder({
    name: "extractive",
    answer(turn) {
      const words = textsOfKind(readTimeline(turn.request.messages), "human").at(-1)
      const repeated = { type: "text", text: words === undefined ? "Nothing was said." : `You said: ${words}` } as const
      return extractiveAnswer(turn) ?? { content: [repeated] }
    },
  })
}
