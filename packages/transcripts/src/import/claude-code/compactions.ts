/**
 * Estimates the cost of Claude Code's compactions. Its transcripts have the boundary and the summary, but not the request. The request read
 * the context before the boundary and wrote the summary, so the usage follows from these. If a fork's file contains the request, nothing is
 * estimated.
 */

import type { SystemMessage, Usage, Uuid } from "@strata/core"
import { inputTokens, uuidFrom } from "@strata/core/base"
import { contentOf, isBoundary, type Message, type UserMessage } from "@strata/core/messages"
import { createEstimator, findModel, tokenCounts } from "@strata/core/tokens"
import type { ImportedAgent, ImportedUsage } from "../importer.ts"

/**
 * 2.0.76 requested summaries with a separate prompt, which reads no cache; 2.1.200 and 2.1.325 send the conversation's own prefix. Versions
 * 2.1.0 to 2.1.99 were not observed: the cheaper way is assumed, so that the estimate is not too high.
 */
const SENDS_PREFIX = { major: 2, minor: 1 }
const NEAR = 8 // messages between a boundary and its summary
const USUAL_DURATION_MS = 120_000 // assumed duration of a summary request if the boundary has none; 2 to 3 minutes were observed
const FIVE_MINUTES_MS = 5 * 60_000
const HOUR_MS = 60 * 60_000

export interface CompactedTranscript {
  readonly messages: readonly Message[]
  /** The program version that wrote each boundary, if recorded. */
  readonly versions: ReadonlyMap<Uuid, string>
  /** Summaries that a model wrote, as opposed to a plugin's text. */
  readonly summaries: ReadonlySet<Uuid>
  readonly agents: readonly ImportedAgent[]
}

/** Estimates one cost entry for each compaction whose request the transcript lacks. */
export function unrecordedCompactions(transcript: CompactedTranscript): readonly ImportedUsage[] {
  const { messages, versions, summaries, agents } = transcript
  const recorded = agents.filter(({ purpose }) => purpose === "compaction").map(endOf)
  if (recorded.length >= messages.filter(isBoundary).length) return []
  const found: ImportedUsage[] = []
  let last: LastResponse | undefined
  let from = ""
  for (const [at, message] of messages.entries()) {
    last = responseOf(message) ?? last
    if (!isBoundary(message)) continue
    const isRecorded = recorded.some((end) => end > from && end <= message.timestamp)
    from = message.timestamp
    const summary = messages.slice(at + 1, at + 1 + NEAR).find(({ uuid }) => summaries.has(uuid))
    if (!last || summary?.type !== "user" || isRecorded) continue
    const version = versions.get(message.uuid)
    found.push({
      ...{ purpose: "compaction", model: last.model, estimated: true, unrecorded: true },
      usage: usageOf({ boundary: message, summary, last, version }),
      // a copy of the boundary in a fork's transcript has the same time
      responseId: uuidFrom(`claude-code:compaction:${message.timestamp}:${last.id}`),
      after: message.parentUuid ?? message.logicalParentUuid ?? null,
    })
  }
  return found
}

interface LastResponse {
  readonly id: string
  readonly model: string
  readonly at: string
  readonly usage: Usage
}

function responseOf(message: Message): LastResponse | undefined {
  if (message.type !== "assistant") return undefined
  const { id = message.uuid, model, usage } = message.message
  return model === undefined || !usage || usageTokens(usage) === 0
    ? undefined
    : { id, model, usage, at: message.timestamp }
}

/** Time of the last message of the fork that wrote a summary. */
const endOf = ({ messages }: ImportedAgent): string => messages.at(-1)?.timestamp ?? ""

interface SummaryRequestFacts {
  readonly boundary: SystemMessage
  readonly summary: UserMessage
  readonly last: LastResponse
  readonly version: string | undefined
}

function usageOf({ boundary, summary, last, version }: SummaryRequestFacts): Usage {
  const context = boundary.compactMetadata?.preTokens || usageTokens(last.usage)
  const estimator = createEstimator(findModel(last.model).facts.family)
  const output_tokens = Math.round(estimator.blocks(contentOf(summary)))
  if (!sendsPrefix(version)) return { input_tokens: context, output_tokens }
  return isWarm({ boundary, last })
    ? { input_tokens: 0, output_tokens, cache_read_input_tokens: context }
    : { input_tokens: 0, output_tokens, cache_creation_input_tokens: context }
}

function sendsPrefix(version: string | undefined): boolean {
  if (version === undefined) return true
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > SENDS_PREFIX.major || (major === SENDS_PREFIX.major && minor >= SENDS_PREFIX.minor)
}

/** Whether the cache was still valid when the summary was requested. */
function isWarm({ boundary, last }: Pick<SummaryRequestFacts, "boundary" | "last">): boolean {
  const { durationMs } = (boundary.compactMetadata ?? {}) as { readonly durationMs?: unknown }
  const took = typeof durationMs === "number" ? durationMs : USUAL_DURATION_MS
  const pause = Date.parse(boundary.timestamp) - Date.parse(last.at) - took
  const { cacheWrite1h } = tokenCounts(last.usage)
  return pause <= (cacheWrite1h > 0 ? HOUR_MS : FIVE_MINUTES_MS)
}

function usageTokens(usage: Usage): number {
  const counts = tokenCounts(usage)
  return inputTokens(counts) + counts.output
}
