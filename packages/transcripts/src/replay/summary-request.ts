/** Cost of a request for a summary: the view, the summary prompt, and the text that the model writes. */
import type { TokenCounts } from "@strata/core"
import { addCounts, NO_TOKENS } from "@strata/core/base"
import { summaryPrompt } from "@strata/core/policy"
import type { MeasuredRecording } from "./measured-recording.ts"

/** Tokens of a summary, for all policies. For a Strata journal, the recorded size is used instead, also for all policies. */
export const SUMMARY_TOKENS = 4_000

const PROMPT = summaryPrompt({ kind: "all", instructions: [], record: true, words: SUMMARY_TOKENS })

export interface SummaryRequest {
  /** Counts of the conversation part of the request. */
  readonly sent: TokenCounts
  /** Tokens of the text that the policy uses as the summary. */
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
