/**
 * Compares compactions without a model: what is still in view of facts in generated conversations, by kind, budget and round.
 *
 *     npm run scorecard -- [--quick] [--only CONTESTANT]… [--corpus NAME]… [--budget 0.1]… [--view SESSION]
 *
 * `--quick` takes fewer sessions, and none of the large ones. `--view` prints what is left of a session after each round.
 */
import { parseArgs } from "node:util"
import { CARRY } from "./scorecard/contestants/strata.ts"
import { CORPORA } from "./scorecard/corpora.ts"
import { corpusTables, kindsTable } from "./scorecard/report.ts"
import { BUDGETS, type RoundScore, runSession } from "./scorecard/run.ts"
import { textOf } from "./scorecard/session.ts"

const LARGE = ["planted", "kinds"]

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    corpus: { type: "string", multiple: true },
    budget: { type: "string", multiple: true },
    view: { type: "string" },
  },
})
const contestants = [CARRY].filter(
  ({ name }) => values.only?.some((only) => name.toLowerCase().includes(only.toLowerCase())) ?? true,
)
const corpora = CORPORA.filter(({ name }) => values.corpus?.includes(name) ?? !(values.quick && LARGE.includes(name)))
const shares = values.budget?.map(Number) ?? BUDGETS
const scores: RoundScore[] = []
for (const { name: corpus, sessions } of corpora)
  for (const session of sessions({ isQuick: values.quick })) {
    if (values.view !== undefined && session.id !== values.view) continue
    for (const share of shares)
      for (const contestant of contestants) {
        const see = (round: number, view: Parameters<typeof textOf>[0]) =>
          console.log(`--- ${contestant.name}, ${session.id} at ${share}, round ${round}\n${textOf(view)}`)
        scores.push(...(await runSession(contestant, { corpus, session, share, ...(values.view ? { see } : {}) })))
      }
  }
console.log(corpusTables(scores))
for (const { name } of contestants) console.log(`\n${kindsTable(scores, name)}`)
