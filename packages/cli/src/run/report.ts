/** What `strata run` reports, as text or as JSON. */
import type { CompactionPlan, QueryEnd, QueryEvent } from "@strata/core"
import type { LedgerSummary } from "../display/ledger.ts"

export interface RunStart {
  readonly conversation: string
  readonly model: string
  readonly cwd: string
  readonly resumed: boolean
}

export interface RunEnd {
  readonly end: QueryEnd
  readonly exitCode: number
  readonly conversation: string
  /** It was kept for another process to continue. */
  readonly isKept: boolean
  /** What the whole conversation has cost so far. */
  readonly dollars: number
  /** Where the money went, and what the layers saved. */
  readonly ledger: LedgerSummary
}

export interface RunReport {
  begin(begin: RunStart): void
  event(event: QueryEvent): void
  /** What a compaction would do: the result of a dry run. */
  plan(plan: CompactionPlan): void
  end(end: RunEnd): void
}
