/** Extracts the searchable texts of a conversation: the title, the user's messages, the answers. Tool results are omitted. */
import { isMessage } from "@strata/core"
import { contentOf, isFromUser, isSyntheticError, textOf } from "@strata/core/messages"
import type { Transcript } from "@strata/transcripts"

export interface SearchableText {
  readonly at?: string
  readonly who: "title" | "person" | "model"
  readonly text: string
}

const MAX_MESSAGE_LENGTH = 8_000 // characters of one message
const MAX_TOTAL_LENGTH = 400_000 // characters of one conversation
const NO_TIME = "1970-01-01" // importers of formats without times start here

export function searchableTexts({ title, entries }: Transcript): readonly SearchableText[] {
  const texts: SearchableText[] =
    title === undefined ? [] : [{ who: "title", text: title.slice(0, MAX_MESSAGE_LENGTH) }]
  let room = MAX_TOTAL_LENGTH
  for (const entry of entries) {
    if (!isMessage(entry) || room <= 0) continue
    const isAnswer = entry.type === "assistant" && !entry.isSidechain && !isSyntheticError(entry)
    if (!isAnswer && !isFromUser(entry)) continue
    const text = textOf(contentOf(entry)).trim().slice(0, Math.min(MAX_MESSAGE_LENGTH, room))
    if (text === "") continue
    room -= text.length
    const at = entry.timestamp.startsWith(NO_TIME) ? {} : { at: entry.timestamp }
    texts.push({ ...at, who: isAnswer ? "model" : "person", text })
  }
  return texts
}
