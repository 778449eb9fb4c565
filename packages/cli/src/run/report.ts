/** What a headless run tells, whatever the form. */
import type { QueryEnd, QueryEvent } from "@strata/core/agent"

export interface RunBegin {
  readonly conversation: string
  readonly model: string
  readonly cwd: string
  readonly resumed: boolean
}

export interface RunEnd {
  readonly end: QueryEnd
  readonly exitCode: number
  readonly conversation: string
  /** What the whole conversation has cost so far. */
  readonly dollars: number
}

export interface Report {
  begin(begin: RunBegin): void
  event(event: QueryEvent): void
  end(end: RunEnd): void
}
