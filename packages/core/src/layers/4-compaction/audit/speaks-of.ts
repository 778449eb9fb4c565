/**
 * Whether a summary speaks of the messages it replaces. The record carries facts whatever the summary says, so a summary about something
 * else would look complete. Words that fit any conversation prove nothing, neither for nor against it.
 */
import type { Source } from "./source.ts"
import { contentWords, isStopWord, stem, tokensOf } from "./text.ts"

const FEWEST_WORDS = 2 // of its own: one proves nothing
const ENOUGH_WORDS = 3 // of the conversation
const LEAST_SHARE = 0.1 // of its own words, where it has few
const ANYWHERE = contentWords(
  "summary conversation session primary request intent key technical concepts files code sections errors fixes problem solving all user messages pending tasks current work optional next step completed context continuing help part go went going start end finish done proceed progress far state title specification functions workflow corrections codebase system documentation learnings results worklog",
)

export function speaksOf(summary: string, { index }: Source): boolean {
  const own = new Map(tokensOf(summary).map((token) => [stem(token), token]))
  for (const [word, token] of own) if (ANYWHERE.has(word) || isStopWord(token) || /^\d+$/.test(token)) own.delete(word)
  if (own.size < FEWEST_WORDS) return true
  const enough = Math.min(ENOUGH_WORDS, own.size * LEAST_SHARE)
  const found = new Set<string>()
  for (const [word, token] of own) if (index.at(token).length > 0) found.add(word)
  // the same word with another ending: only where that can still decide
  if (found.size < enough)
    for (const token of index.words()) {
      const word = stem(token)
      if (own.has(word) && found.add(word).size >= enough) break
    }
  return found.size >= enough
}
