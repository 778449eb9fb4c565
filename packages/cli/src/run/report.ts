/** The output of `strata run`, as text or as JSON. */
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
  /** Whether the conversation is stored, so that another process can continue it. */
  readonly isKept: boolean
  /** Cost of the entire conversation so far. */
  readonly dollars: number
  /** Costs by purpose, and the savings of the layers. */
  readonly ledger: LedgerSummary
}

export interface RunReport {
  begin(begin: RunStart): void
  event(event: QueryEvent): void
  /** Reports a compaction plan, the result of a dry run. */
  plan(plan: CompactionPlan): void
  end(end: RunEnd): void
}
