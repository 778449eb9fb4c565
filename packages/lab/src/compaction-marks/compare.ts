/** Compares every recorded compaction with ours of the same messages, with three summaries and three sizes of the list of names. */
import { findModel } from "@strata/core"
import { createEstimator } from "../../../core/src/tokens/estimate.ts"
import type { RecordedConversation } from "../recordings.ts"
import { type CarriedText, carriedCompactions } from "./carried.ts"
import { cutsOf } from "./cuts.ts"
import { type Marks, measure } from "./marks.ts"
import { withNamesUpTo } from "./names-list.ts"
import { ourCompactions } from "./our-compactions.ts"
import { recordedCompactions } from "./recorded-compactions.ts"
import { saidIn } from "./said.ts"
import { SUMMARISERS, type SummariserName } from "./summarisers.ts"

export const NAMES_LIMITS = [0, 1_000, 2_000] as const // tokens; the last is the default
type NamesLimit = (typeof NAMES_LIMITS)[number]

export type Way = "recorded" | "recorded, files" | "carry" | "carry, recorded" | `${SummariserName}, ${NamesLimit}`
export const WAYS: readonly Way[] = [
  "recorded",
  "recorded, files",
  "carry",
  "carry, recorded",
  ...SUMMARISERS.flatMap((summary) => NAMES_LIMITS.map((limit): Way => `${summary}, ${limit}`)),
]

export interface Measured {
  readonly marks: Marks
  /** The messages of the next request, estimated in the same way for all. */
  readonly tokens: number
  /** How long it took, where that says something. */
  readonly milliseconds?: number
}

export interface Compared {
  readonly recording: string
  readonly format: string
  /** Whether the recording has this compaction, or we cut there. */
  readonly place: "recorded" | "cut"
  /** 1 for the first compaction of a recording. */
  readonly nth: number
  /** As the recording program counted them, with system prompt, tools and restored files; at a cut our estimate of the messages. */
  readonly tokensBefore: number
  readonly tokensAfter: number | undefined
  /** A way is missing where the recording has no summary to read. */
  readonly ways: Readonly<Partial<Record<Way, Measured>>>
}

export async function compareCompactions(recording: RecordedConversation): Promise<readonly Compared[]> {
  const recorded = recordedCompactions(recording)
  const compactions = recorded.length > 0 ? recorded : cutsOf(recording)
  if (compactions.length === 0) return []
  const { name, format, model, cwd } = recording
  const estimator = createEstimator(findModel(model).facts.family)
  const hasSummaries = compactions.every(({ summary }) => summary !== undefined)
  const ours = new Map<SummariserName, readonly string[]>()
  for (const kind of SUMMARISERS)
    if (kind !== "recorded" || hasSummaries) ours.set(kind, await ourCompactions(recording, compactions, kind))
  const carried = new Map<Way, readonly CarriedText[]>([["carry", await carriedCompactions(compactions)]])
  if (hasSummaries) carried.set("carry, recorded", await carriedCompactions(compactions, { isRecorded: true }))
  return compactions.map(({ tokensBefore, tokensAfter, standing, restored, ...compaction }, at) => {
    const said = saidIn({ ...compaction, ...(cwd === undefined ? {} : { cwd }) })
    const ways: Partial<Record<Way, Measured>> = {}
    const add = (way: Way, text: string, milliseconds?: number) => {
      const time = milliseconds === undefined ? {} : { milliseconds }
      ways[way] = { marks: measure(said, text), tokens: Math.ceil(estimator.text(text)), ...time }
    }
    if (standing !== undefined) add("recorded", standing)
    if (standing !== undefined && format === "claude-code") add("recorded, files", `${standing}\n${restored}`)
    for (const [way, texts] of carried) add(way, texts[at]!.text, texts[at]!.milliseconds)
    for (const [kind, texts] of ours)
      for (const limit of NAMES_LIMITS) add(`${kind}, ${limit}`, withNamesUpTo(texts[at]!, limit, estimator.text))
    const place = recorded.length > 0 ? "recorded" : "cut"
    return { recording: name, format, place, nth: at + 1, tokensBefore, tokensAfter, ways }
  })
}
