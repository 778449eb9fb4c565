/** What a program may meet that walks a directory or reads file names from a pipe: links that lead elsewhere, and names that are no plain names. */
import type { Disk } from "./disk.ts"

const MOST_LINKS_FOLLOWED = 200

export interface Below {
  /** Where the links below it lead, and where the links there lead. */
  readonly links: readonly string[]
  /** A name that `xargs` would split, or that a program could take for an option. */
  readonly oddName: string | undefined
}

/** `undefined`: there is too much below it to know. */
export function lookBelow(place: string, disk: Disk): Below | undefined {
  const links = new Set<string>()
  const pending = [place]
  const seen = new Set<string>()
  let oddName: string | undefined
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (seen.has(directory) || disk.kindOf(directory) !== "directory") continue
    seen.add(directory)
    const entries = disk.list(directory)
    if (!entries) return disk.isExhausted ? undefined : { links: [...links], oddName }
    for (const entry of entries) {
      const path = `${directory === "/" ? "" : directory}/${entry.name}`
      if (/[\s'"\\]|^-|\ufffd/.test(entry.name)) oddName ??= entry.name
      if (entry.isDirectory()) pending.push(path)
      if (!entry.isSymbolicLink()) continue
      const target = disk.realPath(path)
      if (target === undefined || links.size > MOST_LINKS_FOLLOWED) return undefined
      links.add(target)
      pending.push(target)
    }
  }
  return { links: [...links], oddName }
}
