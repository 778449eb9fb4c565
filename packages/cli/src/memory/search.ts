/** `strata memory search`: memories first, then passages of past conversations. Works offline. */
import type { Found, Memory } from "@strata/core/internal"
import { maskSecrets } from "@strata/core/internal/base/secrets/find-secrets"
import { projectDirectory } from "@strata/core/internal/journal/file/layout"
import { ageOf } from "@strata/core/internal/layers/5-auto-memory/age"
import { loadSearch } from "@strata/core/internal/recall/load-search"
import { firstLine, indented } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import { type Look, memoryRows } from "./page.ts"
import type { MemoryPlace } from "./place.ts"

const MOST = 10
/** Characters of a passage that are shown before what matched. */
const BEFORE_MATCH = 30

export interface FoundPassage {
  readonly conversation: string
  readonly message: string
  readonly speaker: "user" | "assistant"
  readonly time: string
  /** The message, or the part of a long one that fits. */
  readonly text: string
  /** Where in the text the match is. */
  readonly at: number
  readonly words: readonly string[]
}

export interface SearchFound {
  readonly memories: readonly {
    readonly memory: Memory
    readonly isReplaced: boolean
    readonly words: readonly string[]
  }[]
  readonly passages: readonly FoundPassage[]
}

export async function searchMemory({ bank, root, projects }: MemoryPlace, text: string): Promise<SearchFound> {
  const { JournalSearch, MemorySearch } = await loadSearch()
  const question = { text, now: new Date(), limit: MOST }
  const memories = new MemorySearch(await bank.all())
  const passages: Found[] = []
  for (const project of projects) {
    const journals = new JournalSearch({ directory: projectDirectory(root, project), mask: maskSecrets })
    passages.push(...(await journals.search({ ...question, isSaid: true })).answer.found)
    journals.close()
  }
  const found = memories.search({ ...question, includeRetired: true })
  memories.close()
  return {
    memories: found.map(({ memory, isRetired, words }) => ({ memory, isReplaced: isRetired, words })),
    passages: passages
      .sort((a, b) => b.score - a.score)
      .slice(0, MOST)
      .map(foundPassage),
  }
}

const foundPassage = ({ source, uuid, kind, time, text, at, words }: Found): FoundPassage => ({
  ...{ conversation: source, message: uuid, speaker: kind === "user" ? "user" : "assistant" },
  ...{ time, text, at, words },
})

export function searchPage({ memories, passages }: SearchFound, look: Look): readonly string[] {
  const { style, columns, now } = look
  if (memories.length + passages.length === 0) return ["Nothing in this project's memory or conversations fits."]
  const found = memories.map(({ memory }) => memory)
  const said = passages.flatMap(({ conversation, speaker, time, text, at }) => [
    `  ${conversation.slice(0, 8)}  ${speaker === "user" ? "you" : "the agent"}, ${ageOf(time, now)}`,
    ...indented([style.dim(firstLine(printable(lineAt(text, at)), columns - 6))], 6),
  ])
  return [
    ...(found.length === 0 ? [] : [style.bold("Memories"), ...memoryRows(found, look)]),
    ...(found.length === 0 || said.length === 0 ? [] : [""]),
    ...(said.length === 0 ? [] : [style.bold("Past conversations"), ...said]),
  ]
}

/** The line with what matched, from a little before it. */
function lineAt(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1
  if (at - start <= BEFORE_MATCH) return text.slice(start)
  const space = text.indexOf(" ", at - BEFORE_MATCH)
  return `… ${text.slice(space < 0 || space > at ? at : space + 1)}`
}
