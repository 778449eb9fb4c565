/**
 * Generates chats of a user with an assistant over a year from a seed. In some requests the user also mentions personal facts or rules.
 * Answers are long, with lists and code about many subjects. Questions ask for a fact stated once, a current value, a date, a speaker,
 * facts from several sessions, a rule, or a proposal of the assistant.
 */
import { type AskedQuestion, type Dialogue, type DialogueOptions, questionsNear, type Turn } from "./dialogues.ts"
import { chatter, DETAILS, EVERYDAY_TALK, PROJECT_TALK } from "./kinds/chatter.ts"
import { type FactKind, KINDS } from "./kinds/fact-kind.ts"
import { randomFrom } from "./random.ts"

export interface ChatOptions extends Pick<DialogueOptions, "seed" | "part"> {
  readonly sessions?: number
}

/** Subjects of requests, which mostly differ from the facts that the user mentions. */
const OTHER_WORK = KINDS.project
const SAME_SUBJECT_SHARE = 0.2
const NAMES = {
  chosen: "Lena,Tariq,Bodil,Marcus,Ines,Wei",
  "held-out": "Paolo,Nadia,Sven,Chiara,Kofi,Mirja",
}
const ROLES = {
  chosen: "approves the invoices; owns the search service; plans the summer party; reviews our contracts",
  "held-out":
    "signs the travel forms; maintains the billing exporter; books the meeting rooms; trains the new colleagues",
}
const RULES = {
  chosen:
    "commit messages|Always write commit messages in English.; tests|Never mock the database in tests.; tables|I prefer tables over long lists.; units|Use metric units in every answer.",
  "held-out":
    "branch names|Always put the ticket number first in branch names.; emails|Never sign my emails with my full name.; code samples|I prefer code samples in TypeScript.; dates|Write dates as year, month, day from now on.",
}
const REQUESTS =
  "Can you help me write a short text about {t}?; I need a checklist for {t}, can you make one?; What should I know about {t}?; Please explain how other people handle {t}.; Could you compare a few ways to go about {t}?; Write a small script that keeps notes on {t}.".split(
    "; ",
  )
const ADVICE =
  "Start with a clear goal and write it down.; Ask someone who has done it before.; Keep a list of what you tried.; Compare at least three offers before you decide.; Plan more time than you think you need.; Check the rules where you live.; Set aside a small budget for surprises.; Take notes while it is fresh.; Do the hardest part in the morning.; Tell your family early.".split(
    "; ",
  )
const PROPOSALS =
  "a shared calendar in three colours; a spreadsheet with one row per week; the two-envelope method; a standing call on Tuesdays; a box with a label for each month; the rule of two bags".split(
    "; ",
  )
const DAY = 86_400_000
const BEGIN = Date.UTC(2025, 0, 8)
const ROUNDS = 7
/** Share of facts stated in words that no question contains. */
const OTHERWISE_SHARE = 0.15
const CHANGED = 4
const MONTHS = "January,February,March,April,May,June,July,August,September,October,November,December".split(",")

interface ChatStatement {
  readonly kind: FactKind
  readonly at: number
  readonly detail: string
  readonly way: string
}

export function makeChat({ seed, part, sessions = 36 }: ChatOptions): Dialogue {
  const random = randomFrom(seed)
  const kinds = random.shuffled(KINDS.everyday[part])
  const turns: Turn[] = []
  const details = DETAILS.everyday[part]
  const statements: ChatStatement[] = []
  const questions: AskedQuestion[] = []
  const known = kinds.slice(0, 9)
  const inSession = new Map<number, (() => void)[]>()
  const later = (session: number, work: () => void) => inSession.set(session, [...(inSession.get(session) ?? []), work])
  let [session, start] = [0, BEGIN]
  const say = (speaker: string, text: string) =>
    turns.push({ session, speaker, text, time: new Date(start + turns.length * 50_000).toISOString() }) - 1
  const answer = (kind: FactKind, proposal?: string) => say("assistant", longAnswer(random, kind, proposal))
  const request = (kind: FactKind) => random.pick(REQUESTS).replace("{t}", kind.topic)
  /** Draws the subject of the request in the same message, mostly another one, as in real chats. */
  const anything = () => random.pick(random.next() < SAME_SUBJECT_SHARE ? kinds : OTHER_WORK[part])
  const tell = (text: string) => {
    const about = anything()
    const at = say("user", random.next() < 0.5 ? `${text} ${request(about)}` : `${request(about)} ${text}`)
    answer(about)
    return at
  }
  const tellFact = (kind: FactKind, value: string) => {
    const way = random.pick(random.next() < OTHERWISE_SHARE ? kind.otherwise : kind.statements)
    const detail = random.pick(details)
    statements.push({ kind, detail, way, at: tell(`${way.replaceAll("{v}", value)} It was ${detail}.`) })
  }
  for (const kind of known) later(random.below(sessions), () => tellFact(kind, random.pick(kind.values)))
  for (const kind of known.slice(0, CHANGED))
    later(random.below(sessions), () => tellFact(kind, random.pick(kind.values)))
  for (const [at, role] of random.shuffled(ROLES[part].split("; ")).entries()) {
    const name = NAMES[part].split(",")[at]!
    later(random.below(sessions), () => {
      const statement = tell(`${name} ${role}, so I wait for an answer from there.`)
      questions.push({ text: `Who ${role.replace(/\bour\b/, "our")}?`, kind: "who", evidence: [statement] })
    })
  }
  for (const rule of RULES[part].split("; ")) {
    const [subject, text] = rule.split("|") as [string, string]
    later(random.below(sessions), () =>
      questions.push({ text: `What did I tell you about ${subject}?`, kind: "rule", evidence: [tell(text)] }),
    )
  }
  for (const [at, kind] of kinds.slice(0, 4).entries())
    later(random.below(sessions), () => {
      say("user", request(kind))
      const proposal = PROPOSALS[at]!
      const evidence = [answer(kind, proposal)]
      questions.push({ text: `Which method did you propose for ${kind.topic}?`, kind: "answer", evidence })
    })
  for (session = 0; session < sessions; session++) {
    start = BEGIN + session * 10 * DAY + random.below(5) * DAY - turns.length * 50_000
    const works = random.shuffled(inSession.get(session) ?? [])
    for (let round = 0; round < Math.max(ROUNDS, works.length); round++) {
      if (works[round]) works[round]!()
      else idle()
    }
  }
  function idle(): void {
    const kind = anything()
    const aside = chatter(random.next() < 0.5 ? EVERYDAY_TALK : PROJECT_TALK, random.pick)
    const passing = random.next() < 0.25 ? ` ${random.pick(kind.passing)}` : ""
    say("user", `${random.next() < 0.6 ? request(kind) : `${aside} What do you think?`}${passing}`)
    if (random.next() < 0.8) answer(kind)
    else say("assistant", random.pick(kind.follow))
  }
  const now = new Date(Date.parse(turns.at(-1)!.time) + DAY)
  return { turns, now, questions: [...questions, ...questionsAbout(random, statements, turns)] }
}

type Random = ReturnType<typeof randomFrom>

function longAnswer(random: Random, kind: FactKind, proposal?: string): string {
  const topic = kind.topic
  const lines = random
    .shuffled([...ADVICE, ...kind.follow, ...kind.passing])
    .slice(0, 5 + random.below(6))
    .map(
      (line, at) =>
        `${at + 1}. **${at % 2 ? "Remember" : "Note"}**: ${line} With ${topic} this matters more than people expect.`,
    )
  const code = ["```ts", `const notes = new Map<string, string>()`, `notes.set("${topic}", "open")`]
  const script = random.next() < 0.4 ? [...code, ...lines.map((_, at) => `step(${at}, notes) // ${topic}`), "```"] : []
  return [
    `Here is what people usually find helpful about ${topic}. It depends on where you are and what you want, so read it as a start.`,
    ...lines,
    ...(proposal === undefined ? [] : [`My proposal for ${topic}: ${proposal}. It is a method that needs no tools.`]),
    ...script,
    `If you tell me more about ${topic}, I can make this shorter or more exact. ${random.pick(ADVICE)}`,
  ].join("\n\n")
}

/** Rewrites a question about someone as the user asks it about themselves. */
const asOwn = (question: string): string =>
  question
    .replaceAll("{p}'s", "my")
    .replace(/\b(did|do|does|is|was|have) \{p\}/, (_, verb: string) => `${{ does: "do", is: "am" }[verb] ?? verb} I`)
    .replaceAll("{p}", "I")

function questionsAbout(
  random: Random,
  statements: readonly ChatStatement[],
  turns: readonly Turn[],
): readonly AskedQuestion[] {
  const byKind = [...Map.groupBy(statements, ({ kind }) => kind).values()]
  const ask = ({ kind, way }: ChatStatement) => asOwn(random.pick(questionsNear(way, kind)))
  const monthOf = (at: number) => new Date(turns[at]!.time)
  const direct = byKind
    .filter((all) => all.length === 1)
    .map(([one]) => {
      const text = ask(one!)
      const named = random.next() < 0.4 ? text.replace("?", ` ${one!.detail}?`) : text
      return { text: named, kind: "direct" as const, evidence: [one!.at] }
    })
  const changed = byKind
    .filter((all) => all.length > 1)
    .flatMap((all) => {
      const inOrder = all.toSorted((a, b) => a.at - b.at)
      const month = monthOf(inOrder[0]!.at)
      const text = ask(inOrder[0]!)
      const when = `in ${MONTHS[month.getUTCMonth()]} ${month.getUTCFullYear()}`
      return [
        { text: ask(inOrder.at(-1)!).replace("?", " now?"), kind: "changed" as const, evidence: [inOrder.at(-1)!.at] },
        { text: text.replace("?", ` ${when}?`), kind: "time" as const, evidence: [inOrder[0]!.at] },
      ]
    })
  const pairs = random.shuffled(statements).slice(0, 6)
  const several = pairs.slice(0, -1).flatMap((one, at) => {
    const two = pairs[at + 1]!
    if (one.kind === two.kind) return []
    const second = ask(two)
    const text = `${ask(one).replace("?", ",")} and ${second[0]!.toLowerCase()}${second.slice(1)}`
    return [{ text, kind: "several" as const, evidence: [one.at, two.at] }]
  })
  return [...direct, ...changed, ...several]
}
