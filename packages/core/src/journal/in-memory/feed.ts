/** The journals of a place in memory as they grow. */
import type { AppendedLines, FeedLine, JournalFeed, JournalSize } from "../feed.ts"
import { type KeptJournal, timeOf } from "./journal.ts"

interface FeedParts {
  /** Those of the place now, by id. */
  readonly journals: () => ReadonlyMap<string, KeptJournal>
  readonly listeners: Set<(appended: AppendedLines) => void>
}

export function feedInMemory({ journals, listeners }: FeedParts): JournalFeed {
  const sizesOf = (isWanted: (id: string) => boolean): ReadonlyMap<string, JournalSize> => {
    const sizes = [...journals()]
      .filter(([id]) => isWanted(id))
      .map(([id, kept]) => [id, { bytes: kept.bytes, touched: Date.parse(timeOf(kept)) || 0 }] as const)
    return new Map(sizes.sort(([, a], [, b]) => b.touched - a.touched))
  }
  return {
    look: async () => ({ journals: sizesOf(() => true), isAll: true, gone: [] }),
    sizes: async (ids) => sizesOf((id) => ids.has(id)),
    forget() {},
    async *lines(id, from): AsyncGenerator<FeedLine> {
      let offset = 0
      for (const line of journals().get(id)?.lines ?? []) {
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
