/**
 * The beginning of the report, the same on the page and in the terminal: one sentence, four numbers with their footnotes, and what to do
 * next. The symbol of a footnote follows its number.
 */
import { escapeToLine, formatDollars, formatNumber, formatPercent, pluralize } from "@strata/core/base"
import type { UsageReport, UsageRow } from "./report-data.ts"
import { describeCoverage, formatInterval } from "./sentences.ts"

/** Programs whose conversations are found without naming a directory: those of `findTranscripts`. */
export const FOUND_PROGRAMS = "Claude Code, Codex, pi, opencode, Gemini CLI, Copilot CLI and Strata"

export const FOOTNOTE_SYMBOLS = ["*", "†", "‡", "§"] as const

export interface UsageNumber {
  readonly key: "spent" | "caches" | "names" | "strata"
  readonly title: string
  readonly value: string
  readonly detail: string
  readonly footnote?: Footnote
}

export interface Footnote {
  readonly symbol: (typeof FOOTNOTE_SYMBOLS)[number]
  readonly text: string
}

/** What the user can do next: run a command, or look at a conversation. */
export type NextStep =
  | { readonly text: string; readonly command: string }
  | { readonly text: string; readonly row: UsageRow; readonly view: "cache" | "money" }

export interface UsageOverview {
  /** At most 20 words. */
  readonly sentence: string
  /** Absent if no conversation was found. */
  readonly numbers: readonly UsageNumber[]
  readonly next: NextStep | undefined
}

export interface OverviewInput {
  readonly report: UsageReport
  /** The most expensive conversation, and the one that lost the most to caches. */
  readonly mostExpensive: UsageRow | undefined
  readonly mostLost: UsageRow | undefined
  /** The beginning of a command line of Strata in the next step. Default: `strata`. */
  readonly strata?: string | undefined
}

export function createOverview(input: OverviewInput): UsageOverview {
  const { report } = input
  const next = nextStep(input)
  if (report.conversations === 0) return { sentence: "No conversations were found.", numbers: [], next }
  const drafts = [spent(report), lostToCaches(report), lostNames(report), withStrata(report)]
  const symbols = FOOTNOTE_SYMBOLS.values()
  const numbers = drafts.map(({ note, ...number }): UsageNumber => {
    const symbol = note === undefined ? undefined : symbols.next().value
    return { ...number, ...(note === undefined || symbol === undefined ? {} : { footnote: { symbol, text: note } }) }
  })
  return { sentence: overviewSentence(report, numbers), numbers, next }
}

/** A number before its footnote has a symbol. */
type NumberDraft = Omit<UsageNumber, "footnote"> & { readonly note?: string }

const MAX_MODELS = 3

function spent({ total, conversations, simulated }: UsageReport): NumberDraft {
  const { requests, unpriced, unpricedModels, isLowerBound, dollars } = total
  const isUnknown = unpriced === requests
  const reasons = [
    ...(unpriced > 0
      ? [
          `no price is known for ${unpricedModels.slice(0, MAX_MODELS).map(escapeToLine).join(", ")}${unpricedModels.length > MAX_MODELS ? ", …" : ""}`,
        ]
      : []),
    ...(isLowerBound ? ["some transcripts record too few output tokens"] : []),
  ]
  return {
    key: "spent",
    title: "spent",
    value: requests === 0 ? "not recorded" : isUnknown ? "unknown" : formatDollars(dollars),
    detail: pluralize(conversations - simulated, "conversation"),
    ...(reasons.length === 0 ? {} : { note: `${isUnknown ? "Unknown" : "At least"}: ${reasons.join(", and ")}.` }),
  }
}

function lostToCaches({ cache: { lost } }: UsageReport): NumberDraft {
  const { count, unpriced, dollars, share } = lost
  const isUnknown = count > 0 && unpriced === count
  return {
    key: "caches",
    title: "lost to caches",
    value: count === 0 ? "nothing" : isUnknown ? "unknown" : formatDollars(dollars),
    detail: count === 0 ? "never" : `${pluralize(count, "time")}${isUnknown ? "" : `, ${formatPercent(share, 1)}`}`,
    ...(unpriced > 0
      ? {
          note: `${isUnknown ? "Unknown" : "At least"}: ${formatNumber(unpriced)} of ${pluralize(count, "lost cache")} had a model without a known price.`,
        }
      : {}),
  }
}

function lostNames({ compactions: { count, unrecorded, names } }: UsageReport): NumberDraft {
  const isUnknown = count > 0 && unrecorded === count
  return {
    key: "names",
    title: "names lost",
    value: isUnknown ? "unknown" : names.needed === 0 ? "none" : formatPercent(names.lost, names.needed),
    detail:
      names.needed === 0
        ? pluralize(count, "compaction")
        : `${formatNumber(names.lost)} of ${formatNumber(names.needed)} needed later`,
    ...(count === 0
      ? {}
      : {
          note: `Exact names that answers used again after ${pluralize(count, "compaction")}, and that were no longer in view${unrecorded === 0 ? "" : `; unknown for ${formatNumber(unrecorded)} at the beginning of a file`}.`,
        }),
  }
}

function withStrata({ saved }: UsageReport): NumberDraft {
  const { figure, of, replayed } = saved
  const number = { key: "strata", title: "with Strata" } as const
  if (figure.kind === "nothing") return { ...number, value: "unknown", detail: "nothing to replay" }
  if (figure.kind === "unknown")
    return { ...number, value: "not yet", detail: `${formatNumber(replayed)} of ${formatNumber(of)} replayed` }
  const basis =
    figure.kind === "sampled"
      ? `${formatInterval(figure)} less, from a sample of ${formatNumber(figure.sample)} of ${pluralize(of, "conversation")}`
      : `${formatDollars(figure.strata)} instead of ${formatDollars(figure.recorded)} for ${pluralize(of, "conversation")}`
  return {
    ...number,
    value:
      figure.share === 0
        ? "the same"
        : `${formatPercent(Math.abs(figure.share), 1)} ${figure.share > 0 ? "less" : "more"}`,
    detail: "modelled",
    note: `${basis}, ${describeCoverage(saved)}. Both costs are modelled by a replay; neither is the bill.`,
  }
}

function overviewSentence(
  { conversations, simulated, total, cache: { lost } }: UsageReport,
  numbers: readonly UsageNumber[],
): string {
  const real = conversations - simulated
  if (real === 0) return "Nothing was spent: the simulator answered in all conversations."
  const withSymbol = (key: UsageNumber["key"]) => {
    const number = numbers.find((each) => each.key === key)
    return `${number?.value}${number?.footnote?.symbol ?? ""}`
  }
  const on = pluralize(real, "conversation")
  if (total.requests === 0) return `The transcripts of ${on} do not record what was billed.`
  const cost =
    total.unpriced === total.requests ? `The price of ${on} is unknown` : `You spent ${withSymbol("spent")} on ${on}`
  if (lost.count === 0) return `${cost}; no cache was lost.`
  const caches = pluralize(lost.count, "lost cache")
  return lost.unpriced === lost.count
    ? `${cost}; the price of ${caches} is unknown.`
    : `${cost}; ${caches} cost ${withSymbol("caches")} of it (${formatPercent(lost.share, 1)}).`
}

/** Names of programs for `strata wrap`. */
const WRAPPED: Readonly<Record<string, string>> = { "claude-code": "claude", pi: "pi", opencode: "opencode" }
const MIN_SAVING = 0.01 // a smaller one is no reason to change anything

function nextStep({ report, mostExpensive, mostLost, strata = "strata" }: OverviewInput): NextStep | undefined {
  if (report.conversations === 0)
    return { text: "Name the directory of your transcripts:", command: `${strata} usage --dir DIRECTORY` }
  const { figure } = report.saved
  const agent = report.byProgram.map(({ name }) => WRAPPED[name]).find((name) => name !== undefined)
  if ((figure.kind === "sampled" || figure.kind === "exact") && figure.share >= MIN_SAVING && agent !== undefined)
    return { text: "Let Strata observe one session:", command: `${strata} wrap ${agent}` }
  if (mostLost && mostLost.lost.count > 0)
    return { text: "See what lost the most to caches:", row: mostLost, view: "cache" }
  return mostExpensive && { text: "See what the most expensive one paid for:", row: mostExpensive, view: "money" }
}
