/** `strata run "/compact …"`: compacts an earlier conversation or shows the plan, with the events of a query. */
import type { Agent, ClearingOrder, CompactionOrder, CompactionPlan, QueryEnd, QueryEvent } from "@strata/core/internal"
import { CompactionFailedError } from "@strata/core/internal/base/errors"
import { type CompactingEnd, type CompactRequest, compactingEvents } from "../compacting.ts"
import { clearingSentence } from "../display/undo.ts"
import type { Environment } from "../session-options.ts"
import { editText } from "../text-editor.ts"

export interface CompactRun extends CompactRequest {
  readonly agent: Agent
  readonly signal: AbortSignal
  readonly env: Environment
  readonly showPlan: (plan: CompactionPlan) => void
  readonly notice: (message: string) => void
}

export async function* compact(run: CompactRun): AsyncGenerator<QueryEvent, QueryEnd> {
  const { agent, isDryRun, order, signal } = run
  const work = (given: { readonly signal: AbortSignal }) => {
    if (run.clearing) return clear(run, run.clearing)
    return isDryRun ? plan(run) : agent.conversation.compact({ ...order, ...reviewOf(run) }, given)
  }
  const end = endOf(yield* compactingEvents({ agent, work, signal }))
  yield { type: "done", turns: 0, ...end }
  return end
}

async function clear({ agent, isDryRun, notice }: CompactRun, order: ClearingOrder): Promise<void> {
  const report = await agent.conversation.clearResults({ ...order, dryRun: isDryRun })
  notice(clearingSentence(report, { isDryRun, undo: "strata undo" }))
}

const reviewOf = ({ edits, env }: CompactRun): Pick<CompactionOrder, "review"> =>
  edits ? { review: ({ text }) => editText({ text, name: "summary.md", env }) } : {}

async function plan({ agent, order, showPlan }: CompactRun): Promise<void> {
  const planned = await agent.conversation.planCompaction(order)
  if (planned.kind === "refused") throw new CompactionFailedError(planned.why, planned.message)
  showPlan(planned)
}

function endOf(end: CompactingEnd): QueryEnd {
  if (end.kind === "given-up")
    return end.error ? { reason: "error", message: end.error.message, error: end.error } : { reason: "aborted" }
  return end.kind === "failed"
    ? { reason: "error", message: end.message, error: end.error }
    : { reason: "answer", text: "" }
}
