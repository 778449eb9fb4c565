/**
 * What a person asked a summary to keep, without a model: the sentences and lines of the conversation that share most terms with the
 * request, newest first where they share as many. They are quoted, never written.
 */
import type { Steps } from "../../base/in-slices.ts"
import { quote } from "./document.ts"
import type { Budget, ReadMessage } from "./read-message.ts"
import { sentencesOf } from "./text-parts.ts"
import { type Moment, timelineSteps } from "./timeline.ts"

const LONGEST = 400 // characters; more is data, not a sentence
const MOST = 20
const TERM = /[\p{L}\p{N}_]{3,}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2}/gu
/** Terms of almost every such request. They say nothing about what is meant. */
const COMMON: ReadonlySet<string> = new Set(
  "all and any everything focus for from keep please remember summary that the them these this those with about what which sure not".split(
    " ",
  ),
)

export function* quotesAbout(
  messages: readonly ReadMessage[],
  wanted: string,
  budget: Budget,
): Steps<readonly string[]> {
  const terms = termsOf(wanted)
  if (terms.size === 0) return []
  const found = new Map<string, number>()
  for (const text of (yield* timelineSteps(messages)).flatMap(textsOf)) {
    yield
    for (const sentence of sentencesOf(text)) {
      if (sentence.length > LONGEST) continue
      const shared = [...termsOf(sentence)].filter((term) => terms.has(term)).length
      found.delete(sentence) // the newest place counts
      if (shared > 0) found.set(sentence, shared)
    }
  }
  const order = [...found.keys()]
  const ranked = [...found].toReversed().toSorted(([, a], [, b]) => b - a)
  const chosen = new Set<string>()
  let left = budget.tokens
  for (const [sentence] of ranked) {
    const tokens = budget.tokensOf(`   - ${quote(sentence)}\n`)
    if (tokens > left) continue
    left -= tokens
    chosen.add(sentence)
    if (chosen.size === MOST) break
  }
  return order.filter((sentence) => chosen.has(sentence)).map(quote)
}

/** In lower case and without a plural: "ports" asks for the port too. */
function termsOf(text: string): ReadonlySet<string> {
  const terms = text.toLowerCase().match(TERM) ?? []
  return new Set(terms.filter((term) => !COMMON.has(term)).map((term) => term.replace(/(?<=\p{L}{3})s$/u, "")))
}

function textsOf(moment: Moment): readonly string[] {
  if (moment.kind === "call") return moment.call.result ? [moment.call.result.text] : []
  return moment.kind === "human" || moment.kind === "assistant" ? [moment.text] : []
}
