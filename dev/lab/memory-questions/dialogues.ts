/**
 * Generates long dialogues over a year from a seed, and questions about them with the turns that contain the answer. Half of the answers
 * share words with the question, a third do so only through the previous turn, and the rest are phrased in other words.
 */
import { chatter, DETAILS, EVERYDAY_TALK, PROJECT_TALK, REPLIES } from "./kinds/chatter.ts"
import { COMPONENTS, type FactKind, KINDS } from "./kinds/fact-kind.ts"
import { randomFrom } from "./random.ts"

export interface Turn {
  readonly session: number
  readonly speaker: string
  readonly text: string
  readonly time: string
}

export type QuestionKind =
  | "direct"
  | "time"
  | "two-hop"
  | "said-of-another"
  | "never-said"
  | "unrelated"
  | "unrelated-two-hop"
  | "who"
  | "changed"
  | "several"
  | "rule"
  | "answer"
  | "preference"
  | "contradiction"
  | "summary"
  | "order"

export interface AskedQuestion {
  readonly text: string
  readonly kind: QuestionKind
  /** Positions in `turns`. Empty if the question is unanswerable. */
  readonly evidence: readonly number[]
}

export interface Dialogue {
  readonly turns: readonly Turn[]
  readonly questions: readonly AskedQuestion[]
  /** Time at which the questions are asked. */
  readonly now: Date
}

export interface DialogueOptions {
  readonly seed: number
  readonly about: "everyday" | "project"
  /** `chosen`: weights were chosen on this part. `held-out` shares no kind of fact, component or person with that part. */
  readonly part: "chosen" | "held-out"
  readonly sessions?: number
  readonly turnsPerSession?: number
}

const PEOPLE = {
  chosen: ["Marta", "Jonas", "Priya", "Tomek", "Aisha", "Declan"],
  "held-out": ["Yuki", "Renata", "Olu", "Saskia", "Hamid", "Brigid"],
}
const MONTHS = "January,February,March,April,May,June,July,August,September,October,November,December".split(",")
const DAY = 86_400_000
const BEGIN = Date.UTC(2025, 0, 6)
const DAYS_BETWEEN = 13
/** Share of answers that share words with their question. The next constant is the share for which only the previous turn does. */
const STATED_SHARE = 0.5
const ASKED_SHARE = 0.33
/** Share of facts that the other speaker comments on. */
const FOLLOW_SHARE = 0.6
/** Share of facts mentioned with a circumstance. The next constant is the share of questions that name it. */
const DETAIL_SHARE = 0.6
const DETAIL_ASKED_SHARE = 0.7
const PASSING_SHARE = 0.08
const REPLY_SHARE = 0.15
const UNSTATED_KINDS = 2
const KINDS_PER_SUBJECT = { everyday: 8, project: 5 }
const COMPONENTS_IN_DIALOGUE = 6
const REPEATED = 6
const TWO_HOPS = 4
const UNRELATED = 6

/** Subject of a fact. A person states facts about themselves; a component is named in the statement. */
interface Subject {
  readonly speaker?: string
  readonly written: string
  readonly asked: string
}

interface Fact {
  readonly subject: Subject
  readonly kind: FactKind
  readonly value: string
  /** A circumstance that was mentioned with the fact, such as "after the storm". */
  readonly detail: string | undefined
  readonly session: number
}

/** `words`: the text of the statement, or of the question. */
type Placed = Fact & { readonly at: number; readonly words: string }

export function makeDialogue({ seed, about, part, sessions = 28, turnsPerSession = 26 }: DialogueOptions): Dialogue {
  const random = randomFrom(seed)
  const people = [random.shuffled(PEOPLE[part])[0]!, about === "project" ? "assistant" : ""]
  if (about === "everyday") people[1] = random.pick(PEOPLE[part].filter((name) => name !== people[0]))
  const subjects: readonly Subject[] =
    about === "everyday"
      ? people.map((name) => ({ speaker: name, written: name, asked: name }))
      : random.shuffled(COMPONENTS[part]).slice(0, COMPONENTS_IN_DIALOGUE)
  const pool = random.shuffled(KINDS[about][part])
  const details = DETAILS[about][part]
  const facts = factsAbout({
    random,
    subjects,
    details,
    kinds: pool.slice(UNSTATED_KINDS),
    perSubject: KINDS_PER_SUBJECT[about],
    sessions,
  })
  const { turns, placed } = talk({ random, people, facts, pool, about, sessions, turnsPerSession })
  const now = new Date(Date.parse(turns.at(-1)!.time) + DAY)
  const questions = questionsAbout({ random, placed, subjects, pool, turns, now })
  return { turns, now, questions: [...questions, ...unrelated(random, about, part)] }
}

/** Questions about subjects of other dialogues. */
function unrelated(
  random: Random,
  about: DialogueOptions["about"],
  part: DialogueOptions["part"],
): readonly AskedQuestion[] {
  const [kinds, subjects] =
    about === "everyday"
      ? [KINDS.project[part], COMPONENTS[part].map(({ asked }) => asked)]
      : [KINDS.everyday[part], PEOPLE[part === "chosen" ? "held-out" : "chosen"]]
  const single = random
    .shuffled(kinds)
    .slice(0, UNRELATED)
    .map((kind) => ({
      text: random.pick(kind.questions).replaceAll("{p}", random.pick(subjects)),
      kind: "unrelated" as const,
      evidence: [],
    }))
  const shuffled = random.shuffled(kinds)
  const pairs = shuffled.slice(0, UNRELATED).map((kind, at) => ({
    text: whichCameFirst(random.pick(subjects), kind, shuffled[at + 1]!),
    kind: "unrelated-two-hop" as const,
    evidence: [],
  }))
  return [...single, ...pairs]
}

const whichCameFirst = (subject: string, one: FactKind, two: FactKind) =>
  `Which came first for ${subject}: ${one.topic} or ${two.topic}?`

type Random = ReturnType<typeof randomFrom>

interface FactTurn {
  readonly random: Random
  readonly subjects: readonly Subject[]
  readonly kinds: readonly FactKind[]
  readonly details: readonly string[]
  readonly perSubject: number
  readonly sessions: number
}

/** Facts about the subjects. Some are stated again months later with another value. */
function factsAbout({ random, subjects, kinds, details, perSubject, sessions }: FactTurn): readonly Fact[] {
  const detail = () => (random.next() < DETAIL_SHARE ? random.pick(details) : undefined)
  const once = subjects.flatMap((subject) =>
    random
      .shuffled(kinds)
      .slice(0, perSubject)
      .map((kind) => ({
        subject,
        kind,
        value: random.pick(kind.values),
        detail: detail(),
        session: random.below(sessions),
      })),
  )
  const again = random
    .shuffled(once)
    .slice(0, REPEATED)
    .map((fact) => ({
      ...fact,
      detail: detail(),
      value: random.pick(fact.kind.values.filter((value) => value !== fact.value)),
      session: (fact.session + Math.floor(sessions / 3) + random.below(Math.floor(sessions / 3))) % sessions,
    }))
  return [...once, ...again]
}

interface Talking {
  readonly random: Random
  readonly people: readonly string[]
  readonly facts: readonly Fact[]
  readonly pool: readonly FactKind[]
  readonly about: "everyday" | "project"
  readonly sessions: number
  readonly turnsPerSession: number
}

function talk({ random, people, facts, pool, about, sessions, turnsPerSession }: Talking) {
  const turns: Turn[] = []
  const placed: Placed[] = []
  const other = (name: string) => people.find((user) => user !== name)!
  const aside = () => chatter(about === "everyday" ? EVERYDAY_TALK : PROJECT_TALK, random.pick)
  const idle = () => {
    const chance = random.next()
    const passing = () => random.pick(random.pick(pool).passing)
    return chance < PASSING_SHARE
      ? `${passing()} ${aside()}`
      : chance < PASSING_SHARE + REPLY_SHARE
        ? random.pick(REPLIES)
        : aside()
  }
  for (let session = 0; session < sessions; session++) {
    const start = BEGIN + (session * DAYS_BETWEEN + random.below(4)) * DAY + random.below(8) * 3_600_000
    const first = turns.length
    const say = (speaker: string, text: string) => {
      const time = new Date(start + (turns.length - first) * 40_000).toISOString()
      return turns.push({ session, speaker, text, time }) - 1
    }
    const between = (count: number) => {
      for (let i = 0; i < count; i++) say(other(turns.at(-1)?.speaker ?? people[1]!), idle())
    }
    const tell = (fact: Fact) => {
      const speaker = fact.subject.speaker ?? random.pick(people)
      const filled = (text: string) => text.replaceAll("{p}", fact.subject.written).replaceAll("{v}", fact.value)
      const nearby = fact.detail === undefined ? "" : ` It was ${fact.detail}.`
      const isLater = random.next() < 0.5
      const now = isLater ? "" : nearby
      const chance = random.next()
      let words: string
      if (chance >= STATED_SHARE && chance < STATED_SHARE + ASKED_SHARE) {
        const { cue, reply } = random.pick(fact.kind.asked)
        words = cue
        say(other(speaker), filled(cue))
        placed.push({ ...fact, words, at: say(speaker, filled(reply) + now) })
      } else {
        words = random.pick(chance < STATED_SHARE ? fact.kind.statements : fact.kind.otherwise)
        if (turns.at(-1)?.speaker === speaker) say(other(speaker), idle())
        placed.push({
          ...fact,
          words,
          at: say(speaker, random.next() < 0.5 ? `${filled(words)}${now} ${aside()}` : filled(words) + now),
        })
      }
      if (random.next() < FOLLOW_SHARE) say(other(speaker), random.pick(fact.kind.follow))
      if (isLater && nearby !== "") say(speaker, `${nearby.trim()} ${aside()}`)
    }
    say(people[0]!, `Hi ${people[1]}! ${aside()}`)
    const now = facts.filter((fact) => fact.session === session)
    const gap = Math.floor((turnsPerSession - 2 * now.length) / (now.length + 1))
    for (const fact of now) {
      between(Math.max(1, gap + random.below(3) - 1))
      tell(fact)
    }
    between(Math.max(1, first + turnsPerSession - turns.length))
  }
  return { turns, placed }
}

interface Asking {
  readonly random: Random
  readonly placed: readonly Placed[]
  readonly subjects: readonly Subject[]
  readonly pool: readonly FactKind[]
  readonly turns: readonly Turn[]
  readonly now: Date
}

function questionsAbout({ random, placed, subjects, pool, turns, now }: Asking): readonly AskedQuestion[] {
  const ask = (kind: FactKind, subject: Subject, words = "") =>
    random.pick(questionsNear(words, kind)).replaceAll("{p}", subject.asked)
  const known = [...Map.groupBy(placed, ({ subject, kind }) => `${subject.asked} ${kind.name}`).values()]
  const direct = known.map((facts) => {
    const { kind, subject, words, detail, at } = facts[0]!
    const text = ask(kind, subject, words)
    if (detail === undefined || random.next() >= DETAIL_ASKED_SHARE)
      return { text, kind: "direct" as const, evidence: facts.map((fact) => fact.at) }
    return { text: text.replace("?", ` ${detail}?`), kind: "direct" as const, evidence: [at] }
  })
  const timed = known
    .filter((facts) => facts.length > 1)
    .flat()
    .map(({ kind, subject, at, words }) => ({
      text: ask(kind, subject, words).replace(
        "?",
        ` ${timeWords(new Date(turns[at]!.time), now, random.next() < 0.5)}?`,
      ),
      kind: "time" as const,
      evidence: [at],
    }))
  const hops = subjects.flatMap((subject) => {
    const own = random.shuffled(placed.filter((fact) => fact.subject === subject))
    return own.slice(0, -1).flatMap((one, i) => {
      const two = own[i + 1]!
      return one.kind === two.kind
        ? []
        : [
            {
              text: whichCameFirst(subject.asked, one.kind, two.kind),
              kind: "two-hop" as const,
              evidence: [one.at, two.at],
            },
          ]
    })
  })
  const unknown = subjects.flatMap((subject) =>
    pool
      .filter((kind) => !placed.some((fact) => fact.subject === subject && fact.kind === kind))
      .map((kind) => ({
        text: ask(kind, subject),
        kind: placed.some((fact) => fact.kind === kind) ? ("said-of-another" as const) : ("never-said" as const),
        evidence: [],
      })),
  )
  return [...direct, ...timed, ...random.shuffled(hops).slice(0, TWO_HOPS), ...unknown]
}

/** Questions that share the most words with the statement, because people ask in the words that they remember. */
export function questionsNear(words: string, { questions }: FactKind): readonly string[] {
  const beginnings = (text: string) =>
    new Set((text.toLowerCase().match(/[a-z]{4,}/g) ?? []).map((word) => word.slice(0, 5)))
  const stems = beginnings(words)
  const shared = questions.map((question) => [...beginnings(question)].filter((word) => stems.has(word)).length)
  return questions.filter((_, at) => shared[at] === Math.max(...shared))
}

function timeWords(at: Date, now: Date, isRelative: boolean): string {
  if (!isRelative) return `in ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`
  const weeks = Math.max(1, Math.round((now.getTime() - at.getTime()) / (7 * DAY)))
  return weeks > 8
    ? `about ${Math.round(weeks / 4.35)} months ago`
    : `about ${weeks} ${weeks === 1 ? "week" : "weeks"} ago`
}
