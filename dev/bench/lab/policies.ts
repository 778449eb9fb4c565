/**
 * Measures what offloading and clearing save compared with other policies, on recorded conversations and on a long one of the simulator's
 * worker, and the time that they take. Results are ratios to sending everything. The bench fails if Strata's policy costs more than that.
 *
 *     npm run bench -- policies [--short]
 */
import { existsSync } from "node:fs"
import { basename } from "node:path"
import { findModel, type Message } from "@strata/core"
import { type Policy, type ReplayReport, replay } from "@strata/transcripts/replay"
import { costOf, tokenCounts } from "../../../packages/core/src/tokens/models.ts"
import { CLEARING_ONLY, STRATA } from "../../../packages/transcripts/src/replay/policies/clearing-only.ts"
import { layered } from "../../../packages/transcripts/src/replay/policies/layered.ts"
import { type RecordedConversation, recordedConversations, TUNING_RECORDINGS } from "../../lab/recordings.ts"
import { isShort } from "../measure.ts"
import { printLayerTurns } from "./layer-turns.ts"
import { workerConversation } from "./worker-conversation.ts"

const MAX_RECORDINGS = isShort ? 4 : Number.POSITIVE_INFINITY
const WORKER_TOKENS = isShort ? 250_000 : 900_000 // below the compaction threshold of a 1M window
const WORKER_MODEL = "claude-opus-5-5"
const WORKER_PAUSES = isShort ? [10] : [1, 10, 90] // minutes between two tasks
/** Follows the other interpretation of the API's documentation: see `server-copy.ts`. */
const REMEMBERING = layered({ ...STRATA, name: "strata, server remembers", server: "keeps" })

const dearer: string[] = []

const ratio = (part: number, whole: number) => (whole === 0 ? "" : (part / whole).toFixed(2))
const costIn = ({ totals }: ReplayReport, unit: string) => (unit === "dollars" ? totals.dollars! : totals.weighed)

async function compare(name: string, messages: readonly Message[], { model, policies = CLEARING_ONLY }: BenchOptions) {
  const { reports } = await replay({ entries: messages, model }, { policies })
  const nothing = reports[0]!
  const ours = reports.find(({ policy }) => policy === STRATA.name)!
  const { unit } = nothing.totals.saved
  if (costIn(ours, unit) > costIn(nothing, unit)) dearer.push(name)
  return { name, reports, nothing, unit }
}

interface BenchOptions {
  readonly model: string
  readonly policies?: readonly Policy[]
}

/** Returns the cost of the same requests according to the recording, if it has usage. */
function billed(messages: readonly Message[]): number | undefined {
  const usages = new Map(
    messages.flatMap((message) =>
      message.type === "assistant" && message.message.usage && message.message.model !== "<synthetic>"
        ? [[message.message.id ?? message.uuid, message.message] as const]
        : [],
    ),
  )
  const costs = [...usages.values()].map(({ model = "unknown", usage }) =>
    costOf(findModel(model).facts, tokenCounts(usage!)),
  )
  return costs.length > 0 && costs.every((cost) => cost.known)
    ? costs.reduce((sum, cost) => sum + (cost.known ? cost.dollars : 0), 0)
    : undefined
}

type PolicyComparison = Awaited<ReturnType<typeof compare>>

function rows({ name, reports, nothing, unit }: PolicyComparison) {
  return reports.map((report, i) => ({
    conversation: i === 0 ? name : "",
    policy: report.policy,
    requests: report.totals.requests,
    cost: unit === "dollars" ? `$${report.totals.dollars!.toFixed(2)}` : "",
    "of nothing": ratio(costIn(report, unit), costIn(nothing, unit)),
    peak: report.totals.peak,
    "peak of nothing": ratio(report.totals.peak, nothing.totals.peak),
    "hit ratio": report.totals.hitRatio.toFixed(3),
    acted: report.actions.length,
  }))
}

function printTotals(compared: readonly PolicyComparison[]): void {
  const priced = compared.filter(({ unit }) => unit === "dollars")
  const sum = (policy: string, of: readonly PolicyComparison[]) =>
    of.reduce((all, { reports, unit }) => all + costIn(reports.find((each) => each.policy === policy)!, unit), 0)
  console.log(`\nAll recordings with a known price (${priced.length} of ${compared.length})`)
  console.table(
    CLEARING_ONLY.map(({ name }) => ({
      policy: name,
      cost: `$${sum(name, priced).toFixed(2)}`,
      "of nothing": ratio(sum(name, priced), sum(CLEARING_ONLY[0].name, priced)),
    })),
  )
}

async function printRecordings(recordings: readonly RecordedConversation[]): Promise<void> {
  const compared: PolicyComparison[] = []
  const fidelity: string[] = []
  for (const { name, messages, model } of recordings) {
    const one = await compare(basename(name), messages, { model })
    const paid = billed(messages)
    if (paid) fidelity.push(`${basename(name)} ${ratio(one.nothing.totals.dollars ?? 0, paid)}`)
    compared.push(one)
  }
  console.log("Recorded conversations, with their own compactions and pauses")
  console.table(compared.flatMap(rows))
  printTotals(compared)
  console.log(`Simulated cost of "nothing" divided by the recorded cost: ${fidelity.join(", ")}`)
}

if (existsSync(TUNING_RECORDINGS)) await printRecordings(recordedConversations().slice(0, MAX_RECORDINGS))
else console.log(`There are no recordings in ${TUNING_RECORDINGS}, so only the worker's conversation is replayed.`)

console.log(`\nThe simulator's worker, about ${WORKER_TOKENS / 1_000}K tokens, a window of 1M`)
for (const pauseMinutes of WORKER_PAUSES) {
  const messages = await workerConversation({ model: WORKER_MODEL, tokens: WORKER_TOKENS, pauseMinutes })
  const name = `pauses of ${pauseMinutes} min`
  console.table(rows(await compare(name, messages, { model: WORKER_MODEL, policies: [...CLEARING_ONLY, REMEMBERING] })))
}

await printLayerTurns()

console.log(
  dearer.length === 0
    ? "\nOur policy never costs more than sending everything."
    : `\nOur policy costs MORE than sending everything: ${dearer.join(", ")}`,
)
process.exitCode = dearer.length === 0 ? 0 : 1
