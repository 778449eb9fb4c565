/**
 * What a dream does to memories whose truth is known: how many true facts go out of view, how many repetitions are merged, and how many
 * outdated values are marked. By rule, without a model. Then pairs of sentences that a person says one after the other.
 *
 *     npm run dream-marks [-- --seeds 5] [-- --size 1000] [-- --show]
 */
import { parseArgs } from "node:util"
import { CHOSEN, CHOSEN_THINGS } from "./dream-marks/chosen.ts"
import { CREWS, CREWS_THINGS } from "./dream-marks/crews.ts"
import { FINAL, FINAL_THINGS } from "./dream-marks/final.ts"
import { FRESH, FRESH_THINGS } from "./dream-marks/fresh.ts"
import { HELD_OUT, HELD_OUT_THINGS } from "./dream-marks/held-out.ts"
import { KITCHENS, KITCHENS_THINGS } from "./dream-marks/kitchens.ts"
import { LAST, LAST_THINGS } from "./dream-marks/last.ts"
import { type DreamMarks, measureDream, noMarks } from "./dream-marks/measure.ts"
import { measurePairs } from "./dream-marks/measure-pairs.ts"
import {
  type Pair,
  REPLACED_CHOSEN,
  REPLACED_HELD_OUT,
  SIDE_BY_SIDE_CHOSEN,
  SIDE_BY_SIDE_HELD_OUT,
} from "./dream-marks/pairs.ts"
import { SEEN, SEEN_THINGS } from "./dream-marks/seen.ts"
import { UNSEEN, UNSEEN_THINGS } from "./dream-marks/unseen.ts"
import { COMPONENTS_HELD_OUT, PROJECT_HELD_OUT } from "./memory-questions/kinds/project-held-out.ts"

/** Sentences that were written to measure search. */
const PHRASES = PROJECT_HELD_OUT.map(({ name, said, values }) => ({ name, ways: said, values }))
const { values } = parseArgs({
  options: { seeds: { type: "string" }, size: { type: "string" }, show: { type: "boolean" }, only: { type: "string" } },
})
const seeds = Number(values.seeds ?? 5)
const size = Number(values.size ?? 1_000)
const SETS = {
  chosen: { material: { attributes: CHOSEN, things: CHOSEN_THINGS }, first: 1 },
  seen: { material: { attributes: SEEN, things: SEEN_THINGS }, first: 101 },
  "other phrases": { material: { attributes: PHRASES, things: COMPONENTS_HELD_OUT.map(([name]) => name) }, first: 301 },
  "held out": { material: { attributes: HELD_OUT, things: HELD_OUT_THINGS }, first: 201 },
  last: { material: { attributes: LAST, things: LAST_THINGS }, first: 401 },
  unseen: { material: { attributes: UNSEEN, things: UNSEEN_THINGS }, first: 601 },
  fresh: { material: { attributes: FRESH, things: FRESH_THINGS }, first: 701 },
  final: { material: { attributes: FINAL, things: FINAL_THINGS }, first: 501 },
  kitchens: { material: { attributes: KITCHENS, things: KITCHENS_THINGS }, first: 801 },
  crews: { material: { attributes: CREWS, things: CREWS_THINGS }, first: 901 },
}
const PAIRS = {
  "replaced, chosen": REPLACED_CHOSEN,
  "replaced, held out": REPLACED_HELD_OUT,
  "side by side, chosen": SIDE_BY_SIDE_CHOSEN,
  "side by side, held out": SIDE_BY_SIDE_HELD_OUT,
}

for (const [name, { material, first }] of Object.entries(SETS)) {
  if (values.only !== undefined && values.only !== name) continue
  const marks = noMarks()
  for (let seed = first; seed < first + seeds; seed++) await measureDream(material, { seed, size, marks })
  print(name, marks)
}
for (const [name, pairs] of Object.entries(PAIRS))
  if (values.only === undefined || values.only === name || values.only === "pairs") await printPairs(name, pairs)

async function printPairs(name: string, pairs: readonly Pair[]): Promise<void> {
  const { retired, inDoubt, untouched } = await measurePairs(pairs)
  console.log(`${name}: of ${pairs.length} pairs`)
  console.log(`  the earlier one retired  ${retired.length}`)
  console.log(`  both in view, in doubt   ${inDoubt.length}`)
  console.log(`  both in view             ${untouched.length}`)
  if (!values.show) return
  for (const [state, found] of Object.entries({ retired, inDoubt, untouched }))
    for (const { earlier, later } of found) console.log(`    ${state}: ${earlier} | ${later}`)
}

function print(name: string, marks: DreamMarks): void {
  const share = ({ found, of }: { found: number; of: number }) =>
    `${found} of ${of} (${((100 * found) / Math.max(1, of)).toFixed(1)}%)`
  console.log(
    `${name}: ${marks.memories} memories in ${seeds} banks, ${Math.round(marks.milliseconds / seeds)} ms of processor time for each`,
  )
  console.log(`  true facts out of view   ${marks.trueOutOfView}`)
  console.log(`  repetitions merged       ${share(marks.repeated)}`)
  console.log(`  rewordings merged        ${share(marks.reworded)}`)
  console.log(`  outdated ones marked     ${share(marks.outdated)}`)
  console.log(`    of these, in view       ${marks.inDoubt}`)
  console.log(`    in the same words      ${share(marks.outdatedInSameWords)}`)
  console.log(`  true facts in doubt      ${marks.trueInDoubt}, by another fact ${marks.trueInDoubtAstray}`)
  if (!values.show) return
  for (const line of [
    ...marks.mistakes
      .toSorted((a, b) => Number(a.startsWith("in doubt")) - Number(b.startsWith("in doubt")))
      .slice(0, 40),
    ...new Set(marks.missed),
  ].slice(0, 80))
    console.log(`    ${line}`)
}
