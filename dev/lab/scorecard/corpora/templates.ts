/**
 * Conversations from templates of four families, like those of CompactBench (compactbench/compactbench): a buried constraint, a decision
 * that is overridden once or twice, two people with two tasks, and a later reference to an earlier rule. Templates and wording are
 * original.
 */
import { randomFrom } from "../../memory-questions/random.ts"
import { remarks } from "../filler.ts"
import { assistant, type Corpus, type Fact, type PlainMessage, type ScoredSession, user } from "../session.ts"

const DISTRACTORS = 16 // number of exchanges between the relevant messages and the end
const BETWEEN = 8
const SEEDS = [21, 22, 23]

const PEOPLE = [
  "Noor Hassan",
  "Clara Weiss",
  "Diego Marin",
  "Aiko Tanabe",
  "Sven Halvorsen",
  "Lucia Prieto",
  "Omar Said",
  "Greta Lund",
]
const TOPICS = ["checkout rework", "audit trail", "mobile release", "data import", "pricing page", "search upgrade"]
const ACTIONS = [
  "ship without a rollback plan",
  "email customers directly",
  "rewrite the billing ledger",
  "use the shared test account",
  "merge on a Friday",
  "drop the legacy columns",
  "bypass the second review",
  "run migrations by night",
  "host it on the old cluster",
  "cut the offline mode",
]

interface Template {
  readonly family: string
  readonly make: (words: Words) => {
    readonly before: readonly PlainMessage[]
    readonly after: string
    readonly facts: readonly Fact[]
  }
}

interface Words {
  readonly people: readonly string[]
  readonly topic: string
  readonly actions: readonly string[]
}

const fact = (kind: string, id: string, needs: readonly string[], stale?: readonly string[]): Fact => ({
  ...{ id, kind, needs },
  ...(stale ? { stale } : {}),
})

const TEMPLATES: readonly Template[] = [
  {
    family: "buried constraint",
    make: ({ people: [a], topic, actions: [x] }) => ({
      before: [
        user(`Let us plan the ${topic}; ${a} leads it.`),
        assistant("Fine. What must I avoid?"),
        user(`Whatever happens, never ${x}. That is a red line.`),
        assistant("Clear."),
      ],
      after: "So what is a sensible first step?",
      facts: [fact("buried constraint", "rule", [`never ${x}`]), fact("buried constraint", "lead", [a!])],
    }),
  },
  {
    family: "decision overridden",
    make: ({ people: [a], topic, actions: [x, y] }) => ({
      before: [
        user(`For the ${topic} with ${a} I would ${x}.`),
        assistant("Good, that is the plan."),
        user(`No, I have changed my mind: we ${y} instead.`),
        assistant("Then that is the plan."),
      ],
      after: "Please confirm the plan.",
      facts: [fact("decision overridden", "decision", [y!], [x!])],
    }),
  },
  {
    family: "decision overridden twice",
    make: ({ topic, actions: [x, y, z] }) => ({
      before: [
        ...[
          user(`On the ${topic}: let us ${x}.`),
          assistant("Agreed."),
          user(`Wait, let us ${y} rather than that.`),
          assistant("Switched."),
        ],
        ...[user(`Final word: we ${z}. Forget the other two.`), assistant("That is decided then.")],
      ],
      after: "Repeat what we decided.",
      facts: [fact("decision overridden", "decision", [z!], [x!, y!])],
    }),
  },
  {
    family: "two people",
    make: ({ people: [a, b], topic, actions: [x, y] }) => ({
      before: [
        user(`For the ${topic}: ${a} decides whether we ${x}, ${b} decides whether we ${y}. Keep them apart.`),
        assistant("Two people, two decisions."),
      ],
      after: "Who decides what?",
      facts: [
        fact("two people", "first", [`${a} decides whether we ${x}`]),
        fact("two people", "second", [`${b} decides whether we ${y}`]),
      ],
    }),
  },
  {
    family: "reference",
    make: ({ people: [a], topic, actions: [x] }) => ({
      before: [
        user(`We begin the ${topic} with ${a}.`),
        assistant("Is there anything that I should know?"),
        user(`Yes: we never ${x} here, without exception.`),
        assistant("Noted."),
      ],
      after: `With that rule in mind, write the first milestone for ${a}.`,
      facts: [fact("reference", "rule", [`never ${x}`]), fact("reference", "person", [a!])],
    }),
  },
]

export const TEMPLATES_CORPUS: Corpus = {
  name: "templates",
  about: "a buried constraint, overridden decisions, two people with two tasks, a reference to an earlier rule",
  sessions: ({ isQuick }) =>
    SEEDS.slice(0, isQuick ? 1 : undefined).flatMap((seed) =>
      TEMPLATES.map((template) => templateSession(template, seed)),
    ),
}

function templateSession({ family, make }: Template, seed: number): ScoredSession {
  const random = randomFrom(seed * 31 + family.length)
  const words = { people: random.shuffled(PEOPLE), topic: random.pick(TOPICS), actions: random.shuffled(ACTIONS) }
  const { before, after, facts } = make(words)
  const from = random.below(12)
  return {
    id: `${family.replaceAll(" ", "-")}-${seed}`,
    messages: [...before, ...remarks(DISTRACTORS, from), user(after), assistant("One moment.")],
    facts,
    between: (round) => remarks(BETWEEN, from + DISTRACTORS + round * BETWEEN),
  }
}
