/**
 * Runs the same queries on the index in a file and on a local PostgreSQL server, one after the other in one run. Measures the time of each
 * query in a warm process. All results must be equal. `BENCH_TOKENS=10000000` sets the size.
 *
 *     npm run bench -- search
 */
import { join } from "node:path"
import pg from "pg"
import { PassageIndex } from "../../../packages/core/src/recall/index/passage-index.ts"
import { RemoteIndex } from "../../../packages/core/src/recall/index/remote-index.ts"
import type { Passage } from "../../../packages/core/src/recall/passages/passage.ts"
import { createEstimator, measureText } from "../../../packages/core/src/tokens/estimate.ts"
import { postgresStore } from "../../../packages/postgres/src/index.ts"
import { startServer } from "../../../packages/postgres/test/server.ts"
import { makeDialogue } from "../../lab/memory-questions/dialogues.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile, timed } from "../measure.ts"

const TOKENS = Number(process.env.BENCH_TOKENS ?? (isShort ? 100_000 : 1_000_000))
const QUERIES = isShort ? 100 : 500
const WARMING = 50
/** Sources that are sent in one call while the index is built. */
const AT_ONCE = 40

/** Queries without a distinctive term, which fall back to a literal text search. */
const OF_TIMES = ["last week", "yesterday", "in May 2025", "on 2025-03-01", "in 2025", "three months ago"].flatMap(
  (time) => [`what did we do ${time}?`, `what was it ${time}`, `and ${time}?`],
)
/** Queries of the same kind that occur literally in some of the texts. Those above occur in none. */
const SENTENCES = [
  "yesterday.",
  "Last year",
  "Last year was",
  "since May.",
  "since May. It was",
  "this year. It was on",
  "this year. It",
]
const TENANT = "bench"
const NOW = new Date("2026-01-01T00:00:00.000Z")

async function measure(directory: string): Promise<void> {
  const files = new PassageIndex(join(directory, "search.sqlite"))
  const passageStore = () => postgresStore({ pool, tenant: TENANT }).passages!({ project: "bench", tokens: 1 })
  const served = new RemoteIndex(passageStore())
  const { questions, statements, tokens, passages, building } = await build(files, served)
  console.log(
    `${Math.round(tokens / 1_000)}K tokens in ${passages} passages: indexed in ${seconds(building.files)} (a file), ${seconds(building.served)} (PostgreSQL)`,
  )
  const newcomer = new RemoteIndex(passageStore())
  const first = await timed(() => newcomer.search({ text: questions[0]!, now: NOW }))
  console.log(`  the first question of a process: ${milliseconds(first.ms)} (PostgreSQL)`)
  const kinds = {
    alone: (at: number) => ({ text: questions[(at * 7) % questions.length]!, now: NOW }),
    "with five messages of context": (at: number) => ({
      ...{ text: questions[(at * 7) % questions.length]!, now: NOW },
      context: statements.slice(5 * at, 5 * at + 5),
    }),
    "of a time only": (at: number) => ({ text: OF_TIMES[at % OF_TIMES.length]!, now: NOW }),
    "of a time only, as written": (at: number) => ({ text: SENTENCES[at % SENTENCES.length]!, now: NOW }),
  }
  const all: { files: number[]; served: number[] } = { files: [], served: [] }
  let [differing, empty] = [0, 0]
  for (const [name, questionAt] of Object.entries(kinds)) {
    const times: { files: number[]; served: number[] } = { files: [], served: [] }
    for (let at = -WARMING; at < QUERIES; at++) {
      const question = questionAt(at + WARMING)
      const here = await timed(() => files.search(question))
      const there = await timed(() => served.search(question))
      if (JSON.stringify(here.result) !== JSON.stringify(there.result)) differing++
      if (here.result.found.length === 0) empty++
      if (at < 0) continue
      times.files.push(here.ms)
      times.served.push(there.ms)
    }
    all.files.push(...times.files)
    all.served.push(...times.served)
    console.log(`  ${name}: ${spread(times.files)} (a file), ${spread(times.served)} (PostgreSQL)`)
  }
  console.log(`  all: ${spread(all.files)} (a file), ${spread(all.served)} (PostgreSQL)`)
  const count = Object.keys(kinds).length * (QUERIES + WARMING)
  console.log(`  answers that differ: ${differing} of ${count}, of which ${empty} found nothing`)
  const client = await pool.connect()
  // in one transaction with the tenant, because workers of a parallel scan only see what the transaction sets
  await client.query("begin")
  await client.query("select set_config('strata.tenant', $1, true)", [TENANT])
  const { rows } = await client.query<{ name: string; bytes: string; texts: string }>(
    `select t as name, pg_total_relation_size(format('strata.%I', t)::regclass) as bytes, (select sum(length(text)) from strata.passage) as texts
     from unnest(array['passage', 'passage_pack', 'token', 'posting', 'shelf_source']) as t`,
  )
  await client.query("commit")
  client.release()
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  const sizes = rows.map(({ name, bytes }) => `${name} ${megabytes(Number(bytes))}`).join(", ")
  console.log(`  on the server for ${megabytes(Number(rows[0]!.texts))} of text: ${sizes}`)
  files.close()
}

async function build(files: PassageIndex, served: RemoteIndex) {
  const estimator = createEstimator("claude-5")
  const questions: string[] = []
  const statements: string[] = []
  const building = { files: 0, served: 0 }
  let [tokens, passages] = [0, 0]
  let waiting: { source: string; passages: readonly Passage[]; from: undefined; to: string }[] = []
  const add = async () => {
    const steps = waiting
    waiting = []
    if (steps.length === 0) return
    building.files += (await timed(() => files.extendAll(steps))).ms
    building.served += (await timed(() => served.extendAll(steps))).ms
  }
  for (let seed = 1; tokens < TOKENS; seed++) {
    const dialogue = makeDialogue({ seed, about: seed % 2 ? "project" : "everyday", part: "held-out" })
    questions.push(...dialogue.questions.map(({ text }) => text))
    const sessions = Map.groupBy(dialogue.turns.entries(), ([, { session }]) => `${seed}/${session}`)
    for (const [source, turns] of sessions) {
      waiting.push({ source, from: undefined, to: "all", passages: turns.map(([at, turn]) => passage(at, turn)) })
      if (waiting.length >= AT_ONCE) await add()
    }
    passages += dialogue.turns.length
    if (statements.length < 5 * (QUERIES + WARMING)) statements.push(...dialogue.turns.map(({ text }) => text))
    for (const { text } of dialogue.turns) tokens += estimator.tokens(measureText(text))
  }
  await add()
  return { questions, statements, tokens, passages, building }
}

function passage(at: number, { text, time }: { readonly text: string; readonly time: string }): Passage {
  return { uuid: `${at}`, blocks: "0", kind: "user", isDialogue: true, time, start: 0, length: text.length, text }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
const spread = (times: readonly number[]) =>
  `p50 ${milliseconds(quantile(times, 0.5))}, p95 ${milliseconds(quantile(times, 0.95))}`

const server = await startServer({ settings: { shared_buffers: "512MB", max_wal_size: "4GB" } })
const pool = new pg.Pool({ connectionString: await server.database(), max: 4 })
try {
  await inTemporaryDirectory(measure)
} finally {
  await pool.end()
  await server.stop()
}
