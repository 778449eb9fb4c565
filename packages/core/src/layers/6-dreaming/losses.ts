/** How much a dream would take out of view. More than a quarter at once needs the person's consent. */
import { isCurrent, type Memory } from "../../memory/memory.ts"
import { share, wordsOf } from "./check-provenance.ts"
import { normalName } from "./check-supersession.ts"

const MOST_LOST = 1 / 4
const REPLACED = 0.5 // share of a memory's words that its successor must have
const GUTTED = 1 / 4 // of its words are left

export interface Losses {
  readonly files: readonly string[]
  /** Memories before the dream. */
  readonly of: number
  readonly needsConsent: boolean
}

/**
 * A removed memory counts, and so does one that a dream empties or replaces by something else: "62 files became 3, all is well" must not
 * pass because the files are still there.
 */
export function lossesOf(before: readonly Memory[], after: readonly Memory[]): Losses {
  const now = new Map(after.map((memory) => [memory.file, memory]))
  const files = before.filter((memory) => isLost(memory, now)).map(({ file }) => file)
  return { files, of: before.length, needsConsent: files.length > before.length * MOST_LOST }
}

function isLost(memory: Memory, now: ReadonlyMap<string, Memory>): boolean {
  const left = now.get(memory.file)
  if (!left) return true
  if (!isCurrent(memory)) return false // it was out of view already
  const words = wordsOf(memory.body)
  if (left.supersededBy === undefined)
    return words.size > 0 && share(words, wordsOf(left.body)) < GUTTED && !isMoved(words, now)
  const successor = now.get(left.supersededBy)
  if (!successor) return true
  return normalName(successor.name) !== normalName(memory.name) && share(words, wordsOf(successor.body)) < REPLACED
}

/** Whether another memory has most of the words now. */
const isMoved = (words: ReadonlySet<string>, now: ReadonlyMap<string, Memory>): boolean =>
  [...now.values()].some((memory) => share(words, wordsOf(memory.body)) >= 1 - GUTTED)
