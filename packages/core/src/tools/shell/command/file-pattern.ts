/** The files that a file pattern names, as the shell finds them on the disk. */
import type { Disk } from "./disk.ts"
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
      const name = new RegExp(`^${part}$`, "s")
      const isShown = (entry: string) => name.test(entry) && (!entry.startsWith(".") || part.startsWith("\\."))
      for (const entry of entries) if (isShown(entry.name)) next.push(`${before}${separator}${entry.name}`)
    }
    found = next
    if (found.length > MAX_NAMES) return { names: undefined, listed: [...listed] }
  }
  const names = found.length === 0 ? [text] : found.some((name) => name.startsWith("-")) ? undefined : [...found].sort()
  return { names, listed: [...listed] }
}

const pathOf = (text: string, directory: string): string => (text.startsWith("/") ? text : `${directory}/${text}`)
