/** `/compact`, for `chat` and `run`: reads the request and reports the work with the events of a query. */
import type { Agent, CompactionOrder, QueryEvent } from "@strata/core/internal"
import { withSideEvents } from "@strata/core/internal/agent/side-events"
import { reasonOf } from "@strata/core/internal/base/errors"
import { UsageError } from "./command.ts"

export interface CompactRequest {
  /** Show the plan and change nothing. */
  readonly isDryRun: boolean
  readonly order: Pick<CompactionOrder, "instructions" | "routes">
}

const DRY_RUN = /^--dry-run(?:\s+|$)/

const OPTION = /^--\S*/

/** The text after `/compact`. A misspelt option is refused, so that a typo in `--dry-run` never compacts. */
export function readCompactRequest(argument: string): CompactRequest {
  const isDryRun = DRY_RUN.test(argument)
  const instructions = argument.replace(DRY_RUN, "").trim()
  const [option] = OPTION.exec(instructions) ?? []
  if (option !== undefined)
    throw new UsageError(`/compact has no option ${option}. Nothing was changed. The only option is --dry-run, once.`)
  return { isDryRun, order: instructions === "" ? {} : { instructions } }
}

/** The request, if the task is a `/compact`. */
export function compactRequestIn(task: string): CompactRequest | undefined {
  const match = /^\/compact(?:\s+([\s\S]*))?$/.exec(task.trim())
  return match ? readCompactRequest(match[1] ?? "") : undefined
}

export type CompactingEnd =
  | { readonly kind: "done" }
  /** The person cancelled; nothing has changed. */
  | { readonly kind: "given-up" }
  | { readonly kind: "failed"; readonly message: string; readonly error: unknown }

export interface Compacting {
  readonly agent: Agent
  readonly work: (given: { readonly signal: AbortSignal }) => Promise<void>
  readonly signal: AbortSignal
}

/** Runs the work and yields its events. A failure is in the end value only, not in an event as well. */
export async function* compactingEvents(compacting: Compacting): AsyncGenerator<QueryEvent, CompactingEnd> {
  const events = withSideEvents(ended(compacting), compacting.agent)
  for (;;) {
    const { value, done } = await events.next()
    if (done) return value
    if (value.type !== "compaction" || value.progress.phase !== "failed") yield value
  }
}

// biome-ignore lint/correctness/useYield: the events come from the conversation
async function* ended({ work, signal }: Compacting): AsyncGenerator<QueryEvent, CompactingEnd> {
  try {
    await work({ signal })
    return { kind: "done" }
  } catch (error) {
    if (signal.aborted) return { kind: "given-up" }
    return { kind: "failed", message: error instanceof Error ? error.message : reasonOf(error), error }
  }
}
