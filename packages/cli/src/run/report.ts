/** What a headless run tells, whatever the form. */
import type { LedgerSummary } from "@strata/core"
import type { CompactionPlan, QueryEnd, QueryEvent } from "@strata/core/agent"

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
  /** Where it went, and what the layers saved of it. */
  readonly ledger: LedgerSummary
}

export interface Report {
  begin(begin: RunBegin): void
  event(event: QueryEvent): void
  /** What a compaction would do: that is what was asked for. */
  plan(plan: CompactionPlan): void
  end(end: RunEnd): void
}
