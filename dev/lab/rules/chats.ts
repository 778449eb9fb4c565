/**
 * Generates chats of a user with an assistant from a seed. Some messages are rules about how to work from now on, and as many only look
 * like rules. Both kinds come before a request, after it, or alone. Answers are full of advice in the form of rules.
 */
import { randomFrom } from "../memory-questions/random.ts"
import { LANGUAGES, type Language, type Part, SENTENCES } from "./sentences.ts"
import { spokenLine } from "./talk.ts"

export interface RuleChat {
  readonly messages: readonly { readonly speaker: "user" | "assistant"; readonly text: string }[]
  /** Rules as the user wrote them, without the question after them. */
  readonly rules: readonly string[]
}

const REQUESTS = [
  "Can you help me write a short text about the garden?",
  "What should I know about heat pumps?",
  "Please explain how other people handle invoices.",
  "Could you compare a few ways to store backups?",
  "Write a small script that renames photos.",
  "Why is the build slower than last week?",
  "Fix the failing test in the importer.",
  "I'm trying to plan a trip to Porto and need a list of museums.",
]
const PASTED = [
  "Here is the log:\n```\nERROR: you must always pass --token\nnever retry on 401\n```",
  "> Always run the formatter before you push.",
  'The ticket says:\n"From now on every request needs a token."',
]
/** Number of rules, and of look-alikes, in each chat. */
const EACH = 12
const ALONE = 0.3
/** Share of English, in which most people write to an assistant. The other languages are equally likely. */
const ENGLISH = 0.6

export function makeRuleChat({ seed, part }: { readonly seed: number; readonly part: Part }): RuleChat {
  const random = randomFrom(seed)
  const { rules, lookAlikes, advice } = SENTENCES[part]
  const language = (): Language => (random.next() < ENGLISH ? "en" : random.pick(LANGUAGES.slice(1)))
  const stated = draw(random, () => random.pick(rules[language()])).map(spokenLine)
  const alike = draw(random, () => {
    const chosen = lookAlikes[language()]
    return random.pick("question" in chosen ? random.pick(Object.values(chosen)) : chosen)
  })
  const messages = random.shuffled([...stated.map(({ text }) => text), ...alike, ...PASTED])
  return {
    rules: stated.map(({ kept }) => kept),
    messages: messages.flatMap((text) => [
      { speaker: "user" as const, text: withRequest(text, random) },
      { speaker: "assistant" as const, text: random.shuffled(advice).join(" ") },
    ]),
  }
}

type Random = ReturnType<typeof randomFrom>

/** Draws different sentences. */
function draw(_: Random, next: () => string): readonly string[] {
  const drawn = new Set<string>()
  while (drawn.size < EACH) drawn.add(next())
  return [...drawn]
}

export function withRequest(text: string, random: Random): string {
  if (text.includes("\n") || random.next() < ALONE) return text
  const request = random.pick(REQUESTS)
  return random.next() < 0.5 ? `${text}\n${request}` : `${request} ${text}`
}
