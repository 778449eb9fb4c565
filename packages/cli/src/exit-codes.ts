/** The exit codes of `strata run`. Scripts rely on them; the help prints them as a table. */
import type { QueryEnd } from "@strata/core"
import { formatDollars, pluralize } from "./display/numbers.ts"

export const EXIT = {
  answer: 0,
  error: 1,
  usage: 2,
  noKey: 3,
  maxTurns: 4,
  costLimit: 5,
  aborted: 6,
  refused: 7,
  noProgress: 8,
} as const

export const EXIT_MEANINGS: readonly { readonly code: number; readonly meaning: string }[] = [
  { code: EXIT.answer, meaning: "the model gave a final answer" },
  { code: EXIT.error, meaning: "something failed, or a hook stopped the run" },
  { code: EXIT.usage, meaning: "the command line is wrong" },
  { code: EXIT.noKey, meaning: "there is no API key" },
  { code: EXIT.maxTurns, meaning: "--max-turns was reached" },
  { code: EXIT.costLimit, meaning: "--cost-limit was reached" },
  { code: EXIT.aborted, meaning: "interrupted; the conversation is saved" },
  { code: EXIT.refused, meaning: "the model refused to answer" },
  { code: EXIT.noProgress, meaning: "stopped because the model repeated itself" },
]

const BY_REASON: Readonly<Record<QueryEnd["reason"], number>> = {
  answer: EXIT.answer,
  error: EXIT.error,
  "stopped-by-hook": EXIT.error,
  "max-turns": EXIT.maxTurns,
  "cost-limit": EXIT.costLimit,
  aborted: EXIT.aborted,
  refusal: EXIT.refused,
  "no-progress": EXIT.noProgress,
}

export function exitCodeFor({ reason }: QueryEnd): number {
  return BY_REASON[reason]
}

/** How the run ended, as a sentence; `undefined` for an answer. */
export function describeEnd(end: QueryEnd): string | undefined {
  switch (end.reason) {
    case "answer":
      return undefined
    case "refusal":
      return "The model refused to answer."
    case "max-turns":
      return `Stopped after ${pluralize(end.limit, "turn")}, the limit of --max-turns. Everything so far is saved.`
    case "cost-limit": {
      const next = end.next === undefined ? "" : ` The next request costs about ${formatDollars(end.next)}.`
      return `Stopped at ${formatDollars(end.spent)}: the limit for this conversation is ${formatDollars(end.limit)}.${next} Everything so far is saved.`
    }
    case "no-progress":
      return `Stopped: no progress. ${end.why} Everything so far is saved; ask again to continue.`
    case "stopped-by-hook":
      return `A hook stopped the run: ${end.why}`
    case "aborted":
      return "Interrupted. Everything so far is saved."
    case "error":
      return end.message
  }
}
