/**
 * Summarizers for recordings, in the same process. One writes a single sentence, which shows what the preserved data alone carries. The
 * extractive one only quotes. The third returns the summaries of the recording.
 */
import type { Model, ModelRequest } from "@strata/core"
import type { ModelFacts } from "@strata/core/tokens"
import { toBlocks } from "../../../packages/core/src/messages/blocks.ts"
import { answerOffline } from "../../../packages/core/src/model/offline/answer.ts"
import type { ReadMessage } from "../../../packages/core/src/model/offline/read-message.ts"

export const SUMMARISERS = ["sentence", "extractive", "recorded"] as const
export type SummariserName = (typeof SUMMARISERS)[number]

const NOTHING_TO_SAY = "<summary>\nThe conversation went on up to here.\n</summary>"

export interface SummariserOptions {
  readonly name: string
  readonly facts: ModelFacts
  readonly kind: SummariserName
  /** Summary of the compaction, for the summarizer `recorded`. */
  readonly recorded?: string | undefined
}

export function summariserModel({ name, facts, kind, recorded = "" }: SummariserOptions): Model {
  let asked = 0
  return {
    name,
    facts,
    provider: "lab",
    async *stream(request) {
      const index = asked++
      const text =
        kind === "extractive"
          ? extract(request, index)
          : kind === "sentence"
            ? NOTHING_TO_SAY
            : `<summary>\n${recorded}\n</summary>`
      yield { type: "text", text }
      const usage = { input_tokens: 0, output_tokens: 0 } // no server is involved
      const response = { id: `msg_summary_${index}`, model: name, content: [{ type: "text", text }], usage }
      yield { type: "response", response: { ...response, stop_reason: "end_turn" } }
    },
  }
}

function extract({ messages }: ModelRequest, index: number): string {
  const plain = messages.map(({ role, content }) => ({ role, content: toBlocks(content) }) as ReadMessage)
  const [block] = answerOffline({ request: { messages: plain }, nextToolUseId: () => `toolu_${index}` }) ?? []
  if (block?.type !== "text") throw new Error("The offline model did not recognise the request for a summary.")
  return block.text
}
