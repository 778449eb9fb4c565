/** Reports what a recorded conversation spent its context and money on, as plain data. */

import { type Block, isMessage, type TokenCounts } from "@strata/core"
import { formatCompact, isSimulatedId, pluralize } from "@strata/core/base"
import { type AssistantMessage, contentOf, isBoundary, isSynthetic, type Message } from "@strata/core/messages"
import type { Entry } from "@strata/core/store"
import {
  type BlockTokens,
  breakDownContext,
  type ContextBreakdown,
  cacheBlockTokens,
  contextShares,
  findModel,
  type RepeatedReads,
  repeatedReads,
  type ContextShares as Shares,
} from "@strata/core/tokens"
import {
  type AgentCost,
  accountContext,
  type BreakCause,
  type CacheBreakTotal as BreakTotal,
  type CacheBreak,
  type CostReport,
  type CostViews,
  costViews,
  describeEstimates,
  type EstimatedCost as Estimated,
  type LayerSaving,
  ledgerReport,
  type RequestPurpose as Purpose,
  summarise,
  totalBreaks,
} from "@strata/core/views"
import type { ImportReport } from "../import/importer.ts"
import { type BoundaryNames, NamesAfterBoundaries } from "./needed-names.ts"
import type { Transcript } from "./read-transcripts.ts"
import { type FileTotal, type ToolCall, type ToolTotal, toolCalls, totalsByFile, totalsByTool } from "./tool-use.ts"

// Finds responses whose recorded output tokens are stubs: some versions of Claude Code recorded the count from the start of a response, not
// from its end. The content shows that more was written, so a price based on these counts is too low. The simulator's counts are never
// stubs: they are complete, but a call counts less there than a model's, which the estimate includes.

/** Responses with too few output tokens recorded. */
export interface OutputStubs {
  /** Number of responses whose count is a stub. */
  readonly responses: number
  /** Tokens recorded for them. */
  readonly recorded: number
  /** Estimated tokens of their content, without thinking that was not recorded. */
  readonly written: number
}

const MIN_ESTIMATE = 40 // tokens; estimates of smaller texts are too rough
const STUB_SHARE = 0.5 // of the estimate, whose error for code is smaller
const MIN_REPORTED_SHARE = 0.05 // of all recorded output

export function outputStubs(entries: readonly Entry[], tokens: BlockTokens): OutputStubs | undefined {
  const responses = Map.groupBy(entries.filter(isAnswer), (message) => message.message.id ?? message.uuid)
  const found = { responses: 0, recorded: 0, written: 0 }
  let all = 0
  for (const pieces of responses.values()) {
    const recorded = Math.max(...pieces.map(({ message }) => message.usage?.output_tokens ?? 0))
    const written = tokens.blocks(pieces.flatMap((piece) => contentOf(piece).filter(isCounted)))
    all += recorded
    if (written < MIN_ESTIMATE || recorded >= written * STUB_SHARE) continue
    found.responses++
    found.recorded += recorded
    found.written += written
  }
  return found.written - found.recorded > all * MIN_REPORTED_SHARE ? found : undefined
}

export const stubSentences = ({ responses, recorded, written }: OutputStubs): string =>
  `The output tokens of ${pluralize(responses, "response")} were not recorded in full: ${formatCompact(recorded)} recorded, about ${formatCompact(written)} written. The cost of the output is higher than shown.`

const isAnswer = (entry: Entry): entry is AssistantMessage =>
  isMessage(entry) && entry.type === "assistant" && entry.message.usage !== undefined && !isSimulated(entry)

const isCounted = ({ type }: Block): boolean => type === "text" || type === "thinking" || type === "tool_use"

/** Report on the context and cost of a recorded conversation. */
export interface Inspection {
  readonly file: string
  readonly format: string
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  readonly model?: string
  readonly report: ImportReport
  readonly messages: number
  /** Times of the first and last message; absent if the format has no times. */
  readonly time?: { readonly from: string; readonly to: string }
  /** Everything that ever entered the context, by class. Estimates, calibrated with the API's counts. */
  readonly content: ContextBreakdown & { readonly shares: Shares }
  /** The cost of reading files again. */
  readonly repeated: RepeatedReads
  readonly byTool: readonly ToolTotal[]
  readonly byFile: readonly FileTotal[]
  readonly largestResults: readonly ToolCall[]
  readonly growth: ContextGrowth
  readonly cache: RecordedCache
  readonly money: RecordedCost
  readonly agents: RecordedAgents
  /** Savings of Strata's layers. Empty for transcripts of other programs. */
  readonly savings: readonly LayerSaving[]
}

/** How the context grew, and where it was compacted. */
export interface ContextGrowth {
  /** `counted`: by the API. `estimated`: without the system prompt and tools. */
  readonly source: "counted" | "estimated"
  /** Tokens in the context after each response. */
  readonly sizes: readonly number[]
  readonly boundaries: readonly RecordedBoundary[]
  /** The context at the end, by class. */
  readonly last: ContextBreakdown
}

/** A compaction in a recorded conversation. */
export interface RecordedBoundary {
  /** Number of responses before it. */
  readonly turn: number
  readonly before: number
  /** Context size after the next response. */
  readonly after?: number
  /** Estimated context size, if there is no next response yet. */
  readonly estimated?: number
  /** Which earlier names were used afterwards. Absent if no response followed. */
  readonly needed?: BoundaryNames
}

/** Cache statistics over all requests: those of the conversation, its sub-agents and compactions. */
export interface RecordedCache {
  readonly requests: number
  readonly counts: TokenCounts
  /** Share of the input read from cache. */
  readonly hitRatio: number
  /** The most expensive cache misses, in order. */
  readonly breaks: readonly CacheBreak[]
  readonly broken: BreakTotal
  readonly byCause: Readonly<Partial<Record<BreakCause, BreakTotal>>>
}

/** The sub-agents in the order they started. `own` plus their costs add up to `all`. */
export interface RecordedAgents {
  readonly started: readonly AgentCost[]
  readonly own: CostReport
  readonly all: CostReport
}

/** Cost of the requests. */
export interface RecordedCost {
  readonly dollars: number
  /** Responses with too few output tokens recorded, which makes the sum a lower bound. */
  readonly stubs?: OutputStubs
  readonly unpriced: readonly string[]
  /** Requests whose responses are incomplete or not recorded, so that their cost is partly estimated. */
  readonly estimated?: Estimated
  /** Sentences for the user: what is estimated and what is missing. */
  readonly remarks: readonly string[]
  readonly lines: readonly {
    readonly model: string
    readonly purpose: Purpose
    readonly requests: number
    readonly counts: TokenCounts
    /** Absent if the price is unknown. */
    readonly dollars?: number
  }[]
}

const MAX_RESULTS = 10
const NO_TIME = "1970-01-01" // importers of formats without times start here

export function inspectTranscript(transcript: Transcript): Inspection {
  const { entries, aside, ...about } = transcript
  const { facts } = findModel(about.model ?? "unknown")
  const views = costViews({ family: facts.family })
  const course = new ContextTracker()
  const names = new NamesAfterBoundaries(entries)
  const shown = () => views.context.messages().messages.flatMap(({ content }) => content)
  for (const entry of aside) views.apply(entry, "off-path")
  for (const entry of entries) {
    if (isMessage(entry) && isBoundary(entry))
      course.boundary(entry.compactMetadata?.preTokens || views.context.size().tokens)
    names.take(entry, shown)
    views.apply(entry)
    const size = views.context.size()
    course.grown(size.tokens)
    if (isMessage(entry)) course.message(entry, size)
  }
  const messages = entries.filter(isMessage)
  const tokens = cacheBlockTokens(views.estimator)
  const calls = toolCalls(messages, tokens)
  const content = breakDownContext(messages, tokens)
  const time = timeOf(messages)
  return {
    ...about,
    messages: messages.length,
    ...(time ? { time } : {}),
    content: { ...content, shares: contextShares(content) },
    repeated: repeatedReads(content, facts),
    byTool: totalsByTool(calls),
    byFile: totalsByFile(calls),
    largestResults: calls.toSorted((a, b) => b.resultTokens - a.resultTokens).slice(0, MAX_RESULTS),
    growth: { ...course.growth(names.found()), last: accountContext({ context: views.context, estimator: tokens }) },
    cache: recordedCache(views),
    money: recordedCost({ views, entries: [...aside, ...entries], tokens }),
    agents: recordedAgents(views),
    savings: summarise(views.ledger).savings,
  }
}

/** Tracks the context size after each response of the active branch. */
class ContextTracker {
  readonly #sizes: { readonly id: string; tokens: number }[] = []
  readonly #boundaries: { readonly turn: number; readonly before: number; now: number }[] = []
  #isCounted = false

  boundary(before: number): void {
    this.#boundaries.push({ turn: this.#sizes.length, before, now: before })
  }

  /** Updates the context size since the last boundary. */
  grown(tokens: number): void {
    const last = this.#boundaries.at(-1)
    if (last) last.now = tokens
  }

  message(message: Message, size: { readonly tokens: number; readonly counted: number }): void {
    if (message.type !== "assistant" || message.isSidechain || isSynthetic(message)) return
    const { id = message.uuid } = message.message
    const last = this.#sizes.at(-1)
    if (last?.id === id) last.tokens = size.tokens
    else this.#sizes.push({ id, tokens: size.tokens })
    if (size.counted > 0) this.#isCounted = true
  }

  /** `needed` is indexed by boundary. */
  growth(needed: readonly (BoundaryNames | undefined)[]): Omit<ContextGrowth, "last"> {
    const boundaries = this.#boundaries.map(({ turn, before, now }, at) => {
      const after = this.#sizes[turn]?.tokens
      const names = needed[at] ? { needed: needed[at] } : {}
      return { turn, before, ...(after === undefined ? { estimated: now } : { after }), ...names }
    })
    return {
      source: this.#isCounted ? "counted" : "estimated",
      sizes: this.#sizes.map(({ tokens }) => tokens),
      boundaries,
    }
  }
}

function timeOf(messages: readonly Message[]): Inspection["time"] {
  const hasTime = ({ timestamp }: Message) => !timestamp.startsWith(NO_TIME) && !Number.isNaN(Date.parse(timestamp))
  const from = messages.find(hasTime)?.timestamp
  const to = messages.findLast(hasTime)?.timestamp
  return from === undefined || to === undefined ? undefined : { from, to }
}

function recordedCache({ ledger, cacheHistory }: CostViews): RecordedCache {
  const { requests, counts, hitRatio } = summarise(ledger)
  return {
    requests,
    counts,
    hitRatio,
    breaks: cacheHistory.breaks,
    broken: totalBreaks(cacheHistory),
    byCause: Object.fromEntries(cacheHistory.totals),
  }
}

function recordedAgents(views: CostViews): RecordedAgents {
  const { agents, own, requests, tokens, dollars, unpriced } = ledgerReport(views)
  return { started: agents, own, all: { requests, tokens, ...(unpriced.length === 0 ? { dollars } : {}) } }
}

const isSimulated = (message: Message): boolean =>
  message.type === "assistant" && isSimulatedId(message.message.id ?? "")

export interface CostSources {
  readonly views: CostViews
  readonly entries: readonly Entry[]
  readonly tokens?: BlockTokens
}

/** What a conversation cost, with remarks on what the figures leave out. */
export function recordedCost({
  views,
  entries,
  tokens = cacheBlockTokens(views.estimator),
}: CostSources): RecordedCost {
  const stubs = outputStubs(entries, tokens)
  const isTrial = entries.some((entry) => isMessage(entry) && isSimulated(entry))
  const { dollars, unpriced, estimated } = summarise(views.ledger)
  const lines = [...views.ledger.lines.values()].map(({ dollars: spent, ...line }) => ({
    ...line,
    ...(spent === undefined ? {} : { dollars: spent }),
  }))
  return {
    dollars,
    ...(stubs ? { stubs } : {}),
    unpriced,
    ...(estimated ? { estimated } : {}),
    remarks: [
      ...(isTrial
        ? ["The simulator answered, so nothing was spent. The dollars are what a model would have cost."]
        : []),
      ...describeEstimates(estimated),
      ...(stubs ? [stubSentences(stubs)] : []),
    ],
    lines,
  }
}
