/**
 * L4-28: would a summary that is begun near the threshold be there when the threshold is reached? For every recorded conversation with times
 * and usage, and for thresholds all over the range it passed through: how long it took from the lead before the threshold until there.
 * A summariser of 30 seconds keeps nobody waiting where that was longer.
 *
 *     npm run ahead-of-time
 */
import { existsSync } from "node:fs"
import { FIGURES } from "../../core/src/base/flag-names.ts"
import { isBoundary, type Message } from "../../core/src/messages/messages.ts"
import { usageTotal } from "../../core/src/tokens/context-size.ts"
import { BESIDE_THE_REPOSITORY, recordedConversations } from "./recordings.ts"

const LEAD = FIGURES.find(({ name }) => name === "compact-ahead-lead")!.value // tokens before the threshold
const SUMMARISER_SECONDS = 30
const STEP = 5_000 // tokens between two thresholds

interface Point {
  readonly at: number
  readonly tokens: number
}

/** The context's size after each response, in the stretches between two compactions. */
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

/** Seconds from the lead to the threshold, for every threshold that was crossed from below the lead. */
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
    console.log("The recorded conversations are not here, so there is nothing to measure.")
    process.exit(0)
  }
  const times = recordedConversations()
    .filter(({ messages }) => messages.every(({ timestamp }) => Date.parse(timestamp) > 0))
    .flatMap(({ messages }) => stretches(messages).flatMap(leadTimes))
    .toSorted((a, b) => a - b)
  const inTime = times.filter((seconds) => seconds >= SUMMARISER_SECONDS).length
  const at = (share: number) => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0)
  console.log(`${times.length} crossings of a threshold, every ${STEP} tokens, begun ${LEAD} tokens before it`)
  console.log(
    `  seconds to go: median ${at(0.5)}, one in ten less than ${at(0.1)}, one in twenty less than ${at(0.05)}`,
  )
  console.log(
    `  with a summariser of ${SUMMARISER_SECONDS} s there is no wait in ${((100 * inTime) / times.length).toFixed(1)}% of them`,
  )
}
