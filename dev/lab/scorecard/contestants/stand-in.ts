/**
 * Replaces the model when a contestant requests a summary. It returns the sentences with the rarest words, in their original order, up to a
 * number of tokens. It is the same for all contestants, and much worse than a model.
 */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { type Contestant, listRun } from "../run.ts"
import { textOf, user } from "../session.ts"

/** Matches prefixes of lines in rendered conversations: list items, quotes, labels and roles. */
const PREFIX = /^\s*(?:[-*>] |\[[^\]\n]{1,40}\]:? |(?:Human|AI|Assistant|User|Tool|System)(?: result)?: )+/i

interface StandInOptions {
  /** Size of the summary in tokens. */
  readonly tokens: number
  /** The conversation without the instructions around it. */
  readonly source: () => string
}

export function standIn(prompt: string, { tokens, source }: StandInOptions): string {
  const known = source()
  const sentences = [...new Set(prompt.split("\n").flatMap((line) => sentencesOf(line.replace(PREFIX, ""))))].filter(
    (sentence) => sentence.length > 8 && known.includes(sentence),
  )
  const words = sentences.map(wordsOf)
  const frequency = new Map<string, number>()
  for (const word of words.flat()) frequency.set(word, (frequency.get(word) ?? 0) + 1)
  const rarity = (word: string) => Math.log(sentences.length / frequency.get(word)!)
  const ranked = sentences
    .map((sentence, at) => ({ sentence, at, tokens: countTokens(sentence) + 1, own: words[at]! }))
    .map((one) => ({ ...one, worth: one.own.reduce((sum, word) => sum + rarity(word), 0) / one.tokens }))
    .toSorted((a, b) => b.worth - a.worth || a.at - b.at)
  let left = tokens
  const chosen = ranked.filter((one) => {
    if (one.tokens > left) return false
    left -= one.tokens
    return true
  })
  return chosen
    .toSorted((a, b) => a.at - b.at)
    .map(({ sentence }) => sentence)
    .join("\n")
}

const sentencesOf = (line: string): readonly string[] =>
  line.split(/(?<=[.!?])\s+(?=[A-Z])/).map((sentence) => sentence.trim())
const wordsOf = (sentence: string): readonly string[] => [...new Set(sentence.toLowerCase().match(/[\w$-]+/g) ?? [])]

/** The stand-in alone, which shows how much of the other contestants' scores is due to it. */
export const STAND_IN: Contestant = {
  ...{ name: "stand-in alone", call: "the sentences with the rarest words", takesBudget: true, hasStandIn: true },
  start: async ({ budget }) =>
    listRun(async (messages) => {
      const text = textOf(messages)
      return [user(standIn(text, { tokens: budget - MESSAGE, source: () => text }))]
    }),
}

const MESSAGE = 5 // tokens that a message adds to its text
