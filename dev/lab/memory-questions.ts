/**
 * Measures how well search finds statements from months ago, on generated dialogues of two people and chats with an assistant. No weight
 * was chosen on them. Compares the Recall tool's text and the memory search with plain BM25 and FTS5 on the same turns.
 *
 *     npm run memory-questions                 the figures of docs/development/figures.md
 *     npm run memory-questions -- --short      a few dialogues, without the table of weights
 *     npm run memory-questions -- --tune       the seeds on which weights are chosen
 *     npm run memory-questions -- --data DIR [--half odd|even]    public data outside the project: LoCoMo files, or folders of BEAM chats
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import type { Weights } from "../../packages/core/src/recall/answer/ranking.ts"
import { CHAT_FILE, readBeam } from "./memory-questions/beam.ts"
import { makeChat } from "./memory-questions/chats.ts"
import { type Dialogue, makeDialogue, type QuestionKind } from "./memory-questions/dialogues.ts"
import { readLocomo } from "./memory-questions/locomo.ts"
import {
  ANSWERABLE,
  makeCrowd,
  measure,
  paraphrased,
  plain,
  UNANSWERABLE,
  withoutSharedWord,
} from "./memory-questions/measure.ts"
import { makeProject } from "./memory-questions/projects.ts"
import { memorySearch, type OpenSearchEntry, plainFts5, recallTool } from "./memory-questions/search-entries.ts"
import { measureSupersession } from "./memory-questions/supersession.ts"

const CROWD_DIALOGUES = 62 // about 1M tokens in total
const { values: options } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    tune: { type: "boolean", default: false },
    data: { type: "string" },
    half: { type: "string" },
  },
})
const isShort = options.short
const part = options.tune ? "chosen" : "held-out"
const FIRST_SEED = { chosen: 1, "held-out": 1_001 }[part]
const dialogueCount = isShort ? 2 : 12
const supersessionCases = isShort ? 200 : 5_000

/** The ranking with one of its parts switched off. */
const WITHOUT: Readonly<Record<string, Partial<Weights>>> = {
  neighbours: { before: [0, 0], after: [0, 0], reply: 0 },
  "more weight for a reply": { reply: 0.4 },
  "the time named in the question": { time: 1 },
  "the score of the session": { session: 0 },
  "more weight for words together": { together: 0 },
  "more weight for the kind of answer": { kind: 0 },
  "more weight for who is asked about": { speaker: 0 },
  "all that was said on a named day": { day: 0 },
}

const percent = (share: number) => (Number.isNaN(share) ? "" : `${(100 * share).toFixed(1)}%`)

async function row(
  name: string,
  dialogues: readonly Dialogue[],
  entry: OpenSearchEntry,
  kinds?: readonly QuestionKind[],
) {
  const all = await measure(dialogues, entry, kinds ?? ANSWERABLE)
  return {
    ...{ search: name, questions: all.count, "turn hit@1": percent(all.turn1), "turn any@5": percent(all.turn5) },
    ...{ "turn any@10": percent(all.turn10), "session hit@1": percent(all.session1) },
    ...{ "session any@5": percent(all.session5), whole: all.whole > 0 ? percent(all.whole) : "" },
  }
}

/**
 * Reports two measures: by turn, whether evidence is the first result or among the first results, and by session, with each session
 * counted once. Published results use one or the other.
 */
async function reportData(directory: string, half: string | undefined): Promise<void> {
  const files = globSync("**/*.json", { cwd: directory }).map((file) => join(directory, file))
  const chats = files.filter((file) => file.endsWith(`/${CHAT_FILE}`)).map(dirname)
  const inOrder = (chats.length > 0 ? chats : files).toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
  const read = inOrder.flatMap((file): readonly Dialogue[] => {
    if (chats.length > 0) return [readBeam(file)]
    const text = readFileSync(file, "utf8")
    return text === "" ? [] : readLocomo(text)
  })
  const dialogues = read.filter((_, at) => half === undefined || (at % 2 === 0) === (half === "odd"))
  console.log(`\n${directory}: ${dialogues.length} of ${read.length} dialogues`)
  const rows = [
    await row("plain BM25", dialogues, plain),
    await row("FTS5", dialogues, plainFts5),
    await row("memory search", dialogues, memorySearch()),
  ]
  for (const kind of ANSWERABLE) {
    if (!dialogues.some(({ questions }) => questions.some((question) => question.kind === kind))) continue
    rows.push(await row(`  plain BM25, ${kind}`, dialogues, plain, [kind]))
    rows.push(await row(`  memory search, ${kind}`, dialogues, memorySearch(), [kind]))
  }
  console.table(rows)
}

if (options.data !== undefined) {
  await reportData(options.data, options.half)
  process.exit()
}

async function report(title: string, dialogues: readonly Dialogue[]): Promise<void> {
  const turns = dialogues.reduce((total, dialogue) => total + dialogue.turns.length, 0)
  console.log(`\n${title}: ${dialogues.length} dialogues, ${turns} turns`)
  const rows = [
    await row("plain BM25", dialogues, plain),
    await row("FTS5", dialogues, plainFts5),
    await row("Recall tool", dialogues, recallTool),
    await row("memory search", dialogues, memorySearch()),
  ]
  for (const kind of ANSWERABLE)
    if (dialogues.some(({ questions }) => questions.some((question) => question.kind === kind)))
      rows.push(await row(`  Recall tool, ${kind}`, dialogues, recallTool, [kind]))
  for (const [name, weights] of isShort ? [] : Object.entries(WITHOUT))
    rows.push(await row(`memory search without ${name}`, dialogues, memorySearch(weights)))
  console.table(rows)
  const { missed, count } = await measure(dialogues, memorySearch())
  const otherwise = new Set(dialogues.flatMap(paraphrased))
  console.log(
    `  session not among 5: ${missed.length} questions, ${missed.filter((one) => otherwise.has(one)).length} of them among the ${otherwise.size} whose evidence has no telling word of theirs`,
  )
  const apart = new Set(dialogues.flatMap(withoutSharedWord))
  const shared = missed.filter((one) => !apart.has(one)).length
  console.log(
    `  ${apart.size} questions share no word with their evidence and the turn before it; session @5 of the others: ${percent(1 - shared / (count - apart.size))}`,
  )
  for (const kind of UNANSWERABLE) {
    const { count, unfitting } = await measure(dialogues, memorySearch(), [kind])
    if (count > 0)
      console.log(`  unanswerable, ${kind}: nothing recalled by itself for ${percent(unfitting)} of ${count}`)
  }
}

const many = (make: (seed: number) => Dialogue) =>
  Array.from({ length: dialogueCount }, (_, at) => make(FIRST_SEED + at))
const everyday = many((seed) => makeDialogue({ seed, about: "everyday", part }))
const project = many((seed) => makeDialogue({ seed, about: "project", part }))

await report(`Two people, everyday, ${part}`, everyday)
await report(`Two people, project, ${part}`, project)
await report(
  `A person and an assistant, ${part}`,
  many((seed) => makeChat({ seed, part })),
)

await report(
  `Months of work with an assistant, ${part}`,
  many((seed) => makeProject({ seed, part })),
)

const both = await measure([...everyday, ...project], recallTool)
console.log(
  `\nTwo people, ${both.count} questions: turn @5 ${percent(both.turn5)}, turn @10 ${percent(both.turn10)}, session @5 ${percent(both.session5)}`,
)

if (part === "held-out") {
  const crowd = makeCrowd(isShort ? 4 : CROWD_DIALOGUES)
  console.log(`\nThe same dialogues, each among ${crowd.turns} turns of other people about other things`)
  console.table([await row("everyday", everyday, crowd.entry), await row("project", project, crowd.entry)])
  crowd.close()
}

const { cases, retiredOffered, retiredAbove, currentFound } = measureSupersession(supersessionCases)
console.log(
  `\nFacts that changed: ${cases} cases. Retired facts offered: ${retiredOffered}; above their successor: ${retiredAbove}.`,
)
console.log(`  The current fact was among the 5 offered in ${percent(currentFound / cases)}.`)
