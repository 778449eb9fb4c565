/**
 * Compares every recorded compaction with Strata's compaction of the same messages, with three summaries and three sizes of the list of
 * names.
 */

import { type CompactedMessages, compactMessages, findModel, type Message } from "@strata/core"
import { isBoundary } from "../../../packages/core/src/messages/messages.ts"
import { createEstimator } from "../../../packages/core/src/tokens/estimate.ts"
import type { RecordedConversation } from "../recordings.ts"
import { ourCompactions } from "./our-compactions.ts"
import { type RecordedCompaction, recordedCompactions } from "./recorded-compactions.ts"
import { measure, type Scores } from "./scores.ts"
import { statementsIn, textSent } from "./statements.ts"
import { SUMMARISERS, type SummariserName } from "./summarisers.ts"

// Results of `compactMessages` at the positions where a recording was compacted. Each later call gets the result of the previous one and
// the messages since.

export interface CarriedText {
  readonly text: string
  readonly milliseconds: number
}

/** `isRecorded`: whether the recorded summary is used in place of quotations. */
export async function carriedCompactions(
  compactions: readonly RecordedCompaction[],
  { isRecorded = false }: { readonly isRecorded?: boolean } = {},
): Promise<readonly CarriedText[]> {
  const texts: CarriedText[] = []
  let last: CompactedMessages<Message | { readonly role: "user"; readonly content: string }> | undefined
  for (const { since, summary = "" } of compactions) {
    const started = performance.now()
    last = await compactMessages([...(last?.messages ?? []), ...since], {
      ...(isRecorded ? { summary } : {}),
      ...(last ? { before: last.state } : {}),
    })
    const milliseconds = performance.now() - started
    const text = last.messages.map((each) => ("uuid" in each ? textSent(each) : each.content))
    texts.push({ text: text.join("\n"), milliseconds })
  }
  return texts
}

// Positions to compact a recording that was never compacted: at regular distances in tokens of its messages.

const BETWEEN = 100_000 // in tokens, less than most windows hold, so that short recordings are included
const MIN_AFTER = 10 // minimum number of later messages; fewer use too few names for a result

export function cutsOf({ messages, model }: RecordedConversation): RecordedCompaction[] {
  if (messages.some(isBoundary)) return []
  const estimator = createEstimator(findModel(model).facts.family)
  const cuts: { readonly at: number; readonly tokens: number }[] = []
  let tokens = 0
  messages.forEach((message, at) => {
    tokens += estimator.text(textSent(message))
    if (tokens >= BETWEEN && endsRound(messages, at)) {
      cuts.push({ at: at + 1, tokens: Math.round(tokens) })
      tokens = 0
    }
  })
  return cuts
    .map(({ at, tokens: before }, nth) => ({
      before: messages.slice(0, at),
      older: cuts[nth - 1]?.at ?? 0,
      since: messages.slice(cuts[nth - 1]?.at ?? 0, at),
      after: messages.slice(at, cuts[nth + 1]?.at),
      standing: undefined,
      restored: "",
      summary: undefined,
      tokensBefore: before,
      tokensAfter: undefined,
    }))
    .filter(({ after }) => after.length >= MIN_AFTER)
}

/** Whether a round ends before this message. A call and its result stay together, so a cut is before a message of the assistant. */
const endsRound = (messages: readonly Message[], at: number): boolean =>
  messages[at]!.type === "user" && messages[at + 1]?.type === "assistant"

// The list of exact names in a text after a boundary, cut to fewer tokens from its beginning.

const SECTION = /\n*## Exact names\n[^\n]*\n(`{3,})\n([\s\S]*?)\n\1/
const LINE = /^(said|typed|in results): (.*)$/
const NAME = /"(?:[^"\\]|\\.)*"|\S+/g

/** The same text with at most `limit` tokens of names. */
export function withNamesUpTo(text: string, limit: number, estimate: (text: string) => number): string {
  return text.replace(SECTION, (section, fence: string, list: string) => {
    const head = section.slice(0, section.indexOf(`${fence}\n`) + fence.length + 1)
    let room = limit - estimate(`${head}${fence}`)
    const lines = list.split("\n").flatMap((line) => {
      const [, label = "", names = ""] = LINE.exec(line) ?? []
      room -= estimate(`${label}: \n`)
      const taken: string[] = []
      for (const [name] of names.matchAll(NAME)) {
        if (room <= 0) break
        room -= estimate(` ${name}`)
        if (room >= 0) taken.push(name)
      }
      return taken.length === 0 ? [] : [`${label}: ${taken.join(" ")}`]
    })
    return lines.length === 0 ? "" : `${head}${lines.join("\n")}\n${fence}`
  })
}

export const NAMES_LIMITS = [0, 1_000, 2_000] as const // in tokens; the last one is the default
type NamesLimit = (typeof NAMES_LIMITS)[number]

export type CompactionVariant =
  | "recorded"
  | "recorded, files"
  | "carry"
  | "carry, recorded"
  | `${SummariserName}, ${NamesLimit}`
export const WAYS: readonly CompactionVariant[] = [
  "recorded",
  "recorded, files",
  "carry",
  "carry, recorded",
  ...SUMMARISERS.flatMap((summary) => NAMES_LIMITS.map((limit): CompactionVariant => `${summary}, ${limit}`)),
]

export interface CompactionScores {
  readonly scores: Scores
  /** Estimated tokens of the messages of the next request, by the same estimate for all variants. */
  readonly tokens: number
  /** Duration, where it is meaningful. */
  readonly milliseconds?: number
}

export interface ComparedCompaction {
  readonly recording: string
  readonly format: string
  /** `recorded` if the recording has this compaction, `cut` if the comparison chose the position. */
  readonly origin: "recorded" | "cut"
  /** 1 for the first compaction of a recording. */
  readonly nth: number
  /** The recording program's count, including system prompt, tools and restored files. At a cut, Strata's estimate of the messages. */
  readonly tokensBefore: number
  readonly tokensAfter: number | undefined
  /** Scores by variant. A variant is missing if the recording has no readable summary. */
  readonly variants: Readonly<Partial<Record<CompactionVariant, CompactionScores>>>
}

export async function compareCompactions(recording: RecordedConversation): Promise<readonly ComparedCompaction[]> {
  const recorded = recordedCompactions(recording)
  const compactions = recorded.length > 0 ? recorded : cutsOf(recording)
  if (compactions.length === 0) return []
  const { name, format, model, cwd } = recording
  const estimator = createEstimator(findModel(model).facts.family)
  const hasSummaries = compactions.every(({ summary }) => summary !== undefined)
  const ours = new Map<SummariserName, readonly string[]>()
  for (const kind of SUMMARISERS)
    if (kind !== "recorded" || hasSummaries) ours.set(kind, await ourCompactions(recording, compactions, kind))
  const carried = new Map<CompactionVariant, readonly CarriedText[]>([["carry", await carriedCompactions(compactions)]])
  if (hasSummaries) carried.set("carry, recorded", await carriedCompactions(compactions, { isRecorded: true }))
  return compactions.map(({ tokensBefore, tokensAfter, standing, restored, ...compaction }, at) => {
    const statements = statementsIn({ ...compaction, ...(cwd === undefined ? {} : { cwd }) })
    const variants: Partial<Record<CompactionVariant, CompactionScores>> = {}
    const add = (variant: CompactionVariant, text: string, milliseconds?: number) => {
      const time = milliseconds === undefined ? {} : { milliseconds }
      variants[variant] = { scores: measure(statements, text), tokens: Math.ceil(estimator.text(text)), ...time }
    }
    if (standing !== undefined) add("recorded", standing)
    if (standing !== undefined && format === "claude-code") add("recorded, files", `${standing}\n${restored}`)
    for (const [variant, texts] of carried) add(variant, texts[at]!.text, texts[at]!.milliseconds)
    for (const [kind, texts] of ours)
      for (const limit of NAMES_LIMITS) add(`${kind}, ${limit}`, withNamesUpTo(texts[at]!, limit, estimator.text))
    const origin = recorded.length > 0 ? "recorded" : "cut"
    return { recording: name, format, origin, nth: at + 1, tokensBefore, tokensAfter, variants }
  })
}
