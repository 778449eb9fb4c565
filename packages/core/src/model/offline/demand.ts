/**
 * Recognises a request that asks about the conversation instead of continuing it: for a summary, session notes, memories
 * or a progress line. Where a server compacts, it is given. Otherwise the prompt decides, for any client.
 */

import { atOnce, type Steps } from "../../base/in-slices.ts"
import { type Section, splitDocument } from "./document.ts"
import type { Asking, ReadMessage } from "./read-message.ts"
import { callsOf, type Moment, type ToolCall, timelineSteps } from "./timeline.ts"

export type DemandKind = "summary" | "notes" | "memory" | "progress"

export interface Demand {
  readonly kind: DemandKind
  readonly prompt: string
  /** The sections the prompt asks for; empty if it names none. */
  readonly sections: readonly Section[]
  /** The conversation the prompt is about. */
  readonly moments: readonly Moment[]
  /** The calls already made to answer this prompt. */
  readonly calls: readonly ToolCall[]
}

const SUMMARY_TAG = /<summary>/i
const SUMMARY_WORD = /\bsummar(?:y|ies|i[sz]e[sd]?|i[sz]ing)\b/i
const PLAIN_REQUEST =
  /^\s*(?:please |now )*(?:summari[sz]e|(?:write|create|give|provide|make) (?:me |us )?a (?:\w+ )?summary)\b[^.\n]*\b(?:conversation|session)\b/i
const CONVERSATION = /\b(?:conversation|session|transcript|dialogue|so far|above)\b/i
const NOTES = /\b(?:session|conversation|running|working)?[ -]?notes\b/i
const NOTES_WORK = /\b(?:updat|edit|keep|writ|maintain|fill|revis)\w*/i
const MEMORY = /\bmemor(?:y|ies)\b/i
const MEMORY_FORM = /\bMEMORY\.md\b|\bfrontmatter\b|\bmemory director|\/memory\b/i
const QUOTED = /<([\w-]+)>[\s\S]*<\/\1>/g // a document inside the prompt: its content is not the request
const PROGRESS = /\b(?:progress|status|doing|most recent action|working on)\b/i
const BRIEFLY = /\b(?:one|a single|single|short|brief) (?:\w+ )?(?:line|sentence|phrase)\b|\bwords\b/i
const PROGRESS_PROMPT = 1500 // characters; a longer prompt asks for more than a line
const FEWEST_SECTIONS = 3

type Request = Pick<Asking, "request" | "summary">

export const recogniseDemand = (asking: Request): Demand | undefined => atOnce(demandSteps(asking))

export function* demandSteps({ request, summary }: Request): Steps<Demand | undefined> {
  if (summary) return yield* summaryDemand(request.messages, summary.instructions)
  const moments = yield* timelineSteps(request.messages)
  const last = moments.findLastIndex((moment) => moment.kind === "human")
  const prompt = moments[last]
  if (prompt?.kind !== "human") return undefined
  const sections = splitDocument(prompt.text)
  const kind = classify(prompt.text, sections)
  if (kind === undefined) return undefined
  const calls = callsOf(moments.slice(last + 1))
  return { kind, prompt: prompt.text, sections, moments: moments.slice(0, last), calls }
}

/** The server wants a summary, so the last block holds the instructions and is not part of the conversation. */
function* summaryDemand(messages: readonly ReadMessage[], prompt: string): Steps<Demand> {
  const last = messages.at(-1)
  const conversation = last ? messages.with(-1, { ...last, content: last.content.slice(0, -1) }) : messages
  return {
    kind: "summary",
    prompt,
    sections: splitDocument(prompt),
    moments: yield* timelineSteps(conversation),
    calls: [],
  }
}

function classify(prompt: string, sections: readonly Section[]): DemandKind | undefined {
  const words = prompt.replace(/<[^>]*>/g, " ")
  const structured = sections.length >= FEWEST_SECTIONS
  if (SUMMARY_TAG.test(prompt) && SUMMARY_WORD.test(words) && CONVERSATION.test(words)) return "summary"
  if (MEMORY.test(words) && MEMORY_FORM.test(prompt.replace(QUOTED, " "))) return "memory"
  if (NOTES.test(words) && NOTES_WORK.test(words) && (structured || /\.md\b/.test(prompt))) return "notes"
  if (SUMMARY_WORD.test(words) && CONVERSATION.test(words) && structured) return "summary"
  if (PLAIN_REQUEST.test(words)) return "summary"
  if (prompt.length <= PROGRESS_PROMPT && PROGRESS.test(words) && BRIEFLY.test(words)) return "progress"
  return undefined
}
