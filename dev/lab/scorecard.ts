/**
 * Compares compactions without a model: how many facts of generated conversations are still in view, by kind, budget and round.
 *
 *     npm run scorecard -- [--quick] [--only NAME]… [--corpus NAME]… [--budget 0.1]… [--in DIRECTORY]
 *     npm run scorecard -- [--json FILE] [--svg FILE] [--markdown] [--from FILE]
 *     npm run scorecard -- --lost [--only NAME]
 *     npm run scorecard -- --view SESSION [--only NAME] [--budget 0.1]
 *
 * `--from` reads the scores that `--json` wrote. `--markdown` prints the tables of the documents.
 *
 * Peers are installed from the registry into a temporary directory; a directory given with `--in` is preserved, and its packages are
 * reused. `--only strata` needs no registry. `--quick` uses fewer sessions and skips the large ones. `--lost` lists the facts that are lost
 * or stale after the last round, `--view` prints the view of a session after each round.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { fieldOf } from "./scorecard/contestants.ts"
import { CORPORA } from "./scorecard/corpora.ts"
import { scorecardPicture } from "./scorecard/picture.ts"
import { aimsReport, corpusTables, kindsTable, lostList, markdownTables, roundsTable } from "./scorecard/report.ts"
import { BUDGETS, type Contestant, type RoundScore, runSession } from "./scorecard/run.ts"
import { type PlainMessage, textOf } from "./scorecard/session.ts"
import { temporaryDirectory } from "./scorecard/temporary.ts"

const LARGE = ["planted", "kinds"]
/** Corpora of typed statements, with and without labels, for which others publish results. */
const PICTURED = ["typed", "plain"]

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    corpus: { type: "string", multiple: true },
    budget: { type: "string", multiple: true },
    in: { type: "string" },
    json: { type: "string" },
    svg: { type: "string" },
    view: { type: "string" },
    lost: { type: "boolean", default: false },
    from: { type: "string" },
    markdown: { type: "boolean", default: false },
  },
})
const { scores, contestants, absent } = values.from === undefined ? await measure() : readScores(values.from)
if (scores.length === 0) {
  console.error(`Nothing has these names. The corpora are: ${CORPORA.map(({ name }) => name).join(", ")}.`)
  process.exit(2)
}
if (values.markdown) console.log(markdownTables(scores, PICTURED))
else printAll()
if (values.svg !== undefined) writeFileSync(values.svg, scorecardPicture(scores, PICTURED))
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ scores, contestants, absent }))

interface Measured {
  readonly scores: readonly RoundScore[]
  readonly contestants: readonly Pick<Contestant, "name" | "version" | "call" | "takesBudget" | "hasStandIn">[]
  readonly absent: readonly string[]
}

function readScores(file: string): Measured {
  return JSON.parse(readFileSync(file, "utf8")) as Measured
}

async function measure(): Promise<Measured> {
  const place = temporaryDirectory()
  const root = values.in ?? place.directory
  mkdirSync(root, { recursive: true })
  const { contestants, absent, close } = await fieldOf(root, values.only)
  const corpora = CORPORA.filter(({ name }) => values.corpus?.includes(name) ?? !(values.quick && LARGE.includes(name)))
  const shares = values.budget?.map(Number) ?? BUDGETS
  const scores: RoundScore[] = []
  try {
    for (const { name: corpus, sessions } of corpora)
      for (const [nth, session] of sessions({ isQuick: values.quick }).entries()) {
        if (values.view !== undefined && session.id !== values.view) continue
        for (const share of shares)
          for (const contestant of contestants) {
            if (contestant.firstSessionOnly && nth > 0) continue
            if (contestant.corpora && !contestant.corpora.includes(corpus)) continue
            const see = (round: number, view: readonly PlainMessage[]) =>
              console.log(`--- ${contestant.name}, ${session.id} at ${share}, round ${round}\n${textOf(view)}`)
            scores.push(...(await runSession(contestant, { corpus, session, share, ...(values.view ? { see } : {}) })))
          }
      }
  } finally {
    await close()
    place.remove()
  }
  return { scores, contestants, absent }
}

function printAll(): void {
  console.log(corpusTables(scores))
  const first = scores[0]!.contestant
  console.log(`\nall corpora, by round\n${roundsTable(scores)}\n\n${kindsTable(scores, first)}\n`)
  for (const { name, version, call, takesBudget, hasStandIn } of contestants) {
    const limits = `${takesBudget ? "" : "; no option for a budget"}${hasStandIn ? "; a stand-in writes the summary" : ""}`
    console.log(`${name}${version ? ` (${version})` : ""}: ${call}${limits}`)
  }
  console.log(`\n${aimsReport(scores, first, PICTURED)}`)
  if (values.lost) console.log(`\n${lostList(scores)}`)
  for (const line of absent) console.log(`${line}: not compared`)
}
