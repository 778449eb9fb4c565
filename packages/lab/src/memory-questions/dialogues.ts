/**
 * Long dialogues over months between two people, and questions about them with the turns that hold the answer. Made from a seed, so that
 * everyone measures the same. Also unanswerable questions: about things that only the other person said, or that no one did.
 */
import { FACT_KINDS, type FactKind, SMALL_TALK } from "./fact-kinds.ts"

export interface Turn {
  readonly session: number
  readonly speaker: string
  readonly text: string
  readonly time: string
}

export interface MemoryQuestion {
  readonly text: string
  readonly kind: "direct" | "time" | "two-hop" | "unanswerable"
  /** Positions in `turns`. */
  readonly evidence: readonly number[]
}

export interface Dialogue {
  readonly turns: readonly Turn[]
  readonly questions: readonly MemoryQuestion[]
}

export interface DialogueSize {
  readonly sessions: number
  readonly turnsPerSession: number
}

const NAMES = [
  "Marta",
  "Jonas",
  "Priya",
  "Tomek",
  "Aisha",
  "Declan",
  "Yuki",
  "Renata",
  "Olu",
  "Saskia",
  "Hamid",
  "Brigid",
]
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
]
const DAY = 86_400_000

export function makeDialogue(seed: number, { sessions, turnsPerSession }: DialogueSize): Dialogue {
  const random = seeded(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const people = shuffled(NAMES, random).slice(0, 2) as [string, string]
  const told = shuffled(
    people.flatMap((person) =>
      shuffled(FACT_KINDS, random)
        .slice(0, 14)
        .map((kind) => ({ person, kind, value: pick(kind.values) })),
    ),
    random,
  )
  const turns: Turn[] = []
  const placed: { person: string; kind: FactKind; value: string; at: number; date: Date }[] = []
  const begin = Date.UTC(2025, 0, 6)
  for (let session = 0; session < sessions; session++) {
    const date = new Date(begin + session * 12 * DAY + Math.floor(random() * 5) * DAY)
    const facts = told.slice(
      Math.floor((session * told.length) / sessions),
      Math.floor(((session + 1) * told.length) / sessions),
    )
    const say = (speaker: string, text: string) => {
      turns.push({ session, speaker, text, time: new Date(date.getTime() + turns.length * 20_000).toISOString() })
      return turns.length - 1
    }
    const chat = (count: number) => {
      for (let i = 0; i < count; i++) say(people[i % 2]!, pick(SMALL_TALK))
    }
    const rest = Math.max(0, turnsPerSession - facts.length * 2)
    for (const { person, kind, value } of facts) {
      chat(Math.floor(rest / (facts.length + 1)))
      say(people.find((other) => other !== person)!, pick(kind.cues))
      placed.push({ person, kind, value, at: say(person, pick(kind.tellings).replace("{v}", value)), date })
    }
    chat(turnsPerSession - (turns.length % turnsPerSession || turnsPerSession))
  }
  const asked = (text: string, person: string) => text.replaceAll("{p}", person)
  const direct = placed.map(({ person, kind, at }) => ({
    text: asked(pick(kind.questions), person),
    kind: "direct" as const,
    evidence: [at],
  }))
  const timed = shuffled(placed, random)
    .slice(0, 8)
    .map(({ person, date, at }) => ({
      text: `What did ${person} talk about in ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}?`,
      kind: "time" as const,
      evidence: placed
        .filter(
          (other) =>
            other.person === person &&
            other.date.getUTCMonth() === date.getUTCMonth() &&
            other.date.getUTCFullYear() === date.getUTCFullYear(),
        )
        .map((other) => other.at)
        .concat(at),
    }))
  const pairs = FACT_KINDS.flatMap((kind) => {
    const both = placed.filter((fact) => fact.kind === kind)
    return both.length === 2
      ? [
          {
            text: asked(pick(kind.questions), `${people[0]} and ${people[1]}`),
            kind: "two-hop" as const,
            evidence: both.map(({ at }) => at),
          },
        ]
      : []
  })
  const missing = people.flatMap((person) =>
    FACT_KINDS.filter((kind) => !placed.some((fact) => fact.kind === kind)).map((kind) => ({
      text: asked(pick(kind.questions), person),
      kind: "unanswerable" as const,
      evidence: [],
    })),
  )
  const foreign = [
    "What rocket engine did {p} test?",
    "Which court did {p} testify in?",
    "How much did {p}'s cryptocurrency lose?",
    "Who painted the fresco {p} restored?",
    "What is {p}'s blood type?",
    "Which glacier did {p} photograph?",
  ].map((text) => ({ text: asked(text, pick(people)), kind: "unanswerable" as const, evidence: [] }))
  return { turns, questions: [...direct, ...timed, ...pairs, ...missing, ...foreign] }
}

/** A small generator of numbers in [0, 1), the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0 || 1
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function shuffled<T>(list: readonly T[], random: () => number): readonly T[] {
  const result = [...list]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[result[i], result[j]] = [result[j]!, result[i]!]
  }
  return result
}
