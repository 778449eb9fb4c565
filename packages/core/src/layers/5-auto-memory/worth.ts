/** Whether enough was said for an extraction. Most messages only ask for work and leave nothing to keep, and a fork costs money. */
import type { Word } from "../../views/record/words.ts"

/** What people say about themselves, their team, a decision, a date, a place, or a mistake of the agent. */
const TELLING = new RegExp(
  [
    String.raw`\bI(?:['’]m| am| was| work| know| use| like| want| need| prefer| hate)\b`,
    String.raw`\b(?:my|our) (?:name|team|role|job|company|boss|customers?|users?|deadline|release|goal)\b`,
    String.raw`\bwe (?:use|decided|agreed|chose|want|need|plan|have to|are going to|will|switched|moved)\b`,
    String.raw`\b(?:ich (?:bin|arbeite|kenne|nutze|mag|will)|wir (?:nutzen|haben|wollen|planen)|merk dir|je suis|nous|yo soy|soy)\b`,
    String.raw`\b(?:actually|instead|wrong|not what|no longer|any ?more|rather than|stop|call me|remember|note that|for the record)\b`,
    String.raw`\b(?:deadline|due|release|freeze|until|by (?:mon|tues|wednes|thurs|fri|satur|sun)day|next (?:week|month|quarter))\b`,
    "https?://",
    String.raw`\b\d{4}-\d{2}-\d{2}\b`,
  ].join("|"),
  "iu",
)
const LONG_MESSAGE = 1_500 // characters; who writes this much explains something

/** `most`: after so many messages an extraction runs, whatever they say. */
export function isWorthExtracting(words: readonly Word[], most: number): boolean {
  return words.length >= most || words.some(({ text, rules }) => rules.length > 0 || saysSomething(text))
}

const saysSomething = (text: string) => text.length >= LONG_MESSAGE || TELLING.test(text)
