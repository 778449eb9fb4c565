/** Compares every recorded compaction with ours of the same messages. */
import { createEstimator, findModel } from "@strata/core/internal"
import type { RecordedConversation } from "../recordings.ts"
import { type Marks, measure } from "./marks.ts"
import { ourCompactions } from "./our-compactions.ts"
import { recordedCompactions } from "./recorded-compactions.ts"
import { saidIn } from "./said.ts"

export const WAYS = ["recorded", "extractive", "empty"] as const
export type Way = (typeof WAYS)[number]

export interface Measured {
  readonly marks: Marks
  /** The messages of the next request, estimated in the same way for all three. */
  readonly tokens: number
}

export interface Compared {
  readonly recording: string
  readonly format: string
  /** 1 for the first compaction of a recording. */
  readonly nth: number
  /** As the recording program counted them, with system prompt, tools and restored files. */
  readonly tokensBefore: number
  readonly tokensAfter: number | undefined
  readonly ways: Readonly<Record<Way, Measured>>
}

export async function compareCompactions(recording: RecordedConversation): Promise<readonly Compared[]> {
  const compactions = recordedCompactions(recording)
  if (compactions.length === 0) return []
  const { name, format, model, cwd } = recording
  const estimator = createEstimator(findModel(model).facts.family)
  const extractive = await ourCompactions(recording, compactions, "extractive")
  const empty = await ourCompactions(recording, compactions, "empty")
  return compactions.map(({ tokensBefore, tokensAfter, standing, ...compaction }, at) => {
    const said = saidIn({ ...compaction, ...(cwd === undefined ? {} : { cwd }) })
    const measured = (text: string): Measured => ({
      marks: measure(said, text),
      tokens: Math.ceil(estimator.text(text)),
    })
    return {
      ...{ recording: name, format, nth: at + 1, tokensBefore, tokensAfter },
      ways: { recorded: measured(standing), extractive: measured(extractive[at]!), empty: measured(empty[at]!) },
    }
  })
}
