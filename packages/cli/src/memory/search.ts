/** `strata memory search`: memories first, then passages of past conversations. Works offline. */
import type { FoundInConversation, Memory } from "@strata/core/internal"
import { maskSecrets } from "@strata/core/internal/base/secrets/find-secrets"
import { ageOf } from "@strata/core/internal/layers/5-auto-memory/age"
import { loadSearch } from "@strata/core/internal/recall/load-search"
import { firstLine, indented } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import { type Look, memoryRows } from "./page.ts"
import type { MemoryPlace } from "./place.ts"

const MOST = 10

export interface SearchFound {
  readonly memories: readonly {
    readonly memory: Memory
    readonly isReplaced: boolean
    readonly words: readonly string[]
  }[]
  readonly passages: readonly Omit<FoundInConversation, "score" | "coverage">[]
}

export async function searchMemory({ bank, root, projects }: MemoryPlace, text: string): Promise<SearchFound> {
  const { JournalIndex, MemorySearch } = await loadSearch()
  const question = { text, now: new Date(), limit: MOST }
  const memories = new MemorySearch(await bank.all())
  const passages: FoundInConversation[] = []
  for (const project of projects) {
    const journals = new JournalIndex({ root, project, mask: maskSecrets })
    passages.push(...(await journals.search(question)))
    journals.close()
  }
  const found = memories.search({ ...question, includeRetired: true })
  memories.close()
  return {
    memories: found.map(({ memory, isRetired, words }) => ({ memory, isReplaced: isRetired, words })),
    passages: passages
      .sort((a, b) => b.score - a.score)
      .slice(0, MOST)
      .map(({ score: _, coverage: __, ...passage }) => passage),
  }
}

export function searchPage({ memories, passages }: SearchFound, look: Look): readonly string[] {
  const { style, columns, now } = look
  if (memories.length + passages.length === 0) return ["Nothing in this project's memory or conversations fits."]
  const found = memories.map(({ memory }) => memory)
  const said = passages.flatMap(({ conversation, speaker, time, text }) => [
    `  ${conversation.slice(0, 8)}  ${speaker === "user" ? "you" : "the agent"}, ${ageOf(time, now)}`,
    ...indented([style.dim(firstLine(printable(text), columns - 6))], 6),
  ])
  return [
    ...(found.length === 0 ? [] : [style.bold("Memories"), ...memoryRows(found, look)]),
    ...(found.length === 0 || said.length === 0 ? [] : [""]),
    ...(said.length === 0 ? [] : [style.bold("Past conversations"), ...said]),
  ]
}
