/** Generates chats from a seed in which a user states identity, preferences and rules, between code, logs and passing remarks. */
import { randomFrom } from "../memory-questions/random.ts"
import { type RuleChat, withRequest } from "./chats.ts"
import { type Part, SENTENCES } from "./sentences.ts"
import { type RuleTalk, SPOKEN, type SpokenLine, spokenLine, TALKS } from "./talk.ts"

export const STATEMENT_KINDS = ["rules", "preferences", "facts", "places"] as const
type StatementKind = (typeof STATEMENT_KINDS)[number]
/** Number of messages of each kind in each chat. */
const EACH = { rules: 5, preferences: 8, facts: 5, places: 2, passing: 14, pasted: 4 } as const

export interface TalkChat {
  readonly messages: RuleChat["messages"]
  /** Statements that should be stored as memories. */
  readonly stated: Readonly<Record<StatementKind, readonly string[]>>
}

export const spokenLines = (lines: RuleTalk["facts"]): readonly SpokenLine[] =>
  SPOKEN.flatMap((language) => lines[language].map(spokenLine))

export function makeTalkChat({ seed, part }: { readonly seed: number; readonly part: Part }): TalkChat {
  const random = randomFrom(seed)
  const talk = TALKS[part]
  const drawn = <T>(from: readonly T[], count: number) => random.shuffled(from).slice(0, count)
  const stated = {
    rules: drawn(SENTENCES[part].rules.en, EACH.rules).map((text) => ({ text, kept: text })),
    preferences: drawn(spokenLines(talk.preferences), EACH.preferences),
    facts: drawn(spokenLines(talk.facts), EACH.facts),
    places: drawn(talk.places, EACH.places).map((text) => ({ text, kept: text })),
  }
  const passing = drawn(spokenLines(talk.passing), EACH.passing)
  const messages = [...Object.values(stated).flat(), ...passing].map(({ text }) => withRequest(text, random))
  const lines = random.shuffled([...messages, ...drawn(talk.pasted, EACH.pasted)])
  return {
    messages: lines.flatMap((text) => [
      { speaker: "user" as const, text },
      { speaker: "assistant" as const, text: random.shuffled(SENTENCES[part].advice).join(" ") },
    ]),
    stated: {
      rules: stated.rules.map(({ kept }) => kept),
      preferences: stated.preferences.map(({ kept }) => kept),
      facts: stated.facts.map(({ kept }) => kept),
      places: stated.places.map(({ kept }) => kept),
    },
  }
}
