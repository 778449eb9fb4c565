/**
 * Whether a summary speaks of the messages it replaces. The record carries facts whatever the summary says, so a summary about something
 * else, or about nothing, would look complete. What counts are words that were said, thought or typed into tools in these messages, exact
 * names and numbers from anywhere in them, and words that tools returned again and again. In pages of tool output nearly every other word
 * occurs by chance.
 */
import { namesIn } from "./names-in.ts"
import { ownWords } from "./own-words.ts"
import type { Source } from "./source.ts"
import { stem, tokensOf } from "./text.ts"

const MOST_WANTED = 3 // words of the conversation: a summary of a long one has more
const WORDS_FOR_ONE = 20 // said in the conversation: of a short one, fewer are wanted
const OFTEN = 5 // times
const EXACT_NUMBER = /^\d{3,}$/
const NUMBER = /^\d+$/

export function speaksOf(summary: string, { index, spoken }: Pick<Source, "index" | "spoken">): boolean {
  const wanted = Math.min(MOST_WANTED, Math.ceil(spoken.size / WORDS_FOR_ONE))
  if (wanted === 0) return true
  const found = new Set<string>()
  const own = new Set(ownWords(summary))
  for (const token of new Set(tokensOf(summary))) {
    const word = stem(token)
    const isFound = EXACT_NUMBER.test(token)
      ? index.at(token).length > 0
      : own.has(word) && (spoken.has(word) || index.at(token).length >= OFTEN)
    if (isFound && found.add(word).size >= wanted) return true
  }
  for (const { text } of namesIn(summary)) {
    const tokens = tokensOf(text)
    if (tokens.every((token) => NUMBER.test(token)) || !index.has(tokens)) continue
    if (found.add(text).size >= wanted) return true
  }
  return false
}
