/**
 * How well the simulator's prompt cache predicts what the API recorded (BEY-8): the requests of recorded conversations are
 * replayed through it on the recorded times, and its reads and writes are set beside the recorded ones. Prints the share
 * predicted exactly and within 1% of a request's input, and the cause for each of the others.
 *
 *     node packages/lab/src/cache-reality.ts [folder with recordings] [--json]
 *
 * How tokens are derived is told at the top of `cache-reality/token-shares.ts`, where marks are assumed in `replay.ts`,
 * and how causes are found in `causes.ts`.
 */
import { parseArgs } from "node:util"
import { CAUSES, type Cause } from "./cache-reality/causes.ts"
import { type Comparison, compareRecording, tally } from "./cache-reality/compare-recordings.ts"
import { inputOf } from "./cache-reality/recorded-requests.ts"
import { recordedConversations } from "./recordings.ts"

const HOW = `Tokens: an input is read + written + uncached as the API counted it. From one request to the next it grows by the answer and
what was sent since, so prefixes that end where a request ended have their exact size. Inside a step the answer has its
recorded output, and estimates spread the rest. System prompt and tools are not recorded: their marks are where the first
request's read ended and where most shorter reads ended. Up to 16 tokens of uncached input, after the last block, are the
API's own. Assumed marks: Claude Code system and last two messages, pi system and last message, 5m or 1h as the usage says.
The first request of a recording, and one that first shows a mark, are given, not predicted. A break is a request that did
not simply extend what the one before had cached. OpenAI counts no writes and reads in steps of 128: reads only.`

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
    ["Messages API: reads and writes", ours],
    ["OpenAI: reads, by rules the simulator does not imitate", openai],
  ] as const) {
    if (group.length === 0) continue
    console.log(`\n${title}`)
    console.table([...group.map((each) => row(each.recording, [each])), row("all", group)])
  }
  console.log("\nThe others, by cause")
  const { causes } = tally(ours)
  console.table(
    (Object.entries(causes) as [Cause, number][])
      .sort(([, a], [, b]) => b - a)
      .map(([cause, requests]) => ({ cause: CAUSES[cause], requests })),
  )
  console.log("\nThe others, by recording")
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
