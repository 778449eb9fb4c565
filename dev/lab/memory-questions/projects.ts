/**
 * Generates months of work on one subject with an assistant. Every message is about the same theme, so its words distinguish little. The
 * user's messages are short, describe the work, and contain the fact. The assistant's answers are long and repeat the words of the request.
 * Values are updated, the user contradicts earlier statements, and questions ask for facts, for the order of events, for summaries over
 * many turns, and by names of a class.
 */
import type { AskedQuestion, Dialogue, DialogueOptions, QuestionKind, Turn } from "./dialogues.ts"
import { type Aspect, THEMES } from "./kinds/project-themes.ts"
import { randomFrom } from "./random.ts"

const DAY = 86_400_000
const BEGIN = Date.UTC(2025, 1, 3)
const SESSIONS = 10
const ROUNDS = 9
const MONTHS = "January,February,March,April,May,June,July,August,September,October,November,December".split(",")

/** `{a}` is the aspect, `{m}` one of its means, `{n}` the measure with its value, `{p}` a person, `{d}` a day, `{t}` the theme. */
const WAYS = {
  chosen: {
    fact: [
      "I'm working on {a} and settled on {m}, can you check whether that makes sense?",
      "I've put {m} in place for {a} on {d}, what should I look at next?",
      "{p} helped me with {a} on {d} and brought up {m}, how do I go on from there?",
    ],
    value: [
      "I'm planning {a} with {n}, does that sound right to you?",
      "For {a} we now have {n}, and I want to keep it there. Any advice?",
    ],
    follow: [
      "Thanks, that helps with {t}. What else should I watch?",
      "Okay, got it. Can you show me the first steps again?",
    ],
    never: "I've never tried {m} for {a}, could you explain how it works?",
    rule: "Always show me a short table when I ask about {a}.",
    prefer: "For {a} I'd rather keep {m} than anything that needs more upkeep.",
    ask: {
      direct: ["What did I settle on for {a}?", "Which approach am I using for {a}?"],
      who: ["Who helped me with {a}?"],
      changed: ["What is {n} for {a}?"],
      time: ["How many days passed between {m} for {a} and {m2} for {a2}?"],
      several: ["How many different things have I tried for {a} and {a2}?"],
      contradiction: ["Have I tried {m} for {a}?"],
      rule: ["Can you tell me how {a} is doing?"],
      preference: ["What would you do next about {a}?"],
      summary: [
        "Can you give me a summary of how {a} has gone so far?",
        "Please sum up our talks about {a}, with the main steps.",
      ],
      order: ["In which order did I bring up the different parts of {t}? Name five of them."],
      answer: ["What did you recommend about {m} for {a}?"],
    },
  },
  "held-out": {
    fact: [
      "I just started using {m} for {a}, could you have a look at my plan?",
      "So {a} is moving: since {d} it runs with {m}. What would you improve?",
      "I met {p} on {d} about {a}, and we agreed on {m}. How do I best prepare it?",
    ],
    value: [
      "My {a} is at {n} at the moment, is that a good place to be?",
      "I decided on {n} for {a}, help me make that work.",
    ],
    follow: ["Great, thanks a lot! That clears up {t} for me.", "Right. Could you go over the second point once more?"],
    never: "I haven't used {m} in {a} at all so far, where would I begin?",
    rule: "Whenever {a} comes up, give me the risks first.",
    prefer: "I like {m} best for {a}, simple things over clever ones.",
    ask: {
      direct: ["What am I using for {a}?", "What did we agree on for {a}?"],
      who: ["Who did I meet about {a}?"],
      changed: ["Where does {n} stand in {a}?"],
      time: ["How long was it from {m} in {a} to {m2} in {a2}?"],
      several: ["Across {a} and {a2}, how many methods did I take up?"],
      contradiction: ["Did I use {m} in {a}?"],
      rule: ["What is new with {a}?"],
      preference: ["How should I carry on with {a}?"],
      summary: [
        "Could you summarise the progress of {a} over time?",
        "Walk me through everything on {a}, including decisions.",
      ],
      order: ["List the order in which I mentioned aspects of {t} throughout our conversations. Only five items."],
      answer: ["What was your advice about {m} in {a}?"],
    },
  },
} as const

const HEADINGS =
  "Define the goal of,Break down,Risks of,Prepare,Review,Measure,Improve,Document,Timeline for,Next steps for".split(
    ",",
  )
const ADVICE =
  "Write down what you want to reach and by when.;Start with a small part and look at the result before you go on.;Ask someone who has done it for feedback.;Keep a list of decisions and the reasons for them.;Set a reminder to check progress every week.;Plan some slack for surprises.;Compare two or three options before you commit.;Collect numbers early so that you can see a trend.;Keep the plan simple enough to follow on a busy day.".split(
    ";",
  )

type Random = ReturnType<typeof randomFrom>

interface ProjectStatement {
  readonly kind: "fact" | "value" | "never"
  readonly aspect: Aspect
  readonly means: string
  readonly way: string
  readonly at: number
}

export function makeProject({ seed, part }: Pick<DialogueOptions, "seed" | "part">): Dialogue {
  const random = randomFrom(seed)
  const { about, aspects } = random.pick(THEMES[part])
  const ways = WAYS[part]
  const turns: Turn[] = []
  const statements: ProjectStatement[] = []
  const questions: AskedQuestion[] = []
  let [session, time] = [0, BEGIN]
  const say = (speaker: string, text: string) => {
    time += 60_000
    return turns.push({ session, speaker, text, time: new Date(time).toISOString() }) - 1
  }
  const day = () => `${MONTHS[new Date(time).getUTCMonth()]} ${new Date(time).getUTCDate()}`
  const tell = (way: string, aspect: Aspect, means: string, value = 0) => {
    const text = filled(way, { aspect, means, about, value, day: day() })
    const at = say("user", text)
    say("assistant", longAnswer(random, aspect, means, about))
    return at
  }
  for (session = 0; session < SESSIONS; session++) {
    time = BEGIN + session * 12 * DAY + random.below(5) * DAY
    for (let round = 0; round < ROUNDS; round++) {
      const aspect = random.pick(aspects)
      const means = random.pick(aspect.means)
      const chance = random.next()
      const kind = chance < 0.45 ? "fact" : chance < 0.65 ? "value" : chance < 0.72 ? "never" : undefined
      if (kind === undefined) {
        say("user", filled(random.pick(ways.follow), { aspect, means, about }))
        say("assistant", longAnswer(random, aspect, means, about))
        continue
      }
      const way = kind === "never" ? ways.never : random.pick(ways[kind])
      statements.push({ kind, aspect, means, way, at: tell(way, aspect, means, 10 + random.below(90)) })
    }
  }
  session--
  const [ruled, preferred] = random.shuffled(aspects)
  const ask = (kind: keyof typeof ways.ask, evidence: readonly number[], given: Partial<Given> & { aspect: Aspect }) =>
    questions.push({
      text: filled(random.pick(ways.ask[kind]), { means: "", about, ...given }),
      kind: kind as QuestionKind,
      evidence,
    })
  ask("rule", [tell(ways.rule, ruled!, "")], { aspect: ruled! })
  ask("preference", [tell(ways.prefer, preferred!, random.pick(preferred!.means))], { aspect: preferred! })
  const facts = statements.filter(({ kind }) => kind === "fact")
  for (const aspect of aspects) {
    const own = statements.filter((one) => one.aspect === aspect)
    const done = own.filter(({ kind }) => kind === "fact")
    const values = own.filter(({ kind }) => kind === "value")
    if (done.length > 0)
      ask(
        "direct",
        done.map(({ at }) => at),
        { aspect },
      )
    const met = done.filter(({ way }) => way.includes("{p}"))
    if (met.length > 0)
      ask(
        "who",
        met.map(({ at }) => at),
        { aspect },
      )
    if (values.length > 1)
      ask(
        "changed",
        values.map(({ at }) => at),
        { aspect },
      )
    if (own.length > 2)
      ask(
        "summary",
        own.flatMap(({ at }) => [at, at + 1]),
        { aspect },
      )
    const advised = random.pick(done.length > 0 ? done : own)
    if (advised)
      ask(
        "answer",
        own.filter(({ means }) => means === advised.means).map(({ at }) => at + 1),
        { aspect, means: advised.means },
      )
    for (const { means, at } of own.filter(({ kind }) => kind === "never")) {
      const against = done.filter((one) => one.means === means).map((one) => one.at)
      if (against.length > 0) ask("contradiction", [at, ...against], { aspect, means })
    }
  }
  const pairs = random.shuffled(facts).slice(0, 5)
  for (const [at, one] of pairs.slice(0, -1).entries()) {
    const two = pairs[at + 1]!
    const given = { aspect: one.aspect, means: one.means, aspect2: two.aspect, means2: two.means }
    const same = ({ aspect, means }: ProjectStatement) =>
      facts.filter((each) => each.aspect === aspect && each.means === means).map((each) => each.at)
    if (one.aspect === two.aspect) continue
    ask("time", [...same(one), ...same(two)], given)
    ask(
      "several",
      facts.filter(({ aspect }) => aspect === one.aspect || aspect === two.aspect).map((each) => each.at),
      given,
    )
  }
  const first = aspects.flatMap((aspect) => statements.find((one) => one.aspect === aspect)?.at ?? [])
  ask("order", first, { aspect: aspects[0]! })
  return { turns, questions, now: new Date(time + DAY) }
}

interface Given {
  readonly aspect: Aspect
  readonly means: string
  readonly about: string
  readonly aspect2?: Aspect
  readonly means2?: string
  readonly value?: number
  readonly day?: string
}

function filled(way: string, { aspect, means, about, aspect2, means2 = "", value, day = "" }: Given): string {
  const measure = value ? `a ${aspect.measure} of ${value} ${aspect.unit}` : `the ${aspect.measure}`
  return way
    .replaceAll("{a2}", aspect2?.name ?? "")
    .replaceAll("{m2}", means2)
    .replaceAll("My {a}", `My ${aspect.name.replace(/^the /, "")}`)
    .replaceAll("{a}", aspect.name)
    .replaceAll("{m}", means)
    .replaceAll("{n}", measure)
    .replaceAll("{p}", aspect.person)
    .replaceAll("{d}", day)
    .replaceAll("{t}", about)
}

function longAnswer(random: Random, { name, means: all, measure }: Aspect, means: string, about: string): string {
  const parts = random
    .shuffled(HEADINGS)
    .slice(0, 4 + random.below(5))
    .map((heading, at) => {
      const lines = random.shuffled(ADVICE).slice(0, 2 + random.below(2))
      return `### ${at + 1}. ${heading} ${name}\n\n- ${lines.join(`\n- With ${random.pick(all)} in mind: `)}`
    })
  const begin = means === "" ? `Let's look at ${name}.` : `Using ${means} for ${name} is a good step for ${about}.`
  return [begin, ...parts, `If you track the ${measure}, ${name} stays on course. Shall we go on with ${about}?`].join(
    "\n\n",
  )
}
