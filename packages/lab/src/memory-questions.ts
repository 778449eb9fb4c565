/**
 * How well search finds what was said months ago, on generated dialogues that no weight was chosen on, beside plain BM25 in the same run.
 *
 *     npm run memory-questions                 the figures of docs/figures.md
 *     npm run memory-questions -- --short      a few dialogues, without the table of weights
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Weights } from "@strata/core/internal"
import { type Dialogue, type DialogueOptions, makeDialogue } from "./memory-questions/dialogues.ts"
import { readLocomo } from "./memory-questions/locomo.ts"
import {
  ANSWERABLE,
  makeCrowd,
  measure,
  ours,
  plain,
  plainOverTerms,
  type Searcher,
  UNANSWERABLE,
} from "./memory-questions/measure.ts"
import { measureSupersession } from "./memory-questions/supersession.ts"

const DATA = join(import.meta.dirname, "../../../../shared/data/memory")
const HELD_OUT_SEED = 1_001 // weights were chosen on seeds from 1
const CROWD_DIALOGUES = 62 // about 1M tokens
const isShort = process.argv.includes("--short")
const dialogueCount = isShort ? 2 : 12
const supersessionCases = isShort ? 200 : 5_000

/** What the ranking is without one of its parts. */
const WITHOUT: Readonly<Record<string, Partial<Weights>>> = {
  neighbours: { before: [0, 0], after: [0, 0], reply: 0 },
  "more weight for a reply": { reply: 0.3 },
  "the time named in the question": { time: 1 },
  "the score of the session": { session: 0 },
}

const percent = (share: number) => (Number.isNaN(share) ? "" : `${(100 * share).toFixed(1)}%`)

function report(title: string, dialogues: readonly Dialogue[]): void {
  const turns = dialogues.reduce((total, dialogue) => total + dialogue.turns.length, 0)
  console.log(`\n${title}: ${dialogues.length} dialogues, ${turns} turns`)
  const row = (name: string, searcher: Searcher, kinds: Parameters<typeof measure>[2] = ANSWERABLE) => {
    const figures = measure(dialogues, searcher, kinds)
    const { count, turn5, turn10, session5, session10, noAnswer, newerFirst } = figures
    return {
      ...{ search: name, questions: count, "turn @5": percent(turn5), "turn @10": percent(turn10) },
      ...{ "session @5": percent(session5), "session @10": percent(session10), "no answer": percent(noAnswer) },
      ...{ "newer first": percent(newerFirst) },
    }
  }
  const kinds = ANSWERABLE.filter((kind) =>
    dialogues.some(({ questions }) => questions.some((question) => question.kind === kind)),
  )
  console.table([
    row("plain BM25", plain),
    row("plain BM25 over our terms", plainOverTerms),
    row("ours", ours()),
    ...kinds.map((kind) => row(`  ${kind}`, ours(), [kind])),
    ...(isShort ? [] : Object.entries(WITHOUT).map(([name, weights]) => row(`ours without ${name}`, ours(weights)))),
  ])
  for (const kind of UNANSWERABLE) {
    const { count, noAnswer } = measure(dialogues, ours(), [kind])
    if (count > 0) console.log(`  unanswerable, ${kind}: no answer to ${percent(noAnswer)} of ${count}`)
  }
}

const heldOut = (about: DialogueOptions["about"]) =>
  Array.from({ length: dialogueCount }, (_, at) => makeDialogue({ seed: HELD_OUT_SEED + at, about, part: "held-out" }))

for (const about of ["everyday", "project"] as const) report(`Generated, ${about}, held out`, heldOut(about))

const { count, session5, turn10 } = measure([...heldOut("everyday"), ...heldOut("project")], ours())
console.log(`\nBoth together, ${count} questions: turn @10 ${percent(turn10)}, session @5 ${percent(session5)}`)

const crowd = makeCrowd(isShort ? 4 : CROWD_DIALOGUES)
console.log(`\nThe same dialogues, each among ${crowd.turns} turns of other people about other things`)
console.table(
  (["everyday", "project"] as const).map((about) => {
    const { count, turn5, turn10, session5, session10 } = measure(heldOut(about), crowd.search)
    return {
      ...{ about, questions: count, "turn @5": percent(turn5), "turn @10": percent(turn10) },
      ...{ "session @5": percent(session5), "session @10": percent(session10) },
    }
  }),
)
crowd.close()

const files = existsSync(DATA) ? globSync("**/*.json", { cwd: DATA }) : []
if (files.length === 0) console.log("\nThere is no data in ../shared/data/memory, so no public benchmark was measured.")
for (const file of files) report(file, readLocomo(readFileSync(join(DATA, file), "utf8")))

const { cases, retiredOffered, retiredAbove, currentFound } = measureSupersession(supersessionCases)
console.log(
  `\nFacts that changed: ${cases} cases. Retired facts offered: ${retiredOffered}; above their successor: ${retiredAbove}.`,
)
console.log(`  The current fact was among the 5 offered in ${percent(currentFound / cases)}.`)
