/** One JSON object per line: first the conversation, then every event of the query as it comes, last how it ended. */
import type { QueryEvent } from "@strata/core/agent"
import type { Report } from "./report.ts"

export function jsonReport(print: (text: string) => void): Report {
  const line = (value: object) => print(`${JSON.stringify(value)}\n`)
  return {
    begin: (begin) => line({ type: "conversation", ...begin }),
    event: (event) => line(plain(event)),
    end: ({ end, ...rest }) => line({ type: "end", reason: end.reason, ...rest }),
  }
}

/** Errors by their name and sentence: the object behind them is of no use to another program. */
function plain(event: QueryEvent): object {
  if (event.type !== "done" || event.reason !== "error") return event
  const { error, ...rest } = event
  return { ...rest, error: error instanceof Error ? error.name : "Error" }
}
