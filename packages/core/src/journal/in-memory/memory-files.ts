/** Memory files without a disk, for tests and experiments. */
import { MemoryChangedError } from "../../base/errors.ts"
import { checkedMemoryPath, type MemoryFiles } from "../memory-files.ts"

interface Kept {
  readonly text: string
  readonly modified: string
  readonly version: string
}

export function memoryFilesInMemory(location: string, now: () => Date): MemoryFiles {
  const files = new Map<string, Kept>()
  let writes = 0
  return {
    location,
    async list(under) {
      const isListed = (path: string) =>
        under === undefined ? !path.split("/").some((part) => part.startsWith(".")) : path.startsWith(`${under}/`)
      return [...files]
        .filter(([path]) => isListed(path))
        .map(([path, { text, modified, version }]) => ({ path, modified, version, bytes: Buffer.byteLength(text) }))
        .sort((a, b) => (a.path < b.path ? -1 : 1))
    },
    async read(path) {
      return files.get(checkedMemoryPath(path))?.text
    },
    async install(changes) {
      const changed = changes.filter(
        ({ path, expected }) =>
          expected !== undefined && expected !== (files.get(checkedMemoryPath(path))?.text ?? null),
      )
      if (changed.length > 0) throw new MemoryChangedError(changed.map(({ path }) => path))
      for (const { path, text } of changes) {
        if (text === undefined) files.delete(checkedMemoryPath(path))
        else files.set(checkedMemoryPath(path), { text, modified: now().toISOString(), version: String(++writes) })
      }
    },
  }
}
