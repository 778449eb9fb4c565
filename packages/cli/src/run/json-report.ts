/** One JSON object per line: first the conversation, then every event of the query as it comes, last how it ended. */
import type { QueryEvent } from "@strata/core/agent"
import type { Report } from "./report.ts"

export function jsonReport(print: (text: string) => void): Report {
  const line = (value: object) => print(`${JSON.stringify(value)}\n`)
  const isNews = progressFilter()
  return {
    begin: (begin) => line({ type: "conversation", ...begin }),
    event: (event) => {
      if (isNews(event)) line(plain(event))
    },
    plan: (plan) => line({ type: "plan", plan }),
    end: ({ end, ...rest }) => line({ type: "end", reason: end.reason, ...rest }),
  }
}

/** Errors by their name and sentence: the object behind them is of no use to another program. */
function plain(event: QueryEvent): object {
  if (event.type !== "done" || event.reason !== "error") return event
  const { error, ...rest } = event
  return { ...rest, error: error instanceof Error ? error.name : "Error" }
}

const CHARACTERS_BETWEEN = 500 // a summary grows by a few characters at a time: a line for each would drown the rest

/** Leaves out what tells only that a summary has grown by a little. */
function progressFilter(): (event: QueryEvent) => boolean {
  let told = 0
  return (event) => {
    if (event.type !== "compaction" || event.progress.phase !== "summarising") return true
    const { characters } = event.progress
    if (characters !== undefined && characters > told && characters - told < CHARACTERS_BETWEEN) return false
    told = characters ?? 0
    return true
  }
}
