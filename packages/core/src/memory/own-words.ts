/**
 * A memory in the person's words. Of a file that the agent wrote, only the rule is theirs: the lines **Why:** and **How to apply:**, the
 * name and the description are the agent's.
 *
 * A text is in someone's words if it consists of whole sentences that they wrote. Only filling words, the form of a word and the case may
 * differ. Half a sentence can say the opposite, and an addition can be someone else's, so neither counts.
 */

import { stemmer } from "stemmer"
import { sentenceParts, sentencesIn } from "../views/record/user-messages.ts"
import { isUserMemory, type Memory } from "./memory.ts"

const REMARK = /^\s*(?:[-*]\s+)?\*\*(?:Why|How to apply):?\*\*/im
const MAX_NAME_WORDS = 8

/** What the person said, without remarks of the agent. A file that they wrote or confirmed is theirs as a whole. */
export function ownText({ source, body }: Pick<Memory, "source" | "body">): string {
  return source.saidBy === "user" && source.message !== undefined ? ruleIn(body) : body
}

/** The text before the first remark. */
export function ruleIn(body: string): string {
  const at = body.search(REMARK)
  return (at < 0 ? body : body.slice(0, at)).trim()
}

/** A title for a text, made from its own words. */
export function titleOf(text: string): Pick<Memory, "name" | "description"> {
  const first = text.trim().split("\n")[0]!.trim()
  const words = first.split(/\s+/).slice(0, MAX_NAME_WORDS)
  return { name: words.join(" ").replace(/[.,;:!?]+$/, ""), description: first }
}

/** A memory of the person's with a name and a description from their words: a title that the agent made up would be shown as theirs. */
export function inTheirWords(memory: Memory, before?: Memory): Memory {
  if (!isUserMemory(memory)) return memory
  const isSame = before !== undefined && isUserMemory(before) && ruleIn(before.body) === ruleIn(memory.body)
  const { name, description } = isSame ? before : titleOf(ruleIn(memory.body))
  return { ...memory, name, description }
}

/** A sentence as it is compared. */
export type Statement = readonly string[]

/** Words that change nothing about what a sentence asks for. */
const FILLING: ReadonlySet<string> = new Set("a,an,the,please,bitte,ok,okay,so,and,also,just,i,user,that".split(","))
/** At the beginning of a sentence. */
const OPENING =
  /^(?:(?:no|yes|actually)[,:]\s+|(?:and|so|ok(?:ay)?|please|from now on|in (?:the )?future|going forward|for the record|remember(?: that)?|note(?: that)?)\b[,:]?\s+)+/iu
export const LIST_MARK = /^\s*(?:[-*+•]|\d+[.)])\s+/u
const QUOTED = /^\s*(?:["“„«'‘].*["”“»'’][.!]?|`[^`]*`[.!]?)\s*$/su
const MAX = 600 // characters; a longer sentence is pasted text

/** The sentences of a text that say something. Questions, quotations and fragments say nothing. */
export function statementsIn(text: string): readonly Statement[] {
  return sentencesIn(text)
    .filter((sentence) => sentence.length <= MAX && !/[?？؟]\W*$/u.test(sentence) && !QUOTED.test(sentence))
    .map(statementOf)
    .filter((words) => words.length >= 2 || /[^\p{ASCII}]{4,}/u.test(words.join("")))
}

/** Whether the text is made of these sentences, each whole. In any order: a text may repeat or leave out sentences. */
export function isMadeOf(text: string, statements: readonly Statement[]): boolean {
  const words = sentenceParts(text).flatMap(statementOf)
  if (words.length === 0) return false
  const reached = new Set([0])
  for (let at = 0; at < words.length; at++) {
    if (!reached.has(at)) continue
    for (const statement of statements)
      if (statement.every((word, offset) => words[at + offset] === word)) reached.add(at + statement.length)
  }
  return reached.has(words.length)
}

export function statementOf(sentence: string): Statement {
  return sentence
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "") // invisible characters could hide a word
    .replaceAll("’", "'")
    .replace(/[`*]/g, "")
    .replace(LIST_MARK, "")
    .trim()
    .replace(OPENING, "")
    .toLowerCase()
    .split(/\s+/u)
    .map((word) => word.replace(/^["'“”„«‘([]+|["'“”»’)\],;:.!?…。！？]+$/gu, ""))
    .filter((word) => word !== "" && !FILLING.has(word))
    .map((word) => (/^[a-z]{4,}$/.test(word) ? stemmer(word) : word))
}
