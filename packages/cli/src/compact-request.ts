/** `/compact`, for `chat` and `run`: reads the request and reports the work with the events of a query. */
import { type Agent, CompactionFailedError, type QueryEvent, type ResolvedCompactionRequest } from "@strata/core"
import type { ClearingTarget } from "@strata/core/policy"
import { UsageError } from "./command.ts"
import { readSlashOptions } from "./slash-options.ts"

export interface CompactRequest {
  /** Shows the plan and changes nothing. */
  readonly isDryRun: boolean
  /** Lets the user edit the summary before it takes effect. */
  readonly edits?: true
  readonly order: Pick<ResolvedCompactionRequest, "instructions" | "range" | "routes">
  /** Set if the command only clears old results or images, without a summary. */
  readonly clearing?: ClearingTarget
}

const NAMES = {
  command: "/compact",
  flags: ["dry-run", "edit", "images", "prune"],
  withValue: ["tool", "keep", "before", "after"],
} as const

type CompactArguments = Partial<Record<(typeof NAMES.flags)[number] | (typeof NAMES.withValue)[number], string>>

/** Parses the text after `/compact`: a hint, and options anywhere in it. */
export function readCompactRequest(argument: string): CompactRequest {
  const { given, text } = readSlashOptions(argument, NAMES)
  return requestOf(given, text)
}

function requestOf(given: CompactArguments, instructions: string): CompactRequest {
  const isDryRun = given["dry-run"] !== undefined
  const clearing = clearingOf(given)
  if (clearing && (instructions !== "" || given.edit || given.before || given.after))
    throw new UsageError(
      "--tool, --images and --prune write no summary, so nothing else can be asked for. Nothing was changed.",
    )
  const range = rangeOf(given)
  return {
    isDryRun,
    ...(given.edit ? { edits: true } : {}),
    order: { ...(instructions === "" ? {} : { instructions }), ...(range ? { range } : {}) },
    ...(clearing ? { clearing } : {}),
  }
}

function clearingOf({ tool, keep, images, prune }: CompactArguments): ClearingTarget | undefined {
  if ([tool, images, prune].filter((each) => each !== undefined).length > 1)
    throw new UsageError("Use one of --tool, --images and --prune. Nothing was changed.")
  if (images) return { images: true }
  if (prune) return { prune: true }
  if (tool === undefined) {
    if (keep !== undefined) throw new UsageError("--keep goes with --tool. Nothing was changed.")
    return undefined
  }
  if (keep !== undefined && !/^\d+$/.test(keep))
    throw new UsageError(`--keep must be a whole number, not "${keep}". Nothing was changed.`)
  return { tool, ...(keep === undefined ? {} : { keep: Number(keep) }) }
}

function rangeOf({ before, after }: CompactArguments): ResolvedCompactionRequest["range"] {
  if (before !== undefined && after !== undefined)
    throw new UsageError("Use --before or --after, not both. Nothing was changed.")
  if (before !== undefined) return { kind: "up-to", uuid: before }
  return after === undefined ? undefined : { kind: "from", uuid: after }
}

/** Parses the text after `/clear-results`: the target size of the context in tokens. */
export function readClearRequest(argument: string): { readonly downTo: number; readonly dryRun: boolean } {
  const { given, text: size } = readSlashOptions(argument, { command: "/clear-results", flags: ["dry-run"] })
  const downTo = Number(size.replaceAll(/[_,.]/g, ""))
  if (!/^[\d_,.]+$/.test(size) || !Number.isSafeInteger(downTo))
    throw new UsageError(
      "Say how large the context may be, in tokens: /clear-results 60000 [--dry-run]. Nothing was changed.",
    )
  return { downTo, dryRun: given["dry-run"] !== undefined }
}

/** Parses the text after `/undo`. */
export function readUndoRequest(argument: string): { readonly keepLater: boolean; readonly dryRun: boolean } {
  const words = argument.trim().split(/\s+/).filter(Boolean)
  const wrong = words.find((word) => word !== "--drop-later" && word !== "--dry-run")
  if (wrong !== undefined)
    throw new UsageError(
      `/undo has no option ${wrong}. Nothing was changed. The options are --drop-later and --dry-run.`,
    )
  return { keepLater: !words.includes("--drop-later"), dryRun: words.includes("--dry-run") }
}

/** The compaction request, if the task is a `/compact`. */
export function compactRequestIn(task: string): CompactRequest | undefined {
  const match = /^\/compact(?:\s+([\s\S]*))?$/.exec(task.trim())
  return match ? readCompactRequest(match[1] ?? "") : undefined
}

export type CompactionEnd =
  | { readonly kind: "done" }
  /** The user cancelled, so nothing has changed. `error` is set if they left the summary empty. */
  | { readonly kind: "given-up"; readonly error?: Error }
  | { readonly kind: "failed"; readonly message: string; readonly error: unknown }

export interface CompactionWork {
  readonly agent: Agent
  readonly work: (given: { readonly signal: AbortSignal }) => Promise<void>
  readonly signal: AbortSignal
}

/** Runs the work and yields its events. A failure is reported in the final value only, not as an event. */
export async function* compactingEvents(compacting: CompactionWork): AsyncGenerator<QueryEvent, CompactionEnd> {
  const events = compacting.agent.watch(() => ended(compacting))
  for (;;) {
    const { value, done } = await events.next()
    if (done) return value
    if (value.type !== "compaction" || value.progress.phase !== "failed") yield value
  }
}

async function ended({ work, signal }: CompactionWork): Promise<CompactionEnd> {
  try {
    await work({ signal })
    return { kind: "done" }
  } catch (error) {
    if (signal.aborted) return { kind: "given-up" }
    if (isCancelled(error)) return { kind: "given-up", error }
    return { kind: "failed", message: error instanceof Error ? error.message : String(error), error }
  }
}

/** Whether the user cancelled by leaving the summary empty. */
const isCancelled = (error: unknown): error is Error =>
  error instanceof CompactionFailedError && error.reason === "cancelled"
