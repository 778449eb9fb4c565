/** The journals of a place in memory as they grow. */
import type { AppendedLines, FeedLine, JournalFeed, JournalSize } from "../feed.ts"
import type { KeptJournal } from "./journal.ts"

interface FeedParts {
  /** Those of the place now, by id. */
  readonly journals: () => ReadonlyMap<string, KeptJournal>
  /** One of them. Looking for it among all would take long. */
  readonly journal: (id: string) => KeptJournal | undefined
  readonly listeners: Set<(appended: AppendedLines) => void>
}

export function feedInMemory({ journals, journal, listeners }: FeedParts): JournalFeed {
  const sizesOf = (all: Iterable<readonly [string, KeptJournal]>): ReadonlyMap<string, JournalSize> => {
    const sizes = [...all].map(
      ([id, kept]) => [id, { bytes: kept.bytes, touched: Date.parse(kept.touched) || 0 }] as const,
    )
    return new Map(sizes.sort(([, a], [, b]) => b.touched - a.touched))
  }
  const named = (id: string): readonly (readonly [string, KeptJournal])[] => {
    const kept = journal(id)
    return kept ? [[id, kept]] : []
  }
  return {
    look: async () => ({ journals: sizesOf(journals()), isAll: true, gone: [] }),
    sizes: async (ids) => sizesOf([...ids].flatMap(named)),
    forget() {},
    async *lines(id, from): AsyncGenerator<FeedLine> {
      let offset = 0
      for (const line of journal(id)?.lines ?? []) {
        if (offset >= from) yield { offset, bytes: line.subarray(0, -1), ended: true }
        offset += line.length
      }
    },
    onAppended(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close() {},
  }
}
