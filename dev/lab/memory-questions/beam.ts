/** Reads long chats with an assistant, and questions about them, in the layout of the public BEAM data: a folder for each chat. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { AskedQuestion, Dialogue, QuestionKind, Turn } from "./dialogues.ts"

interface BeamMessage {
  readonly role: string
  readonly id: number
  readonly content: string
  readonly time_anchor?: string
}

const KINDS: Readonly<Record<string, QuestionKind>> = {
  information_extraction: "direct",
  knowledge_update: "changed",
  temporal_reasoning: "time",
  multi_session_reasoning: "several",
  instruction_following: "rule",
  preference_following: "preference",
  contradiction_resolution: "contradiction",
  summarization: "summary",
  event_ordering: "order",
  abstention: "never-said",
}
const MINUTE = 60_000
const DAY = 86_400_000
/** Matches the note about a message's origin in the plan of the data, which is not part of its text. */
const MARK = /\s*->->\s*[\d,\s]*$/

export const CHAT_FILE = "chat.json"
const QUESTIONS_FILE = "probing_questions/probing_questions.json"

/** Reads one chat. A session is a batch of the data, whose messages all date from one day on. */
export function readBeam(folder: string): Dialogue {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), "utf8"))
  const batches = read(CHAT_FILE) as readonly { readonly turns: readonly (readonly BeamMessage[])[] }[]
  const places = new Map<number, number>()
  const turns: Turn[] = []
  let at = 0
  for (const [session, batch] of batches.entries()) {
    const messages = batch.turns.flat()
    const anchor = Date.parse(`${messages.find((one) => one.time_anchor)?.time_anchor?.replaceAll("-", " ")} UTC`)
    if (!Number.isNaN(anchor)) at = anchor
    for (const { role, id, content } of messages) {
      places.set(id, turns.length)
      turns.push({ session, speaker: role, time: new Date(at).toISOString(), text: content.replace(MARK, "") })
      at += MINUTE
    }
  }
  const asked = read(QUESTIONS_FILE) as Readonly<
    Record<string, readonly { readonly question: string; readonly source_chat_ids?: unknown }[]>
  >
  const questions = Object.entries(asked).flatMap(([name, list]) =>
    list.flatMap(({ question: text, source_chat_ids }): readonly AskedQuestion[] => {
      const kind = KINDS[name] ?? "direct"
      if (kind === "never-said") return [{ text, kind, evidence: [] }]
      const evidence = [...new Set(numbersIn(source_chat_ids))].flatMap((id) => places.get(id) ?? [])
      return evidence.length === 0 ? [] : [{ text, kind, evidence }]
    }),
  )
  return { turns, questions, now: new Date(at + DAY) }
}

/** Collects the numbers of evidence, which is a list, a list of lists, or lists by name. */
function numbersIn(value: unknown): readonly number[] {
  if (typeof value === "number") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(numbersIn) : []
}
