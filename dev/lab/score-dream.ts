/**
 * Measures what a dream does to memories whose truth is known: how many true facts go out of view, how many repetitions are merged, and how
 * many outdated values are flagged. Dreams run by rule, without a model. Then measures pairs of consecutive statements of a user.
 *
 *     npm run score:dream [-- --seeds 5] [-- --size 1000] [-- --show]
 */
import { parseArgs } from "node:util"
import { COMPONENTS, KINDS } from "./memory-questions/kinds/fact-kind.ts"
import chosen from "./score-dream/chosen.json" with { type: "json" }
import crews from "./score-dream/crews.json" with { type: "json" }
import final from "./score-dream/final.json" with { type: "json" }
import fresh from "./score-dream/fresh.json" with { type: "json" }
import heldOut from "./score-dream/held-out.json" with { type: "json" }
import kitchens from "./score-dream/kitchens.json" with { type: "json" }
import last from "./score-dream/last.json" with { type: "json" }
import { type DreamScores, measureDream, noScores } from "./score-dream/measure.ts"
import { measurePairs } from "./score-dream/measure-pairs.ts"
import { PAIRS, type Pair } from "./score-dream/pairs.ts"
import seen from "./score-dream/seen.json" with { type: "json" }
import unseen from "./score-dream/unseen.json" with { type: "json" }

/** Sentences that were written for the measurements of search. */
const PHRASES = KINDS.project["held-out"].map(({ name, statements, values }) => ({ name, ways: statements, values }))
const { values } = parseArgs({
  options: { seeds: { type: "string" }, size: { type: "string" }, show: { type: "boolean" }, only: { type: "string" } },
})
const seeds = Number(values.seeds ?? 5)
const size = Number(values.size ?? 1_000)
/** Sets of pairs. Each file states its purpose. */
const SETS = {
  chosen: { material: chosen, first: 1 },
  seen: { material: seen, first: 101 },
  "other phrases": {
    material: { attributes: PHRASES, things: COMPONENTS["held-out"].map(({ written }) => written) },
    first: 301,
  },
  "held out": { material: heldOut, first: 201 },
  last: { material: last, first: 401 },
  unseen: { material: unseen, first: 601 },
  fresh: { material: fresh, first: 701 },
  final: { material: final, first: 501 },
  kitchens: { material: kitchens, first: 801 },
  crews: { material: crews, first: 901 },
}

for (const [name, { material, first }] of Object.entries(SETS)) {
  if (values.only !== undefined && values.only !== name) continue
  const scores = noScores()
  for (let seed = first; seed < first + seeds; seed++) await measureDream(material, { seed, size, scores })
  print(name, scores)
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

function print(name: string, scores: DreamScores): void {
  const share = ({ found, of }: { found: number; of: number }) =>
    `${found} of ${of} (${((100 * found) / Math.max(1, of)).toFixed(1)}%)`
  console.log(
    `${name}: ${scores.memories} memories in ${seeds} banks, ${Math.round(scores.milliseconds / seeds)} ms of processor time for each`,
  )
  console.log(`  true facts out of view   ${scores.trueOutOfView}`)
  console.log(`  repetitions merged       ${share(scores.repeated)}`)
  console.log(`  rewordings merged        ${share(scores.reworded)}`)
  console.log(`  outdated ones marked     ${share(scores.outdated)}`)
  console.log(`    of these, in view       ${scores.inDoubt}`)
  console.log(`    in the same words      ${share(scores.outdatedInSameWords)}`)
  console.log(`  true facts in doubt      ${scores.trueInDoubt}, by another fact ${scores.trueInDoubtAstray}`)
  if (!values.show) return
  for (const line of [
    ...scores.mistakes
      .toSorted((a, b) => Number(a.startsWith("in doubt")) - Number(b.startsWith("in doubt")))
      .slice(0, 40),
    ...new Set(scores.missed),
  ].slice(0, 80))
    console.log(`    ${line}`)
}
