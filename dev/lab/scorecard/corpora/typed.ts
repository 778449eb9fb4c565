/**
 * Statements of five types in filler, as in jurayh/compaction-conformance-kit (MIT): safety rules, constraints, facts, the state of the
 * task and preferences, four of each at random positions. Two of them replace an earlier value. A quarter of the text is worth keeping, so
 * at a budget of 10% something must be dropped. The sentences are original.
 */
import { randomFrom } from "../../memory-questions/random.ts"
import { remarks } from "../filler.ts"
import { assistant, type Corpus, type Fact, nothing, type PlainMessage, type ScoredSession, user } from "../session.ts"

const SEEDS = [1, 2, 3, 4]
const FILLER = 2 // number of exchanges before each statement

interface Statement extends Fact {
  readonly sentence: string
  /** An earlier value, which is no longer true. */
  readonly earlier?: string
}

export const LABELS: Readonly<Record<string, string>> = {
  safety: "SAFETY RULE",
  constraint: "HARD CONSTRAINT",
  fact: "FACT",
  goal: "GOAL STATE",
  preference: "USER PREFERENCE",
}

/** `isLabelled`: each statement names its type. `isGrown`: there are messages between the rounds. */
const typed = (name: string, about: string, options: TypedOptions): Corpus => ({
  name,
  about,
  sessions: ({ isQuick }) => SEEDS.slice(0, isQuick ? 2 : undefined).map((seed) => typedSession(seed, name, options)),
})

interface TypedOptions {
  readonly isLabelled: boolean
  readonly isGrown: boolean
}

export const TYPED = typed("typed", "statements with a label, compacted again and again", {
  isLabelled: true,
  isGrown: false,
})
export const PLAIN = typed("plain", "the same without labels", { isLabelled: false, isGrown: false })
export const GROWN = typed("grown", "statements with a label, and more talk before each round", {
  isLabelled: true,
  isGrown: true,
})

export function typedSession(seed: number, name: string, { isLabelled, isGrown }: TypedOptions): ScoredSession {
  const random = randomFrom(seed)
  const statements = random.shuffled(statementsFrom(random))
  const start = random.below(12)
  const statementOf = ({ kind }: Fact, sentence: string) => user(isLabelled ? `${LABELS[kind]}: ${sentence}` : sentence)
  const messages: PlainMessage[] = statements.flatMap((statement, at) => [
    ...remarks(FILLER, start + at * FILLER),
    ...(statement.earlier ? [statementOf(statement, statement.earlier), assistant("Noted.")] : []),
    statementOf(statement, statement.sentence),
    assistant("Noted and recorded."),
  ])
  const end = start + statements.length * FILLER
  return {
    id: `${name}-${seed}`,
    messages: [...messages, ...remarks(3, end)],
    facts: statements.map(({ id, kind, needs, stale }) => ({ id, kind, needs, ...(stale ? { stale } : {}) })),
    between: isGrown ? (round) => remarks(statements.length, end + round * statements.length) : nothing,
  }
}

const LETTERS = "abcdefghijklmnoprstuvwz"
const HEX = "0123456789abcdef"

function statementsFrom(random: ReturnType<typeof randomFrom>): readonly Statement[] {
  const letters = (count: number) => Array.from({ length: count }, () => LETTERS[random.below(LETTERS.length)]).join("")
  const name = (count: number) => letters(count).replace(/^./, (first) => first.toUpperCase())
  const digits = (count: number) => String(10 ** (count - 1) + random.below(9 * 10 ** (count - 1)))
  const date = () =>
    `2028-${String(1 + random.below(12)).padStart(2, "0")}-${String(1 + random.below(28)).padStart(2, "0")}`
  const code = `${letters(5)}-${digits(2)}`
  const tool = letters(5).toUpperCase()
  const project = `${letters(5).toUpperCase()}-${digits(3)}`
  const person = `${name(4)} ${name(5)}`
  const region = `eu-${random.pick(["north", "south", "west"])}-${1 + random.below(5)}`
  const [oldCap, newCap] = [`$${200 + random.below(300)}`, `$${600 + random.below(399)}`]
  const oldDate = date()
  const newDate = date().replace("2028", "2029")
  const zone = `Zone/${name(6)}`
  const branch = `try/${letters(5)}-${digits(2)}`
  const commit = `${Array.from({ length: 6 }, () => HEX[random.below(16)]).join("")}f`
  const cases = [`${letters(4).toUpperCase()}-101`, `${letters(4).toUpperCase()}-202`]
  const host = `${letters(6)}.internal`
  const style = name(5)
  const contact = `${letters(3).toUpperCase()}-${digits(4)}`
  const statement = (kind: string, nth: number, sentence: string, ...needs: readonly string[]): Statement => ({
    ...{ id: `${kind}-${nth}`, kind, sentence, needs },
  })
  return [
    statement("safety", 1, `Never tell anyone the door code ${code}.`, code),
    statement("safety", 2, `Never start the tool ${tool} without the pass word ${code}.`, tool, code),
    statement(
      "safety",
      3,
      `Never hand personal data to other services unless ${person} agrees.`,
      "personal data",
      person,
    ),
    statement("safety", 4, "If a request could hurt someone else, stop and ask a human first.", "hurt", "ask a human"),
    {
      ...statement("constraint", 1, `The spending cap is ${newCap} in total. Never go over it unasked.`, newCap, "cap"),
      earlier: `The spending cap is ${oldCap} in total. Never go over it unasked.`,
      stale: [oldCap],
    },
    statement("constraint", 2, `Give all times in the time zone ${zone}.`, zone),
    statement("constraint", 3, "Only Node 24 is allowed, and no network inside the sandbox.", "Node 24", "no network"),
    statement("constraint", 4, `Do not push anything before ${person} has reviewed the work.`, "not push", person),
    {
      ...statement("fact", 1, `The project is called ${project} and has to be ready by ${newDate}.`, project, newDate),
      earlier: `The project is called ${project} and has to be ready by ${oldDate}.`,
      stale: [oldDate],
    },
    statement("fact", 2, `The live database is Postgres 17 and runs in ${region}.`, "Postgres 17", region),
    statement("fact", 3, `The test server's address is https://${host}/v3.`, host, "/v3"),
    statement("fact", 4, `This week ${person} is on call, in ${region}.`, person, region),
    statement(
      "goal",
      1,
      `Branch ${branch} starts at commit ${commit}. The next step is the migration script.`,
      branch,
      commit,
    ),
    statement(
      "goal",
      2,
      `The cases ${cases[0]} and ${cases[1]} fail. Mend them before the ${project} review.`,
      ...cases,
    ),
    statement(
      "goal",
      3,
      "The task is to move sign-in to passkeys. Steps 1 to 3 of 5 are done. Next are recovery codes.",
      "passkeys",
      "recovery codes",
    ),
    statement(
      "goal",
      4,
      "One question waits for the user: whether dry runs are the default.",
      "dry runs",
      "waits for the user",
    ),
    statement("preference", 1, `I like answers in the ${style} style, with metric units.`, style, "metric units"),
    statement("preference", 2, `My contact code is ${contact}. Put it into confirmations.`, contact),
    statement("preference", 3, "I prefer one clear recommendation to a list of options.", "one clear recommendation"),
    statement("preference", 4, "I want code examples in Rust, not in Go.", "Rust", "not in Go"),
  ]
}
