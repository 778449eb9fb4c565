/**
 * Which memories a written one takes the place of, at once and for every author: those it names, and those that say something else about the
 * same subject and attribute. The older file stays, with a pointer. What no one confirmed replaces nothing that the person said.
 */
import { isOverreach } from "./instruction-guard.ts"
import { isCurrent, isPersons, type Memory } from "./memory.ts"
import { relationOf } from "./relation.ts"

export interface Written {
  readonly memory: Memory
  /** As it was. Absent in a new file. */
  readonly before?: Memory | undefined
}

/** By older file, the file that takes its place. `others`: the memories that were there before and are not written now. */
export function successorsOf(written: readonly Written[], others: readonly Memory[]): ReadonlyMap<string, string> {
  const successors = new Map<string, string>()
  for (const { memory, before } of written) {
    const isNews = before?.body !== memory.body || isPersons(before) !== isPersons(memory)
    for (const older of others) {
      const isReplaced = isNamed(older, memory.supersedes) || (isNews && isCurrent(older) && isOutdated(older, memory))
      if (isReplaced && older.file !== memory.file && !isOverreach(memory, older))
        successors.set(older.file, memory.file)
    }
  }
  return successors
}

const isOutdated = (older: Memory, newer: Memory): boolean =>
  isCurrent(newer) && relationOf(older, newer) === "outdated"

/** A reference is a file, with or without its ending, or a name. */
export const isNamed = ({ file, name }: Memory, references: readonly string[] | undefined): boolean =>
  references?.some((reference) => file === reference || file === `${reference}.md` || name === reference) ?? false

/** The older memory with its pointer. It no longer claims to replace its successor. */
export function replaced({ supersedes, ...memory }: Memory, successor: string): Memory {
  const left = (supersedes ?? []).filter((file) => file !== successor)
  return { ...memory, ...(left.length > 0 ? { supersedes: left } : {}), supersededBy: successor }
}
