/** `/compact`, for `chat` and `run`: reads the request and reports the work with the events of a query. */
import type { Agent, ClearingOrder, CompactionOrder, QueryEvent } from "@strata/core/internal"
import { withSideEvents } from "@strata/core/internal/agent/side-events"
import { CompactionFailedError, reasonOf } from "@strata/core/internal/base/errors"
import { UsageError } from "./command.ts"

export interface CompactRequest {
  /** Show the plan and change nothing. */
  readonly isDryRun: boolean
  /** The person changes the summary in their editor before it takes effect. */
  readonly edits?: true
  readonly order: Pick<CompactionOrder, "instructions" | "range" | "routes">
  /** Clears old results or images, and writes no summary. */
  readonly clearing?: ClearingOrder
}

const OPTION = /^--([\w-]*)(=\S*)?(?:\s+|$)/
const VALUE = /^\S+/
const FLAGS = ["dry-run", "edit", "images"] as const
const WITH_VALUE = ["tool", "keep", "before", "after"] as const

type Given = Partial<Record<(typeof FLAGS)[number] | (typeof WITH_VALUE)[number], string>>

/** The text after `/compact`: options first, then what to keep. A misspelt option is refused, so that a typo in `--dry-run` never compacts. */
export function readCompactRequest(argument: string): CompactRequest {
  const given: Given = {}
  let rest = argument.trim()
  for (let found = OPTION.exec(rest); found; found = OPTION.exec(rest)) {
    const [whole, name = "", assigned] = found
    rest = rest.slice(whole.length)
    const flag = FLAGS.find((known) => known === name)
    const named = WITH_VALUE.find((known) => known === name)
    if ((!flag && !named) || assigned !== undefined || given[flag ?? named!] !== undefined) throw noOption(whole.trim())
    const [value = ""] = named ? (VALUE.exec(rest) ?? []) : ["yes"]
    if (value === "") throw new UsageError(`/compact ${whole.trim()} needs a value. Nothing was changed.`)
    if (named) rest = rest.slice(value.length).trimStart()
    given[flag ?? named!] = value
  }
  return requestOf(given, rest)
}

function requestOf(given: Given, instructions: string): CompactRequest {
  const isDryRun = given["dry-run"] !== undefined
  const clearing = clearingOf(given)
  if (clearing && (instructions !== "" || given.edit || given.before || given.after))
    throw new UsageError("--tool and --images write no summary, so nothing else can be asked for. Nothing was changed.")
  const range = rangeOf(given)
  return {
    isDryRun,
    ...(given.edit ? { edits: true } : {}),
    order: { ...(instructions === "" ? {} : { instructions }), ...(range ? { range } : {}) },
    ...(clearing ? { clearing } : {}),
  }
}

function clearingOf({ tool, keep, images }: Given): ClearingOrder | undefined {
  if (tool !== undefined && images) throw new UsageError("Use --tool or --images, not both. Nothing was changed.")
  if (images) return { images: true }
  if (tool === undefined) {
    if (keep !== undefined) throw new UsageError("--keep goes with --tool. Nothing was changed.")
    return undefined
  }
  if (keep !== undefined && !/^\d+$/.test(keep))
    throw new UsageError(`--keep must be a whole number, not "${keep}". Nothing was changed.`)
  return { tool, ...(keep === undefined ? {} : { keep: Number(keep) }) }
}

function rangeOf({ before, after }: Given): CompactionOrder["range"] {
  if (before !== undefined && after !== undefined)
    throw new UsageError("Use --before or --after, not both. Nothing was changed.")
  if (before !== undefined) return { kind: "up-to", uuid: before }
  return after === undefined ? undefined : { kind: "from", uuid: after }
}

const noOption = (option: string) =>
  new UsageError(
    `/compact has no option ${option}, or it is there twice. Nothing was changed. The options are --dry-run, --edit, --tool NAME, --keep N, --images, --before HANDLE and --after HANDLE.`,
  )

/** The text after `/clear-results`: how many tokens the context should have. */
export function readClearRequest(argument: string): { readonly downTo: number; readonly dryRun: boolean } {
  const [, size = "", dryRun] = /^([\d_,.]+)(?:\s+(--dry-run))?$/.exec(argument.trim()) ?? []
  const downTo = Number(size.replaceAll(/[_,.]/g, ""))
  if (size === "" || !Number.isSafeInteger(downTo))
    throw new UsageError(
      "Say how large the context may be, in tokens: /clear-results 60000 [--dry-run]. Nothing was changed.",
    )
  return { downTo, dryRun: dryRun !== undefined }
}

/** The text after `/undo`. */
export function readUndoRequest(argument: string): { readonly keepLater: boolean; readonly dryRun: boolean } {
  const words = argument.trim().split(/\s+/).filter(Boolean)
  const wrong = words.find((word) => word !== "--drop-later" && word !== "--dry-run")
  if (wrong !== undefined)
    throw new UsageError(
      `/undo has no option ${wrong}. Nothing was changed. The options are --drop-later and --dry-run.`,
    )
  return { keepLater: !words.includes("--drop-later"), dryRun: words.includes("--dry-run") }
}

/** The request, if the task is a `/compact`. */
export function compactRequestIn(task: string): CompactRequest | undefined {
  const match = /^\/compact(?:\s+([\s\S]*))?$/.exec(task.trim())
  return match ? readCompactRequest(match[1] ?? "") : undefined
}

export type CompactingEnd =
  | { readonly kind: "done" }
  /** The person cancelled; nothing has changed. `error`: they left the summary empty. */
  | { readonly kind: "given-up"; readonly error?: Error }
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
    if (isCancelled(error)) return { kind: "given-up", error }
    return { kind: "failed", message: error instanceof Error ? error.message : reasonOf(error), error }
  }
}

/** The person left the summary empty. */
const isCancelled = (error: unknown): error is Error =>
  error instanceof CompactionFailedError && error.reason === "cancelled"
