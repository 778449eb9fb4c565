/** Expands file patterns on the disk as the shell does. */
import type { Dirent } from "node:fs"
import { type Disk, isInvalidName } from "./disk.ts"
import type { SmallWord } from "./small-language.ts"

const MAX_NAMES = 2_000

export interface PatternExpansion {
  /** Resulting arguments. `undefined` if unknown, or if a name could be taken as an option: `*` may match a file named `-o`. */
  readonly names: readonly string[] | undefined
  /** Directories in which names were matched. */
  readonly listed: readonly string[]
}

/** Expands a pattern. A pattern without matches remains unchanged. */
export function expandPattern(
  { text, pattern = [] }: SmallWord,
  { directory, disk }: { readonly directory: string; readonly disk: Disk },
): PatternExpansion {
  const listed = new Set<string>()
  let found: readonly string[] = [""]
  for (const [at, part] of pattern.entries()) {
    const separator = at === 0 ? "" : "/"
    const isPattern = /(?:^|[^\\])(?:\\\\)*\./.test(part)
    const next: string[] = []
    for (const before of found) {
      if (!isPattern) {
        next.push(`${before}${separator}${part.replace(/\\(.)/g, "$1")}`)
        continue
      }
      const place = disk.realPath(pathOf(`${before}${separator}`, directory))
      const entries = place === undefined ? undefined : disk.list(place)
      if (place !== undefined) listed.add(place)
      if (!entries) {
        if (disk.isExhausted) return { names: undefined, listed: [...listed] }
        continue // not a directory
      }
      const form = new RegExp(`^${part}$`, "s")
      // dash, and bash before 5.2, match `.` and `..` too
      const all = part.startsWith("\\.") ? [".", "..", ...entries.map(({ name }) => name)] : visibleIn(entries)
      if (all.some(isInvalidName)) return { names: undefined, listed: [...listed] }
      for (const name of all) if (form.test(name)) next.push(`${before}${separator}${name}`)
    }
    found = next
    if (found.length > MAX_NAMES) return { names: undefined, listed: [...listed] }
  }
  const there = found.filter((name) => disk.isThere(pathOf(name, directory)))
  if (there.some((name) => name.startsWith("-"))) return { names: undefined, listed: [...listed] }
  return { names: there.length === 0 ? [text] : there.toSorted(byBytes), listed: [...listed] }
}

const visibleIn = (entries: readonly Dirent[]): readonly string[] =>
  entries.flatMap(({ name }) => (name.startsWith(".") ? [] : [name]))

/** Byte order, as the shell sorts with LC_COLLATE=C. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const pathOf = (text: string, directory: string): string => (text.startsWith("/") ? text : `${directory}/${text}`)
