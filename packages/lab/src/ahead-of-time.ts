/**
 * Would a summary begun shortly before the threshold be ready when the threshold is reached? For every recorded conversation with
 * times and usage, and for many thresholds, this measures the time from the start of the summary to the threshold. If it is longer
 * than the summary takes (30 seconds), the person does not wait.
 *
 *     npm run ahead-of-time
 */
import { existsSync } from "node:fs"
import { FIGURES, isBoundary, type Message, usageTotal } from "@strata/core/internal"
import { BESIDE_THE_REPOSITORY, recordedConversations } from "./recordings.ts"

const LEAD = FIGURES.find(({ name }) => name === "compact-ahead-lead")!.value // tokens before the threshold
const SUMMARISER_SECONDS = 30
const STEP = 5_000 // tokens between two thresholds

interface Point {
  readonly at: number
  readonly tokens: number
}

/** The size of the context after each response, separately for each stretch between two compactions. */
export function stretches(messages: readonly Message[]): readonly (readonly Point[])[] {
  const found: Point[][] = [[]]
  for (const message of messages) {
    if (isBoundary(message)) found.push([])
    if (message.type !== "assistant" || !message.message.usage) continue
    const tokens = usageTotal(message.message.usage)
    if (tokens > 0) found.at(-1)!.push({ at: Date.parse(message.timestamp), tokens })
  }
  return found
}

/** Seconds from the start of the summary to the threshold, for every threshold that the conversation crossed. */
export function leadTimes(points: readonly Point[]): readonly number[] {
  const times: number[] = []
  const largest = Math.max(0, ...points.map(({ tokens }) => tokens))
  for (let threshold = LEAD + STEP; threshold <= largest; threshold += STEP) {
    const crossing = points.findIndex(({ tokens }) => tokens >= threshold)
    const near = points.findIndex(({ tokens }) => tokens >= threshold - LEAD)
    if (near > 0) times.push((points[crossing]!.at - points[near]!.at) / 1_000)
  }
  return times
}

if (import.meta.main) {
  if (!existsSync(BESIDE_THE_REPOSITORY)) {
    console.log("There are no recorded conversations here, so nothing was measured.")
    process.exit(0)
  }
  const times = recordedConversations()
    .filter(({ messages }) => messages.every(({ timestamp }) => Date.parse(timestamp) > 0))
    .flatMap(({ messages }) => stretches(messages).flatMap(leadTimes))
    .toSorted((a, b) => a - b)
  const inTime = times.filter((seconds) => seconds >= SUMMARISER_SECONDS).length
  const at = (share: number) => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0)
  console.log(
    `${times.length} crossings of a threshold (one every ${STEP} tokens); the summary begins ${LEAD} tokens before it`,
  )
  console.log(
    `  seconds until the threshold: median ${at(0.5)}, 10th percentile ${at(0.1)}, 5th percentile ${at(0.05)}`,
  )
  console.log(
    `  if a summary takes ${SUMMARISER_SECONDS} s, it is ready in time in ${((100 * inTime) / times.length).toFixed(1)}% of the cases`,
  )
}
