/**
 * How well the simulator's prompt cache predicts the API's. It replays the requests of recorded conversations at the recorded times and
 * compares its cache reads and writes with the recorded ones. Prints how many requests it predicts exactly or within 1% of the input, and
 * names the cause of every other difference.
 *
 *     node dev/lab/cache-reality.ts [folder with recordings] [--json]
 *
 * `cache-reality/token-shares.ts` explains how tokens are derived, `replay.ts` where breakpoints are assumed, and `causes.ts` how causes
 * are found.
 */
import { parseArgs } from "node:util"
import { CAUSES, type Cause } from "./cache-reality/causes.ts"
import { type Comparison, compareRecording, tally } from "./cache-reality/compare-recordings.ts"
import { inputOf } from "./cache-reality/recorded-requests.ts"
import { recordedConversations } from "./recordings.ts"

const HOW = `How it is counted
- The input of a request is cache reads + cache writes + uncached tokens, as the API counted them.
- From one request to the next, the input grows by the answer and what was sent since. So a prefix that ends where a request
  ended has an exact size. Within a step, the answer has its recorded output, and estimates divide the rest.
- The recordings lack the system prompt and the tools. Their breakpoints are assumed where the first request's read ended and
  where most shorter reads ended.
- The API adds up to 16 uncached tokens of its own after the last block.
- Assumed breakpoints: Claude Code marks the system prompt and the last two messages, pi the system prompt and the last
  message. They live for 5 minutes or 1 hour, as the usage says.
- The first request of a recording is given, not predicted. So is the request that first shows where a breakpoint is.
- A break is a request that did not simply continue from what the request before it had cached.
- OpenAI reports no writes and counts reads in steps of 128, so only reads are compared.`

const percent = (part: number, whole: number) => (whole === 0 ? "" : `${((100 * part) / whole).toFixed(1)}%`)

function row(recording: string, comparisons: readonly Comparison[]) {
  const { requests, predicted, exact, within1Percent, breaks, breaksWithin1Percent } = tally(comparisons)
  return {
    recording,
    model: [...new Set(comparisons.map(({ model }) => model))].length === 1 ? comparisons[0]?.model : "",
    requests,
    predicted,
    exactly: percent(exact, predicted),
    "within 1%": percent(within1Percent, predicted),
    others: predicted - within1Percent,
    "breaks within 1%": `${breaksWithin1Percent} of ${breaks}`,
  }
}

function print(comparisons: readonly Comparison[]): void {
  const { "messages-api": ours = [], openai = [] } = Object.groupBy(comparisons, ({ provider }) => provider)
  console.log(HOW)
  for (const [title, group] of [
    ["Messages API: cache reads and writes", ours],
    ["OpenAI: cache reads, by rules the simulator does not imitate", openai],
  ] as const) {
    if (group.length === 0) continue
    console.log(`\n${title}`)
    console.table([...group.map((each) => row(each.recording, [each])), row("all", group)])
  }
  console.log("\nRequests not predicted, by cause")
  const { causes } = tally(ours)
  console.table(
    (Object.entries(causes) as [Cause, number][])
      .sort(([, a], [, b]) => b - a)
      .map(([cause, requests]) => ({ cause: CAUSES[cause], requests })),
  )
  console.log("\nRequests not predicted, by recording")
  console.table(
    ours.flatMap((each) =>
      Object.entries(tally([each]).causes).map(([cause, requests]) => ({ recording: each.recording, cause, requests })),
    ),
  )
}

const asJson = (comparisons: readonly Comparison[]) =>
  comparisons.map((each) => ({
    recording: each.recording,
    model: each.model,
    provider: each.provider,
    ...tally([each]),
    misses: each.requests.flatMap(({ verdict, prediction: { shaped, read, write } }) =>
      verdict === "exact" || verdict === "given"
        ? []
        : [
            {
              at: new Date(shaped.request.startedAt).toISOString(),
              verdict,
              input: inputOf(shaped.request.usage),
              predicted: { read, write },
              recorded: { read: shaped.request.usage.read, write: shaped.request.usage.write },
            },
          ],
    ),
  }))

const { values, positionals } = parseArgs({ options: { json: { type: "boolean" } }, allowPositionals: true })
const comparisons = recordedConversations(positionals[0]).flatMap((each) => compareRecording(each) ?? [])
if (values.json) console.log(JSON.stringify(asJson(comparisons), null, 2))
else print(comparisons)
