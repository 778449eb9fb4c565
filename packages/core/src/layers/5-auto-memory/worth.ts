/**
 * Whether enough was said for an extraction. A message that only asks for work, or asks something, leaves nothing to keep. The form of its
 * sentences decides: one that states something may matter later. What it may cost is decided elsewhere.
 */
import { isEnglishRequest } from "../../views/record/lasting-rules-english.ts"
import { sentencesIn } from "../../views/record/sentences.ts"
import { typedLines } from "../../views/record/typed-text.ts"
import type { Word } from "../../views/record/words.ts"

const LONG_MESSAGE = 1_500 // characters; who writes this much explains something
const LEAST_WORDS = 4
const LEAST_LETTERS = 6 // in scripts without spaces
const QUESTION = /[?？؟]\W*$/u

/** `most`: after so many messages an extraction runs, whatever they say. */
export function isWorthExtracting(words: readonly Pick<Word, "text">[], most: number): boolean {
  return words.length >= most || words.some(({ text }) => text.length >= LONG_MESSAGE || statesSomething(text))
}

const statesSomething = (text: string) => sentencesIn(typedLines(text).join("\n")).some(isStatement)

const isStatement = (sentence: string) =>
  !QUESTION.test(sentence) && isLongEnough(sentence) && !isEnglishRequest(sentence.trim())

const isLongEnough = (sentence: string) =>
  sentence.trim().split(/\s+/u).length >= LEAST_WORDS ||
  (sentence.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu)?.length ??
    0) >= LEAST_LETTERS
