/** What search may find in a journal: what the person and the assistant wrote. Thinking, tool results and summaries are left out. */
import { type Entry, isMessage } from "../journal/entries.ts"
import { textOf } from "../messages/blocks.ts"
import {
  type AssistantMessage,
  contentOf,
  isRequest,
  isSyntheticError,
  type UserMessage,
} from "../messages/messages.ts"
import type { Passage } from "./passage.ts"

const LONGEST_PASSAGE = 1_200 // characters: an answer in it is easy to see, and neighbours stay near
const LONGEST_MESSAGE = 20_000 // characters; longer messages are pasted logs and files

export type JournalPassage = Omit<Passage, "source" | "position" | "title">

export function passagesOf(entry: Entry, mask: (text: string) => string): readonly JournalPassage[] {
  if (!isSaid(entry)) return []
  // masked whole: a secret could be cut in two
  return splitText(mask(textOf(contentOf(entry))).slice(0, LONGEST_MESSAGE)).map((text) => ({
    address: entry.uuid,
    speaker: entry.type,
    text,
    time: entry.timestamp,
  }))
}

function isSaid(entry: Entry): entry is UserMessage | AssistantMessage {
  if (!isMessage(entry) || entry.isSidechain || entry.isMeta) return false
  return isRequest(entry) || (entry.type === "assistant" && !isSyntheticError(entry))
}

/** Cuts a text at empty lines, else at line ends, else at sentences and spaces, into parts of at most `LONGEST_PASSAGE`. */
export function splitText(text: string): readonly string[] {
  const parts: string[] = []
  let rest = text.trim()
  while (rest.length > LONGEST_PASSAGE) {
    const cut = cutBefore(rest)
    parts.push(rest.slice(0, cut).trim())
    rest = rest.slice(cut).trim()
  }
  return rest === "" ? parts : [...parts, rest]
}

function cutBefore(text: string): number {
  const head = text.slice(0, LONGEST_PASSAGE)
  const cut = ["\n\n", "\n", ". ", " "].map((end) => head.lastIndexOf(end)).find((at) => at > LONGEST_PASSAGE / 3)
  if (cut !== undefined) return cut + 1
  // not inside a character of two units
  return /[\uD800-\uDBFF]$/.test(head) ? LONGEST_PASSAGE - 1 : LONGEST_PASSAGE
}
