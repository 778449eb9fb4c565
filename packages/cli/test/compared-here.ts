/** A small comparison as a page, without the command around it. */
import { generatedWork } from "@strata/core/internal/replay/generated-work"
import { claudeStyle } from "@strata/core/internal/replay/policies/claude-style"
import { none } from "@strata/core/internal/replay/policies/none"
import { strata } from "@strata/core/internal/replay/policies/strata"
import { scorecard } from "@strata/core/internal/replay/scorecard"
import { timedReplay } from "@strata/core/internal/replay/timed-replay"
import { comparisonPage } from "../src/compare/command.ts"

export async function comparedHere(): Promise<string> {
  const conversation = generatedWork({ model: "claude-opus-5-5", tokens: 40_000 })
  const recording = { file: "work.jsonl", format: "generated", conversation }
  const replayed = await timedReplay(conversation, { policies: [none, claudeStyle, strata], window: 40_000 })
  const one = { recording, ...replayed }
  return comparisonPage(scorecard([one]), [one]).toString()
}
