/** What a request for a summary is billed: what was in view, the prompt that asks for it, and what the model writes. */
import type { TokenCounts } from "@strata/core"
import { addCounts, NO_TOKENS } from "@strata/core/base"
import { summaryPrompt } from "@strata/core/policy"
import type { MeasuredRecording } from "./measured-recording.ts"

/** Tokens of a summary, for all policies. One of our own journals has its own size, for all policies as well. */
export const SUMMARY_TOKENS = 4_000

const PROMPT = summaryPrompt({ kind: "all", instructions: [], record: true, words: SUMMARY_TOKENS })

export interface SummaryRequest {
  /** What it is sent of the conversation. */
  readonly sent: TokenCounts
  /** Tokens of the text that the policy shows as a summary. */
  readonly shown: number
}

export function summaryCounts(
  { sizes, summaries }: Pick<MeasuredRecording, "sizes" | "summaries">,
  { sent, shown }: SummaryRequest,
): TokenCounts {
  const asked = Math.round(sizes.estimate({ type: "text", text: PROMPT }))
  const output = summaries?.output ?? Math.min(SUMMARY_TOKENS, shown) // the rest of the text is copied, not written by a model
  return addCounts({ ...sent, input: sent.input + asked, output }, summaries?.again ?? NO_TOKENS)
}
