/** Everything `strata inspect` reports about a conversation, as plain data. `--json` prints it. */
import type {
  Accounting,
  AgentCost,
  BreakCause,
  BreakTotal,
  CacheBreak,
  CostReport,
  ImportReport,
  LayerSaving,
  Message,
  Purpose,
  RepeatedReads,
  TokenCounts,
} from "@strata/core/internal"
import { isMessage } from "@strata/core/internal/journal/entries"
import { isBoundary, isSyntheticError } from "@strata/core/internal/messages/messages"
import { account } from "@strata/core/internal/tokens/accounting"
import { findModel } from "@strata/core/internal/tokens/models"
import { repeatedReads } from "@strata/core/internal/tokens/repeated-reads"
import { totalBreaks } from "@strata/core/internal/views/cache/cache-history"
import { accountSent } from "@strata/core/internal/views/context/sent-accounting"
import { type Estimated, summarise } from "@strata/core/internal/views/ledger/ledger"
import { ledgerReport } from "@strata/core/internal/views/reports/ledger-report"
import { Views } from "@strata/core/internal/views/views"
import type { Replay } from "@strata/replay"
import { type Decided, decisionsIn } from "./decisions.ts"
import { type OutputStubs, outputStubs } from "./output-stubs.ts"
import { type FileTotal, type ToolCall, type ToolTotal, toolCalls, totalsByFile, totalsByTool } from "./tool-use.ts"
import type { Transcript } from "./transcript.ts"

export interface Analysis {
  readonly file: string
  readonly format: string
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  readonly model?: string
  readonly report: ImportReport
  readonly messages: number
  /** First and last message; absent if the format has no times. */
  readonly time?: { readonly from: string; readonly to: string }
  /** Everything that ever entered the context, by class. Estimates, calibrated with the API's counts. */
  readonly content: Accounting
  /** The cost of reading files again. */
  readonly repeated: RepeatedReads
  readonly byTool: readonly ToolTotal[]
  readonly byFile: readonly FileTotal[]
  readonly largestResults: readonly ToolCall[]
  readonly growth: Growth
  readonly cache: CacheReport
  readonly money: MoneyReport
  readonly agents: AgentsReport
  /** What Strata's layers decided and saved. Empty for other programs' transcripts. */
  readonly decided: readonly Decided[]
  readonly savings: readonly LayerSaving[]
  /** What layers 1 and 2 would have done, with `--layers`. */
  readonly layers?: Replay
}

export interface Growth {
  /** `counted`: by the API. `estimated`: without system prompt and tools. */
  readonly source: "counted" | "estimated"
  /** Tokens in the context after each response. */
  readonly sizes: readonly number[]
  readonly boundaries: readonly BoundaryFacts[]
  /** The context at the end, by class. */
  readonly last: Accounting
}

export interface BoundaryFacts {
  /** Responses before it. */
  readonly turn: number
  readonly before: number
  /** The context after the next response. */
  readonly after?: number
  /** Where none has come yet: the context as it is, estimated. */
  readonly estimated?: number
}

/** Of all requests: the conversation's, its sub-agents' and those of compactions. */
export interface CacheReport {
  readonly requests: number
  readonly counts: TokenCounts
  /** Share of the input read from cache. */
  readonly hitRatio: number
  /** The most expensive ones, in order. */
  readonly breaks: readonly CacheBreak[]
  readonly broken: BreakTotal
  readonly byCause: Readonly<Partial<Record<BreakCause, BreakTotal>>>
}

/** The sub-agents in the order they were started. `own` and theirs add up to `all`. */
export interface AgentsReport {
  readonly started: readonly AgentCost[]
  readonly own: CostReport
  readonly all: CostReport
}

export interface MoneyReport {
  readonly dollars: number
  /** Responses with too few output tokens recorded: the sum is then a lower bound. */
  readonly stubs?: OutputStubs
  readonly unpriced: readonly string[]
  /** Requests whose answers did not arrive whole: what they cost is partly a guess. */
  readonly estimated?: Estimated
  readonly lines: readonly {
    readonly model: string
    readonly purpose: Purpose
    readonly requests: number
    readonly counts: TokenCounts
    /** Absent if the price is unknown. */
    readonly dollars?: number
  }[]
}

const MOST_RESULTS = 10
const NO_TIME = "1970-01-01" // importers of formats without times start here

export function analyse(transcript: Transcript): Analysis {
  const { entries, aside, ...about } = transcript
  const { facts } = findModel(about.model ?? "unknown")
  const views = new Views({ family: facts.family })
  const course = new Course()
  for (const entry of aside) views.apply(entry, "off-path")
  for (const entry of entries) {
    if (isMessage(entry) && isBoundary(entry))
      course.boundary(entry.compactMetadata?.preTokens || views.context.size().tokens)
    views.apply(entry)
    const size = views.context.size()
    course.grown(size.tokens)
    if (isMessage(entry)) course.message(entry, size)
  }
  const messages = entries.filter(isMessage)
  const calls = toolCalls(messages, views.estimator)
  const content = account(messages, views.estimator)
  const time = timeOf(messages)
  return {
    ...about,
    messages: messages.length,
    ...(time ? { time } : {}),
    content,
    repeated: repeatedReads(content, facts),
    byTool: totalsByTool(calls),
    byFile: totalsByFile(calls),
    largestResults: calls.toSorted((a, b) => b.resultTokens - a.resultTokens).slice(0, MOST_RESULTS),
    growth: { ...course.growth(), last: accountSent(views) },
    cache: cacheOf(views),
    money: { ...moneyOf(views), ...present(outputStubs([...aside, ...entries], views.estimator)) },
    agents: agentsOf(views),
    decided: decisionsIn(entries),
    savings: summarise(views.ledger).savings,
  }
}

/** Follows the main path: the context size after each response. */
class Course {
  readonly #sizes: { readonly id: string; tokens: number }[] = []
  readonly #boundaries: { readonly turn: number; readonly before: number; now: number }[] = []
  #isCounted = false

  boundary(before: number): void {
    this.#boundaries.push({ turn: this.#sizes.length, before, now: before })
  }

  /** Follows the context after a boundary, until the next one. */
  grown(tokens: number): void {
    const last = this.#boundaries.at(-1)
    if (last) last.now = tokens
  }

  message(message: Message, size: { readonly tokens: number; readonly counted: number }): void {
    if (message.type !== "assistant" || message.isSidechain || isSyntheticError(message)) return
    const { id = message.uuid } = message.message
    const last = this.#sizes.at(-1)
    if (last?.id === id) last.tokens = size.tokens
    else this.#sizes.push({ id, tokens: size.tokens })
    if (size.counted > 0) this.#isCounted = true
  }

  growth(): Omit<Growth, "last"> {
    const boundaries = this.#boundaries.map(({ turn, before, now }) => {
      const after = this.#sizes[turn]?.tokens
      return { turn, before, ...(after === undefined ? { estimated: now } : { after }) }
    })
    return {
      source: this.#isCounted ? "counted" : "estimated",
      sizes: this.#sizes.map(({ tokens }) => tokens),
      boundaries,
    }
  }
}

function timeOf(messages: readonly Message[]): Analysis["time"] {
  const times = messages.map(({ timestamp }) => timestamp).filter((time) => !time.startsWith(NO_TIME))
  const from = times[0]
  const to = times.at(-1)
  return from === undefined || to === undefined ? undefined : { from, to }
}

function cacheOf({ ledger, cacheHistory }: Views): CacheReport {
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

function agentsOf(views: Views): AgentsReport {
  const { agents, own, requests, tokens, dollars, unpriced } = ledgerReport(views)
  return { started: agents, own, all: { requests, tokens, ...(unpriced.length === 0 ? { dollars } : {}) } }
}

const present = (stubs: OutputStubs | undefined): Pick<MoneyReport, "stubs"> => (stubs ? { stubs } : {})

function moneyOf(views: Views): MoneyReport {
  const { dollars, unpriced, estimated } = summarise(views.ledger)
  const lines = [...views.ledger.lines.values()].map(({ dollars: spent, ...line }) => ({
    ...line,
    ...(spent === undefined ? {} : { dollars: spent }),
  }))
  return { dollars, unpriced, ...(estimated ? { estimated } : {}), lines }
}
