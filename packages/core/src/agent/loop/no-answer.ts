/** Thrown by `ask` if a query ended without an answer although nothing failed: a limit, a refusal, a hook. */
import { StrataError } from "../../base/errors.ts"
import type { QueryEnd } from "./query-events.ts"

export class NoAnswerError extends StrataError {
  static override readonly code: string = "no-answer"
  override readonly name = "NoAnswerError"
  readonly end: QueryEnd

  constructor(end: QueryEnd) {
    super(`${describeEnd(end)} Everything so far is kept; ask again to continue.`)
    this.end = end
  }
}

function describeEnd(end: QueryEnd): string {
  switch (end.reason) {
    case "max-turns":
      return `The agent stopped after ${end.limit} ${end.limit === 1 ? "request" : "requests"} without a final answer.`
    case "cost-limit":
      return `The agent stopped at the cost limit of $${end.limit}: $${end.spent.toFixed(4)} are spent.`
    case "stopped-by-hook":
      return `A hook stopped the query: ${end.why}.`
    case "no-progress":
      return `The agent stopped because it made no progress. ${end.why}`
    case "refusal":
      return "The model refused to answer."
    case "aborted":
      return "The query was aborted."
    default:
      return `The query ended with ${end.reason}.`
  }
}
