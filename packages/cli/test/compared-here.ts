/** A small comparison as a page, without running the command. */
import { generatedWork, scorecard, timedReplay } from "@strata/transcripts/replay"
import { claudeStyle } from "../../transcripts/src/replay/policies/all.ts"
import { none } from "../../transcripts/src/replay/policies/none.ts"
import { strata } from "../../transcripts/src/replay/policies/strata.ts"
import { comparisonPage } from "../src/compare/command.ts"

export async function comparedHere(): Promise<string> {
  const conversation = generatedWork({ model: "claude-opus-5-5", tokens: 40_000 })
  const recording = { file: "work.jsonl", format: "generated", conversation }
  const replayed = await timedReplay(conversation, { policies: [none, claudeStyle, strata], window: 40_000 })
  const one = { recording, ...replayed }
  return comparisonPage(scorecard([one]), [one]).toString()
}
