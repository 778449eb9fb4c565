/**
 * Finds lasting rules in what a person typed: sentences addressed to the agent about how to work from now on, in later conversations too.
 * The form of a sentence decides, not a word in it. These do not count: a question, a wish about the task at hand, a quotation, what someone
 * else says, what was, and what would be.
 */
import { isRuleElsewhere } from "./lasting-rules-elsewhere.ts"
import { englishRule, isEnglishRequest, type RuleLikeness } from "./lasting-rules-english.ts"
import { sentencesIn } from "./sentences.ts"
import { ownPart } from "./task-material.ts"
import { typedLines } from "./typed-text.ts"

const LONGEST = 400 // characters; a longer sentence is pasted text
const SHORTEST = 4
const LIST_MARK = /^\s*(?:[-*+•]|\d+[.)])\s+/u
const QUOTATION =
  /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|‘[^’\n]{8,}’|(?<![\p{L}\p{N}])'[^'\n]{8,}'(?![\p{L}\p{N}])/gu
/** Of a quotation, two words can be a name. More say something, and it is not the person who says it. */
const SHORT_QUOTATION = /^.(?:[^\s]+\s?){1,2}.$/u

export function lastingRules(text: string): readonly string[] {
  const sentences = sentencesIn(typedLines(text).join("\n"))
    .map((sentence) => sentence.replace(LIST_MARK, "").trim())
    .filter((sentence) => sentence.length >= SHORTEST)
    .map((sentence) => ({ sentence, likeness: likenessOf(sentence) }))
  const isWork = sentences.some(({ sentence, likeness }) => likeness === "none" && isEnglishRequest(plainOf(sentence)))
  return sentences
    .filter(({ likeness }) => likeness === "rule" || (likeness === "alone" && !isWork))
    .map(({ sentence }) => sentence)
}

function likenessOf(sentence: string): RuleLikeness {
  if (sentence.length > LONGEST) return "none"
  const plain = ownPart(plainOf(sentence))
  const english = englishRule(plain)
  return english !== "rule" && isRuleElsewhere(plain) ? "rule" : english
}

const plainOf = (sentence: string) =>
  sentence
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replaceAll("’", "'")
    .replace(QUOTATION, (quoted) => (SHORT_QUOTATION.test(quoted) ? "it" : "…"))
    .replace(/[`*_]/g, "")
    .replace(/\s+/gu, " ")
    .trim()
