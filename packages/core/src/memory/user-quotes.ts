/**
 * The user's own wording in a memory. In a file that the agent wrote, only the rule is the user's: the lines **Why:** and **How to
 * apply:**, the name and the description are the agent's.
 *
 * A text is a quote of the user if it consists of complete sentences that the user wrote. Only filler words, inflections and case may
 * differ. Half a sentence can mean the opposite, and an addition can come from someone else, so neither is accepted.
 */

import { stemmer } from "stemmer"
import { sentenceParts, splitSentences } from "../views/record/user-messages.ts"
import { isUserMemory, type Memory } from "./memory.ts"

const REMARK = /^\s*(?:[-*]\s+)?\*\*(?:Why|How to apply):?\*\*/im
const MAX_NAME_WORDS = 8

/** The user's wording, without remarks of the agent. A file that the user wrote or confirmed is entirely the user's. */
export function userWording({ source, body }: Pick<Memory, "source" | "body">): string {
  return source.saidBy === "user" && source.message !== undefined ? withoutRemarks(body) : body
}

/** The text before the first remark. */
export function withoutRemarks(body: string): string {
  const at = body.search(REMARK)
  return (at < 0 ? body : body.slice(0, at)).trim()
}

/** A title for a text, taken from its own words. */
export function titleFrom(text: string): Pick<Memory, "name" | "description"> {
  const first = text.trim().split("\n")[0]!.trim()
  const nameWords = first.split(/\s+/).slice(0, MAX_NAME_WORDS)
  return { name: nameWords.join(" ").replace(/[.,;:!?]+$/, ""), description: first }
}

/**
 * A user's memory with name and description taken from the user's wording, so that a title made up by the agent is not shown as the
 * user's.
 */
export function withUserTitle(memory: Memory, before?: Memory): Memory {
  if (!isUserMemory(memory)) return memory
  const isSame =
    before !== undefined && isUserMemory(before) && withoutRemarks(before.body) === withoutRemarks(memory.body)
  const { name, description } = isSame ? before : titleFrom(withoutRemarks(memory.body))
  return { ...memory, name, description }
}

/** The normalised words of a sentence, for comparison. */
export type StatementWords = readonly string[]

/** Words that do not change what a sentence asks for. */
const FILLER_WORDS: ReadonlySet<string> = new Set(
  "a,an,the,please,bitte,ok,okay,so,and,also,just,i,user,that".split(","),
)
/** Phrases that introduce a sentence. */
const OPENING_PHRASE =
  /^(?:(?:no|yes|actually)[,:]\s+|(?:and|so|ok(?:ay)?|please|from now on|in (?:the )?future|going forward|for the record|remember(?: that)?|note(?: that)?)\b[,:]?\s+)+/iu
export const LIST_MARK = /^\s*(?:[-*+•]|\d+[.)])\s+/u
const QUOTED = /^\s*(?:["“„«'‘].*["”“»'’][.!]?|`[^`]*`[.!]?)\s*$/su
const MAX_SENTENCE = 600 // characters; a longer sentence is pasted text

/** The statements in a text. Questions, quotations and fragments are not statements. */
export function parseStatements(text: string): readonly StatementWords[] {
  return splitSentences(text)
    .filter((sentence) => sentence.length <= MAX_SENTENCE && !/[?？؟]\W*$/u.test(sentence) && !QUOTED.test(sentence))
    .map(toStatement)
    .filter((words) => words.length >= 2 || /[^\p{ASCII}]{4,}/u.test(words.join("")))
}

/** Whether the text consists of these sentences, each complete. Order does not matter, and sentences may be repeated or left out. */
export function isComposedOf(text: string, statements: readonly StatementWords[]): boolean {
  const words = sentenceParts(text).flatMap(toStatement)
  if (words.length === 0) return false
  const reached = new Set([0])
  for (let at = 0; at < words.length; at++) {
    if (!reached.has(at)) continue
    for (const statement of statements)
      if (statement.every((word, offset) => words[at + offset] === word)) reached.add(at + statement.length)
  }
  return reached.has(words.length)
}

export function toStatement(sentence: string): StatementWords {
  return sentence
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "") // invisible characters could hide a word
    .replaceAll("’", "'")
    .replace(/[`*]/g, "")
    .replace(LIST_MARK, "")
    .trim()
    .replace(OPENING_PHRASE, "")
    .toLowerCase()
    .split(/\s+/u)
    .map((word) => word.replace(/^["'“”„«‘([]+|["'“”»’)\],;:.!?…。！？]+$/gu, ""))
    .filter((word) => word !== "" && !FILLER_WORDS.has(word))
    .map((word) => (/^[a-z]{4,}$/.test(word) ? stemmer(word) : word))
}
