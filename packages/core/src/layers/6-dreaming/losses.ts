/** How much a dream would take out of view. More than a quarter at once needs the person's consent. */
import { isCurrent, type Memory } from "../../memory/memory.ts"
import { share, wordsOf } from "./check-provenance.ts"

const MOST_LOST = 1 / 4
const GUTTED = 1 / 4 // of its words are left

export interface Losses {
  readonly files: readonly string[]
  /** Memories in view before the dream. */
  readonly of: number
  readonly needsConsent: boolean
}

/**
 * Every memory that leaves the index counts, however alike the one is that takes its place, and so does one that a dream empties: "62 files
 * became 3, all is well" must not pass.
 */
export function lossesOf(before: readonly Memory[], after: readonly Memory[]): Losses {
  const now = new Map(after.map((memory) => [memory.file, memory]))
  const files = before.filter((memory) => isLost(memory, now.get(memory.file))).map(({ file }) => file)
  const of = before.filter(isCurrent).length
  return { files, of, needsConsent: files.length > of * MOST_LOST }
}

function isLost(memory: Memory, left: Memory | undefined): boolean {
  if (!left) return true
  if (!isCurrent(memory)) return false // it was out of view already
  const words = wordsOf(memory.body)
  return !isCurrent(left) || (words.size > 0 && share(words, wordsOf(left.body)) < GUTTED)
}
