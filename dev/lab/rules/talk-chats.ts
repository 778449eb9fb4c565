/** Chats in which a person says who they are, what they prefer and how to work, between code, logs and passing remarks. Made from a seed. */
import { randomFrom } from "../memory-questions/random.ts"
import { type RuleChat, withRequest } from "./chats.ts"
import { type Part, SENTENCES } from "./sentences.ts"
import { type Said, SPOKEN, saidIn, TALKS, type Talk } from "./talk.ts"

export const TOLD = ["rules", "preferences", "facts", "places"] as const
type Told = (typeof TOLD)[number]
/** Of each kind, in each chat. */
const EACH = { rules: 5, preferences: 8, facts: 5, places: 2, passing: 14, pasted: 4 } as const

export interface TalkChat {
  readonly messages: RuleChat["messages"]
  /** What is to be kept. */
  readonly told: Readonly<Record<Told, readonly string[]>>
}

export const spokenLines = (lines: Talk["facts"]): readonly Said[] =>
  SPOKEN.flatMap((language) => lines[language].map(saidIn))

export function makeTalkChat({ seed, part }: { readonly seed: number; readonly part: Part }): TalkChat {
  const random = randomFrom(seed)
  const talk = TALKS[part]
  const drawn = <T>(from: readonly T[], count: number) => random.shuffled(from).slice(0, count)
  const told = {
    rules: drawn(SENTENCES[part].rules.en, EACH.rules).map((text) => ({ text, kept: text })),
    preferences: drawn(spokenLines(talk.preferences), EACH.preferences),
    facts: drawn(spokenLines(talk.facts), EACH.facts),
    places: drawn(talk.places, EACH.places).map((text) => ({ text, kept: text })),
  }
  const passing = drawn(spokenLines(talk.passing), EACH.passing)
  const messages = [...Object.values(told).flat(), ...passing].map(({ text }) => withRequest(text, random))
  const said = random.shuffled([...messages, ...drawn(talk.pasted, EACH.pasted)])
  return {
    messages: said.flatMap((text) => [
      { speaker: "user" as const, text },
      { speaker: "assistant" as const, text: random.shuffled(SENTENCES[part].advice).join(" ") },
    ]),
    told: {
      rules: told.rules.map(({ kept }) => kept),
      preferences: told.preferences.map(({ kept }) => kept),
      facts: told.facts.map(({ kept }) => kept),
      places: told.places.map(({ kept }) => kept),
    },
  }
}
