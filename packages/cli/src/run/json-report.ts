/**
 * One JSON object per line: the conversation, every event of the query, then the end. Texts are exact: what could control a terminal is
 * written as an escape.
 */
import type { QueryEvent } from "@strata/core/internal"
import { visibleJson } from "../display/visible.ts"
import type { Report } from "./report.ts"

export function jsonReport(print: (text: string) => void): Report {
  const line = (value: object) => print(`${visibleJson(value)}\n`)
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

/** Errors by name and message only. */
function plain(event: QueryEvent): object {
  if (event.type !== "done" || event.reason !== "error") return event
  const { error, ...rest } = event
  return { ...rest, error: error instanceof Error ? error.name : "Error" }
}

const CHARACTERS_BETWEEN = 500 // a summary streams in small pieces: one line for each would be too many

/** Drops progress that only reports a few more characters of the summary. */
function progressFilter(): (event: QueryEvent) => boolean {
  let reported = 0
  return (event) => {
    if (event.type !== "compaction" || event.progress.phase !== "summarising") return true
    const { characters } = event.progress
    if (characters !== undefined && characters > reported && characters - reported < CHARACTERS_BETWEEN) return false
    reported = characters ?? 0
    return true
  }
}
