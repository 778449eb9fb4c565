/**
 * Measures how often a request waits for a summary, and for how long. For every recorded conversation with times and usage, and for many
 * thresholds, this follows the rule that a conversation follows: when a summary starts, when it is finished, and when the window is full. A
 * request waits only if the window is full.
 *
 *     npm run bench:background-summary
 */
import { existsSync } from "node:fs"
import type { Message } from "@strata/core"
import { growthRateOf, leadFor } from "../../packages/core/src/layers/3-session-memory/session-memory.ts"
import { isBoundary } from "../../packages/core/src/messages/messages.ts"
import { usageTotal } from "../../packages/core/src/tokens/context-size.ts"
import { recordedConversations, TUNING_RECORDINGS } from "./recordings.ts"

const SUMMARISERS = [10, 30, 88] // seconds that a summary takes
const STEP = 5_000 // tokens between two thresholds
const FIRST = 40_000
/**
 * Sizes at which a window counts as full: a window of 200,000 tokens at any threshold, and a window that compacts at the threshold itself.
 */
const FULL: readonly { readonly name: string; readonly at: (threshold: number) => number }[] = [
  { name: "a window of 200,000", at: (threshold) => Math.max(177_000, threshold + 10_000) },
  { name: "a window that is full 10,000 after the threshold", at: (threshold) => threshold + 10_000 },
]
const USUAL_SECONDS = 60 // expected before the first summary was measured

interface Point {
  /** Time of the response in seconds. */
  readonly at: number
  readonly tokens: number
}

/** Splits a conversation at its compactions and lists the size of the context after each response. */
export function stretches(messages: readonly Message[]): readonly (readonly Point[])[] {
  const found: Point[][] = [[]]
  for (const message of messages) {
    if (isBoundary(message)) found.push([])
    if (message.type !== "assistant" || !message.message.usage) continue
    const tokens = usageTotal(message.message.usage)
    if (tokens > 0) found.at(-1)!.push({ at: Date.parse(message.timestamp) / 1_000, tokens })
  }
  return found
}

interface Crossing {
  readonly threshold: number
  /** Size in tokens at which the window is full. */
  readonly full: number
  /** Seconds that a summary takes. */
  readonly seconds: number
}

/** Seconds that a request waits at this threshold. A request is sent after the previous response at the earliest. */
export function waitedAt(points: readonly Point[], { threshold, full, seconds }: Crossing): number {
  let ready: number | undefined
  for (const [at, { tokens }] of points.entries()) {
    const before = points[at - 1]
    const sentAt = before?.at ?? 0
    if (before && tokens >= full) return Math.max(0, (ready ?? sentAt + seconds) - sentAt)
    if (before && tokens >= threshold && ready !== undefined && ready <= sentAt) return 0
    const lead = leadFor(growthRateOf(points.slice(0, at + 1)), { seconds: USUAL_SECONDS, autoCompact: threshold })
    if (tokens >= threshold - lead) ready ??= points[at]!.at + seconds
  }
  return 0
}

interface Waits extends Pick<Crossing, "seconds"> {
  readonly fullAt: (threshold: number) => number
}

/** The longest wait at each threshold step that was crossed. A conversation that began beyond a threshold did not cross it. */
export function waits(points: readonly Point[], { seconds, fullAt }: Waits): readonly number[] {
  const largest = Math.max(0, ...points.map(({ tokens }) => tokens))
  const found = new Map<number, number>()
  for (let threshold = FIRST; threshold <= largest; threshold += STEP) {
    const step = points.findIndex(({ tokens }) => tokens >= threshold)
    if (step === 0) continue
    const waited = waitedAt(points, { threshold, seconds, full: fullAt(threshold) })
    found.set(step, Math.max(waited, found.get(step) ?? 0))
  }
  return [...found.values()]
}

/** Whether the recording has the times of the work. An export has only its own time. */
const hasTimes = (points: readonly Point[]): boolean =>
  points.filter(({ at }, i) => i > 0 && at - points[i - 1]!.at >= 1).length >= points.length / 2

if (import.meta.main) {
  if (!existsSync(TUNING_RECORDINGS)) {
    console.log("There are no recorded conversations here, so nothing was measured.")
    process.exit(0)
  }
  const recorded = recordedConversations()
    .filter(({ messages }) => messages.every(({ timestamp }) => Date.parse(timestamp) > 0))
    .flatMap(({ messages }) => stretches(messages))
    .filter((points) => points.length > 1 && hasTimes(points))
  for (const { name, at: fullAt } of FULL)
    for (const seconds of SUMMARISERS) {
      const waited = recorded.flatMap((points) => waits(points, { seconds, fullAt })).toSorted((a, b) => a - b)
      const none = waited.filter((each) => each === 0).length
      const sum = waited.reduce((total, each) => total + each, 0)
      console.log(
        `${name}, a summary of ${seconds} s: ${((100 * none) / waited.length).toFixed(1)}% of ${waited.length} steps across a threshold wait for nothing; ${Math.round(sum)} s in all, at most ${Math.round(waited.at(-1) ?? 0)} s`,
      )
    }
}
