/** The files that a file pattern names, as the shell finds them on the disk. */
import type { Dirent } from "node:fs"
import { type Disk, isNoText } from "./disk.ts"
import type { SmallWord } from "./small-language.ts"

const MAX_NAMES = 2_000

export interface Expansion {
  /** The words that the program gets. `undefined`: not known, or a name could be taken for an option: `*` may find a file called `-o`. */
  readonly names: readonly string[] | undefined
  /** The directories in which names were looked up. */
  readonly listed: readonly string[]
}

/** A pattern without a match stays as it is. */
export function expandPattern(
  { text, pattern = [] }: SmallWord,
  { directory, disk }: { readonly directory: string; readonly disk: Disk },
): Expansion {
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
        continue // a file has nothing below it
      }
      const form = new RegExp(`^${part}$`, "s")
      // dash, and bash before 5.2, find `.` and `..` too
      const all = part.startsWith("\\.") ? [".", "..", ...entries.map(({ name }) => name)] : visibleIn(entries)
      if (all.some(isNoText)) return { names: undefined, listed: [...listed] }
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

/** As the shell sorts them where LC_COLLATE is C. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const pathOf = (text: string, directory: string): string => (text.startsWith("/") ? text : `${directory}/${text}`)
