/**
 * Compacting because somebody asked for it: what `/compact` means, and the work told with the events that a query has for it. `chat` and `run`
 * share it.
 */
import { type Agent, type CompactionOrder, type QueryEvent, withSideEvents } from "@strata/core/agent"
import { reasonOf } from "@strata/core/parts"
import { UsageError } from "./command.ts"

export interface CompactRequest {
  /** Only to be told what would be done. */
  readonly isDryRun: boolean
  readonly order: Pick<CompactionOrder, "instructions">
}

const DRY_RUN = /^--dry-run(?:\s+|$)/

const OPTION = /^--\S*/

/** What stands behind `/compact`. A misspelt option is refused: whoever wanted to be told only must not be taken at their word. */
export function readCompactRequest(argument: string): CompactRequest {
  const isDryRun = DRY_RUN.test(argument)
  const instructions = argument.replace(DRY_RUN, "").trim()
  const [option] = OPTION.exec(instructions) ?? []
  if (option !== undefined)
    throw new UsageError(`/compact has no option ${option}. Nothing was changed. It knows --dry-run alone, once.`)
  return { isDryRun, order: instructions === "" ? {} : { instructions } }
}

/** A task that is a `/compact`; nothing where it is any other one. */
export function compactRequestIn(task: string): CompactRequest | undefined {
  const match = /^\/compact(?:\s+([\s\S]*))?$/.exec(task.trim())
  return match ? readCompactRequest(match[1] ?? "") : undefined
}

export type CompactingEnd =
  | { readonly kind: "done" }
  /** Given up by the person: nothing has changed. */
  | { readonly kind: "given-up" }
  | { readonly kind: "failed"; readonly message: string; readonly error: unknown }

export interface Compacting {
  readonly agent: Agent
  readonly work: (given: { readonly signal: AbortSignal }) => Promise<void>
  readonly signal: AbortSignal
}

/** Carries out work that compacts, and tells of it. How it ended is said by the end alone, not by an event as well. */
export async function* compactingEvents(compacting: Compacting): AsyncGenerator<QueryEvent, CompactingEnd> {
  const events = withSideEvents(ended(compacting), compacting.agent.chat)
  for (;;) {
    const { value, done } = await events.next()
    if (done) return value
    if (value.type !== "compaction" || value.progress.phase !== "failed") yield value
  }
}

// biome-ignore lint/correctness/useYield: it has an end only; the events come from the conversation
async function* ended({ work, signal }: Compacting): AsyncGenerator<QueryEvent, CompactingEnd> {
  try {
    await work({ signal })
    return { kind: "done" }
  } catch (error) {
    if (signal.aborted) return { kind: "given-up" }
    return { kind: "failed", message: error instanceof Error ? error.message : reasonOf(error), error }
  }
}
