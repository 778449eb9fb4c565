/**
 * Explains where a recorded request read more or less from the cache than the rules predict. Most of these incidents cannot be predicted
 * from a recording, so they are taken from the usage, as pauses are taken from the times. Each gets the cause for which the recording has
 * evidence.
 */

import { isText, isToolResult, toBlocks } from "@strata/core/messages"
import { isDecision } from "@strata/core/store"
import type { CachedInput, CacheIncident } from "./cache-model.ts"
import type { IncidentCause } from "./incident-causes.ts"
import type { RecordedContext } from "./measured-recording.ts"

export interface ExplainedIncident {
  readonly cause: IncidentCause
  /** Tokens that the request read, as billed. */
  readonly read: number
  /** The incident as any policy would meet it. Absent if it depends on exactly what the client sent. */
  readonly incident?: CacheIncident
}

const CLOSE = 0.01 // of the input: smaller differences come from estimated block sizes
const INTERRUPTED = "[Request interrupted by user"
const TOOL_CHANGES: ReadonlySet<string> = new Set(["tool_delta", "mcp_instructions", "mcp_instructions_delta"])

export interface ObservedRequest {
  /** Tokens that the request read, as billed. */
  readonly read: number
  readonly input: number
  readonly expected: CachedInput
  /** Tokens that it would have read if no entry had expired. */
  readonly withoutExpiry: CachedInput
  /** Tokens up to the end of the last response. */
  readonly answered: number
  /** Tokens of the prompt. */
  readonly prompt: number
  readonly context: RecordedContext
}

export function incidentOf(observed: ObservedRequest): ExplainedIncident | undefined {
  const { read, input, expected } = observed
  const difference = read - expected.cacheRead
  if (Math.abs(difference) <= CLOSE * input) return undefined
  return { read, ...(difference > 0 ? foundMore(observed) : foundLess(observed)) }
}

type Explanation = Omit<ExplainedIncident, "read">

function foundMore({ read, input, withoutExpiry, answered, prompt }: ObservedRequest): Explanation {
  const isAt = (tokens: number) => Math.abs(read - tokens) <= CLOSE * input
  if (isAt(withoutExpiry.cacheRead)) return { cause: "outlived", incident: { kind: "outlived" } }
  if (isAt(answered)) return { cause: "unrecorded-request", incident: { kind: "answer-cached" } }
  if (read <= prompt) return { cause: "prompt-kept-warm", incident: { kind: "found", upTo: read } }
  return { cause: "more-read" }
}

function foundLess({ read, prompt, context }: ObservedRequest): Explanation {
  const kept = read === 0 ? "nothing" : read <= prompt ? "prompt" : "part"
  return { cause: whyLess(context, kept), incident: { kind: "lost", kept, upTo: read } }
}

function whyLess(context: RecordedContext, kept: "nothing" | "prompt" | "part"): IncidentCause {
  if (changesTools(context)) return "tools-changed"
  if (isInterrupted(context)) return "interrupted"
  if (context.isFirst) return "other-prompt"
  return ({ nothing: "all-lost", prompt: "prompt-left", part: "part-left" } as const)[kept]
}

function changesTools({ since }: RecordedContext): boolean {
  return since.some((entry) => {
    if (isDecision(entry)) return entry.subtype === "prompt-rendered" && entry.why !== "start"
    if (entry.type !== "attachment") return false
    const { attachment } = entry
    return TOOL_CHANGES.has(attachment.type === "foreign" ? attachment.kind : attachment.type)
  })
}

function isInterrupted({ since }: RecordedContext): boolean {
  return since.some(
    (entry) =>
      entry.type === "user" &&
      toBlocks(entry.message.content).some(
        (block) => !isToolResult(block) && isText(block) && block.text.startsWith(INTERRUPTED),
      ),
  )
}
