/**
 * One dream: takes the permit, copies the memory, consolidates the copy, checks the result, and installs it as one change. Until that last
 * step the memory is unchanged. However the dream ends, the permit is released and the copy is removed; after a kill the next dream cleans
 * up.
 */
import { existsSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { join } from "node:path"
import {
  describeHeldLock,
  describeReason,
  errorMessage,
  MemoryWriteError,
  type NamedHolder,
} from "../../base/errors.ts"
import type { TakenPermit } from "../../journal/permit.ts"
import type { MemoryBank } from "../../memory/bank.ts"
import { INDEX_FILE } from "../../memory/file-names.ts"
import type { Memory, MemoryChange } from "../../memory/memory.ts"
import type { ModelResponse, StreamLimits } from "../../model/model.ts"
import { type ConsolidationCheck, checkConsolidation, findLosses } from "./check/check.ts"
import type { Consolidate, Consolidation } from "./consolidate/consolidate.ts"
import { copyMemory, type MemoryCopy } from "./copy.ts"
import type { DreamTask } from "./dream-task.ts"
import { recordConsolidated } from "./due.ts"
import { dropPending, installDream, proposalOf, storePending } from "./install.ts"
import type { DreamContext } from "./state-files.ts"
import type { PastConversations } from "./transcripts.ts"
import { type DreamWorkspace, openWorkingDirectory } from "./working-directory.ts"

const MAX_NAMED = 5 // in a sentence
const MAX_WHY = 400 // characters of the model's reasons that enter the history

interface DreamWork extends DreamContext {
  readonly bank: MemoryBank
  readonly project: string
  readonly past?: PastConversations | undefined
  readonly consolidate: Consolidate
  readonly task: DreamTask
  readonly maxTurns: number
  readonly patience?: StreamLimits | undefined
  /** Whether every change waits for the user's consent. */
  readonly asksFirst?: boolean
  /** Returns the cost of responses. */
  readonly dollarsFor?: (responses: readonly ModelResponse[]) => number
  readonly signal: AbortSignal
  /** Called at each step, for tests that end the dream or the process there. */
  readonly atStep?: (step: DreamStep) => void | Promise<void>
}

export type DreamStep = "locked" | "copied" | "consolidated" | "checked" | "installed" | "released"

/** How a dream ended. `message` is one or two sentences for the user. */
export type DreamEnd = {
  readonly message: string
  /** All billed responses. */
  readonly responses: readonly ModelResponse[]
} & (
  | { readonly state: "installed"; readonly change: MemoryChange }
  /** There was nothing to improve. */
  | { readonly state: "nothing" }
  /** A change waits for the user's consent. */
  | { readonly state: "pending"; readonly id: string }
  /** The check rejected the change, or it conflicts with an edit made meanwhile. */
  | { readonly state: "refused" }
  | { readonly state: "failed"; readonly error: unknown }
  | { readonly state: "killed" }
  /** Another process holds the permit. */
  | { readonly state: "locked" }
)

export async function runDream(work: DreamWork): Promise<DreamEnd> {
  const { task, clock, atStep = () => {} } = work
  const attempt = await work.permit.take({ id: task.state.id, max: 1 })
  if (attempt.state === "full") return { state: "locked", responses: [], message: describeHolder(attempt.by) }
  const { permit } = attempt
  const dreamed = await dreamPermitted(work, permit).catch((error) => endAfter(error, work))
  await noteEnd(work, dreamed) // before the release: without the permit, a running dream counts as killed
  const end = await permit.release(isSuccess(dreamed) ? clock.now() : undefined).then(
    () => dreamed,
    (error: unknown) => {
      const why = `The time of this dream could not be noted (${reasonAndPath(error)}), so the next may start sooner.`
      return { ...dreamed, message: `${dreamed.message} ${why}` }
    },
  )
  if (end !== dreamed) await noteEnd(work, end)
  await atStep("released")
  return end
}

const noteEnd = ({ task, dollarsFor }: DreamWork, end: DreamEnd): Promise<void> =>
  task.end(statusOf(end), {
    message: end.message,
    ...(dollarsFor ? { dollars: dollarsFor(end.responses) } : {}),
    ...(end.state === "installed" ? { change: end.change.id } : {}),
  })

/** The end after an error. `responses`: billed responses count even if the dream ends early. */
function endAfter(error: unknown, work: DreamWork, responses: readonly ModelResponse[] = []): DreamEnd {
  return isStopped(work) && !isUnfinished(error)
    ? { state: "killed", message: KILLED, responses }
    : { state: "failed", message: describeFailure(error), error, responses }
}

/** Describes the holder of the permit, which may have been released meanwhile. */
const describeHolder = (by: NamedHolder | undefined): string =>
  by
    ? describeHeldLock(by, { does: "is consolidating this memory already", command: "strata unlock" })
    : "Another process was consolidating this memory."
export const NOTHING_TO_DO = "There was nothing to consolidate."
const KILLED = "The dream was ended. The memory is unchanged."

function describeOmitted(unread: readonly string[]): string {
  const more = unread.length - MAX_NAMED
  const names = unread.slice(0, MAX_NAMED).join(", ")
  return `Skipped, because it cannot be read as a memory: ${names}${more > 0 ? ` and ${more} more` : ""}.`
}

/** The end of a dream that cannot start because its directories cannot be used. */
export const cannotStart = (error: unknown): DreamEnd => ({
  ...{ state: "failed", error, responses: [] },
  message: `The dream could not start (${reasonAndPath(error)}). The memory is unchanged. Check the permissions, or choose another directory with STRATA_HOME.`,
})

function reasonAndPath(error: unknown): string {
  const inner = error instanceof MemoryWriteError ? error.cause : error
  const { dest, path = dest } = (inner instanceof Error ? inner : {}) as { dest?: string; path?: string }
  return path === undefined ? describeReason(inner) : `${describeReason(inner)}: ${dest ?? path}`
}

/** Whether a change is on disk as an intent. It will be installed, whatever stopped it now. */
const isUnfinished = (error: unknown): boolean => error instanceof MemoryWriteError && error.state === "unfinished"

function describeFailure(error: unknown): string {
  if (isUnfinished(error)) return `The dream stopped. ${errorMessage(error)}`
  return `The dream failed (${reasonAndPath(error)}). The memory is unchanged.`
}

const isStopped = ({ signal, task }: DreamWork): boolean => signal.aborted || task.signal.aborted
const isSuccess = ({ state }: DreamEnd): boolean => state === "installed" || state === "nothing" || state === "pending"

function statusOf({ state }: DreamEnd): "completed" | "failed" | "killed" {
  if (state === "killed") return "killed"
  return state === "failed" || state === "refused" ? "failed" : "completed"
}

async function dreamPermitted(work: DreamWork, permit: TakenPermit): Promise<DreamEnd> {
  const { stateFiles, task, atStep = () => {} } = work
  await atStep("locked")
  await task.start()
  const workspace = await openWorkingDirectory(stateFiles, task.state.id)
  try {
    return await dreamIn(workspace, work, permit)
  } finally {
    await workspace.remove().catch(() => undefined) // the next dream removes it
  }
}

async function dreamIn(workspace: DreamWorkspace, work: DreamWork, { last }: TakenPermit): Promise<DreamEnd> {
  const { bank, files, clock, task, past, consolidate, atStep = () => {} } = work
  const before = await bank.all() // records manual edits in the history first
  const copy = await copyMemory({ files, directory: workspace.copy, since: last })
  await atStep("copied")
  const { base } = copy
  const memories = before.filter(({ file }) => base.has(file))
  const project = await realpath(work.project)
  const check = (changed: ReadonlyMap<string, string | null>): Promise<ConsolidationCheck> =>
    checkConsolidation({
      ...{ base, before: memories, changed, now: clock.now() },
      projectHas: (path) => existsSync(join(project, path)),
    })
  const found = await check(new Map())
  const consolidation = await consolidate({
    ...{ directory: copy.directory, project, memories, patience: work.patience, maxTurns: work.maxTurns },
    journals: await existing((await past?.transcripts({ directory: workspace.transcripts, since: last })) ?? []),
    index: base.get(INDEX_FILE) ?? "",
    findings: found.state === "clean" ? found.repairs : [],
    now: clock.now(),
    last,
    signal: AbortSignal.any([work.signal, task.signal]),
    onTurn: (turn) => task.turn(turn),
    onWrite: (file) => task.wrote(file),
  })
  try {
    const end = await conclude(work, { consolidation, copy, check, before: memories })
    return copy.unread.length > 0 ? { ...end, message: `${end.message} ${describeOmitted(copy.unread)}` } : end
  } catch (error) {
    return endAfter(error, work, consolidation.responses)
  }
}

interface ConcludeInput {
  readonly consolidation: Consolidation
  readonly copy: MemoryCopy
  readonly check: (changed: ReadonlyMap<string, string | null>) => Promise<ConsolidationCheck>
  readonly before: readonly Memory[]
}

/** Checks the consolidated copy and installs it. */
async function conclude(work: DreamWork, { consolidation, copy, check, before }: ConcludeInput): Promise<DreamEnd> {
  const { atStep = () => {} } = work
  const { responses, ended } = consolidation
  await atStep("consolidated")
  if (isStopped(work) || ended === "aborted") return { state: "killed", message: KILLED, responses }
  if (ended === "failed") throw consolidation.error
  if (ended === "unfinished") throw new Error(`it was not done after ${work.maxTurns} turns (dream-turns)`)
  const checked = await check(await copy.changes())
  await atStep("checked")
  if (checked.state === "refused")
    return {
      state: "refused",
      responses,
      message: `The dream was refused: ${checked.reason}. The memory is unchanged.`,
    }
  if (isStopped(work)) return { state: "killed", message: KILLED, responses }
  return installOrHold(work, { checked, consolidation, base: copy.base, before })
}

interface InstallInput {
  readonly checked: Extract<ConsolidationCheck, { state: "clean" }>
  readonly consolidation: Consolidation
  readonly base: ReadonlyMap<string, string>
  readonly before: readonly Memory[]
}

/** Installs the change, or stores it for the user to decide. */
async function installOrHold(
  work: DreamWork,
  { checked, consolidation, base, before }: InstallInput,
): Promise<DreamEnd> {
  const { bank, task, stateFiles, clock, asksFirst = false, atStep = () => {} } = work
  const { responses } = consolidation
  const { texts, after } = checked
  const nothing: DreamEnd = { state: "nothing", responses, message: NOTHING_TO_DO }
  if (texts.size === 0) {
    await recordExamined({ stateFiles, bank, base, changed: [] })
    return nothing
  }
  const proposal = proposalOf({ why: changeReason(consolidation), texts, base, after })
  const losses = findLosses(before, after)
  if (losses.needsConsent || asksFirst) {
    const reason = losses.needsConsent
      ? `${losses.files.length} of ${losses.of} memories would go out of view, which is more than a quarter.`
      : "The setting memory is ask."
    const { id } = task.state
    await storePending(stateFiles, { ...proposal, id, reason, at: clock.now().toISOString(), lost: losses.files })
    return {
      state: "pending",
      id,
      responses,
      message: `A dream waits for your consent: ${reason} See strata dream review.`,
    }
  }
  const installed = await installDream(bank, proposal)
  await atStep("installed")
  if (installed.state === "nothing") return nothing
  if (installed.state === "conflict")
    return {
      state: "refused",
      responses,
      message: `${installed.files.join(", ")} changed during the dream, so it was not installed. The memory is as you left it.`,
    }
  await recordExamined({ stateFiles, bank, base, changed: [...texts.keys()] })
  await dropPending(stateFiles).catch(() => undefined) // it is based on texts that no longer exist, and can still be rejected
  return { state: "installed", change: installed.change, responses, message: describeChange(installed.change) }
}

/** Records what the dream examined. Edits made meanwhile are not included, so the next dream examines them. */
async function recordExamined({ stateFiles, bank, base, changed }: ExaminedInput): Promise<void> {
  const texts = new Map(base)
  for (const file of changed) {
    const text = await bank.text(file)
    if (text === undefined) texts.delete(file)
    else texts.set(file, text)
  }
  await recordConsolidated(stateFiles, texts).catch(() => undefined) // without it the next dream only checks again
}

interface ExaminedInput extends Pick<DreamWork, "bank" | "stateFiles"> {
  readonly base: ReadonlyMap<string, string>
  readonly changed: readonly string[]
}

function changeReason({ why }: Consolidation): string {
  const text = why.replace(/\s+/g, " ").trim()
  if (text === "" || /^nothing to consolidate/i.test(text))
    return "Repaired by rule: repetitions, outdated memories, marks and links."
  return text.length > MAX_WHY ? `${text.slice(0, MAX_WHY - 1)}…` : text
}

/** Describes what was added, changed and removed, and how to undo it. */
export function describeChange({ id, files, kept = [] }: MemoryChange): string {
  const memories = files.filter(({ path }) => path !== INDEX_FILE)
  const count = (fits: (file: (typeof files)[number]) => boolean) => memories.filter(fits).length
  const parts = [
    [count(({ before }) => before === undefined), "added"],
    [count(({ before, after }) => before !== undefined && after !== undefined), "changed"],
    [count(({ after }) => after === undefined), "moved to the archive"],
  ].flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`]))
  const yours = kept.length === 0 ? "" : ` ${kept.join(", ")} was saved in the same moment: that text stays.`
  return `The memory was consolidated: ${parts.join(", ") || "the index changed"}.${yours} Revert it with: strata memory revert ${id}`
}

async function existing(directories: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(directories.map((directory) => realpath(directory).catch(() => undefined)))
  return [...new Set(real.filter((path) => path !== undefined))]
}
