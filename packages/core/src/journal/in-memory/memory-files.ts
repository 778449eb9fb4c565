/** Memory files in memory. */
import { MemoryChangedError } from "../../base/errors.ts"
import {
  checkMemoryText,
  type MemoryFileListing,
  type MemoryFiles,
  type MemoryFilesWatch,
  validateMemoryPath,
} from "../memory-files.ts"

interface StoredText {
  readonly text: string
  readonly modified: string
  readonly version: string
}

/** The stored data of a memory namespace. */
export interface StoredMemory {
  readonly files: Map<string, StoredText>
  /** When the memories were last consolidated. */
  consolidated: Date | undefined
  /** Number of changes so far. */
  writes: number
}

interface InMemoryFilesOptions {
  readonly location: string
  readonly now: () => Date
}

export const newMemory = (): StoredMemory => ({
  files: new Map(),
  consolidated: undefined,
  writes: 0,
})

export function memoryFilesInMemory(kept: StoredMemory, { location, now }: InMemoryFilesOptions): MemoryFiles {
  const { files } = kept

  const listingOf = (path: string, { text, modified, version }: StoredText): MemoryFileListing => ({
    ...{ path, modified, version },
    bytes: Buffer.byteLength(text),
  })
  const listed = (under: string | undefined) => {
    if (under !== undefined) validateMemoryPath(under)
    const isListed = (path: string) =>
      under === undefined ? !path.split("/").some((part) => part.startsWith(".")) : path.startsWith(`${under}/`)
    return [...files]
      .filter(([path]) => isListed(path))
      .map(([path, kept]) => listingOf(path, kept))
      .sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  return {
    location,
    async list(under) {
      return listed(under)
    },
    async read(path) {
      return files.get(validateMemoryPath(path))?.text
    },
    async readAll({ folders, paths: given = [], guard, knownVersions, maxBytes = Number.POSITIVE_INFINITY }) {
      const paths = guard === undefined ? given : [...given, guard]
      const single = paths.flatMap((path) => {
        const kept = files.get(validateMemoryPath(path))
        return kept ? [listingOf(path, kept)] : []
      })
      const wanted = new Map([...folders.flatMap(listed), ...single].map((listing) => [listing.path, listing]))
      return [...wanted.values()].map((listing) => {
        const isLeftOut = knownVersions?.get(listing.path) === listing.version || listing.bytes > maxBytes
        return isLeftOut ? listing : { ...listing, text: files.get(listing.path)!.text }
      })
    },
    async install(changes) {
      for (const { path, text } of changes) checkMemoryText(validateMemoryPath(path), text)
      const changed = changes.filter(
        ({ path, expected }) => expected !== undefined && expected !== (files.get(path)?.text ?? null),
      )
      if (changed.length > 0) throw new MemoryChangedError(changed.map(({ path }) => path))
      for (const { path, text } of changes) {
        if (text === files.get(path)?.text) continue
        kept.writes++
        if (text === undefined) files.delete(path)
        else files.set(path, { text, modified: now().toISOString(), version: String(kept.writes) })
      }
      return { skipped: [] }
    },
    watch: () => watchOf(() => kept.writes),
  }
}

function watchOf(writes: () => number): MemoryFilesWatch {
  let seen: number | undefined
  return {
    isUnchanged: async () => seen === writes(),
    async follow() {
      const isSame = seen === writes()
      seen = writes()
      return isSame
    },
    close() {},
  }
}
