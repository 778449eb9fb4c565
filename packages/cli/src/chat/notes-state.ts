/** Describes the state of notes and compaction for `/context` and `/notes`. Pure. */
import type { PlannerReport } from "@strata/core/policy"
import { formatCompact, pluralize } from "../display/numbers.ts"

export interface CompactionState {
  readonly count: number
  /** Failures since the last success. */
  readonly failures: number
  /** Automatic compaction stops after this many. */
  readonly maxFailures: number
  /** The size that triggers automatic compaction; `undefined` if it is off. */
  readonly at: number | undefined
  /** The size at which the planner will probably compact earlier. */
  readonly plannedAt?: number | undefined
  readonly mayByHand: boolean
  /** State of the background summary for the next compaction. */
  readonly prepared?: "not-begun" | "being-written" | "ready"
}

export type NotesState =
  | { readonly kind: "off" }
  /** `first`: the context size that triggers the first notes. */
  | { readonly kind: "none"; readonly first: number }
  | {
      readonly kind: "taken"
      /** Absent where the store keeps no files. */
      readonly path?: string
      readonly tokens: number
      /** Number of messages since the newest one that the notes cover; absent if they cover only compacted messages. */
      readonly after?: number
    }

const PREPARED: Readonly<Record<NonNullable<CompactionState["prepared"]>, readonly string[]>> = {
  "not-begun": [],
  "being-written": ["Its summary is being written while you work. Esc drops it."],
  ready: ["Its summary is ready. Esc drops it."],
}

export function describeCompactionState(state: CompactionState): string {
  const done = state.count === 0 ? [] : [`Compacted ${pluralize(state.count, "time")}.`]
  const { prepared = "not-begun" } = state
  return [...done, describeAutomatic(state), ...PREPARED[prepared]].join(" ")
}

function describeAutomatic({ failures, maxFailures, at, plannedAt, mayByHand }: CompactionState): string {
  if (!mayByHand) return "Compaction is switched off."
  if (at === undefined) return "Automatic compaction is off. /compact still works."
  const times = pluralize(failures, "time")
  if (failures >= maxFailures)
    return `Automatic compaction has stopped after ${pluralize(failures, "consecutive failure")}. A successful /compact starts it again.`
  const failed = failures === 0 ? "" : ` It failed ${times}; after ${maxFailures} consecutive failures it stops.`
  const earlier =
    plannedAt === undefined ? "" : `, and to save money perhaps earlier: from about ${formatCompact(plannedAt)}`
  return `Strata compacts automatically at ${formatCompact(at)} tokens${earlier}.${failed}`
}

export interface PlannerState extends PlannerReport {
  /** Whether this program keeps the cache warm at all. */
  readonly keepsWarm: boolean
}

/** Describes what the planner waits for, and what happens to the cache in a pause. */
export function describePlanner(state: PlannerState): string {
  const { mode, compaction, decision, cache, pause, lifetimes, keepsWarm } = state
  if (mode === "off") return "The planner is off."
  const due = compaction ? describeDue(compaction) : " does not compact."
  const life =
    cache.state === "cold"
      ? "cold"
      : `warm until ${cache.until.toTimeString().slice(0, 5)}${keepsWarm ? describeWarmth(pause) : ""}`
  const now = decision === undefined ? "" : ` ${decision}`
  const why = lifetimes ? ` ${lifetimes.why}` : ""
  return `Planner (${mode}):${due}${now} Cache: ${life}.${why}`
}

const describeDue = (planned: NonNullable<PlannerReport["compaction"]>): string =>
  planned.where === "anywhere"
    ? ` compacts when sending old messages again has cost ${planned.due}; so far ${planned.spent}.`
    : ` compacts from ${formatCompact(planned.from)} tokens on, in a pause that costs the cache or where a new request of yours begins.`

const describeWarmth = ({ pings, minutes }: PlannerReport["pause"]): string =>
  pings === 0 ? "" : `, kept warm in a pause for about ${formatDuration(minutes)}`

const formatDuration = (minutes: number): string =>
  minutes < 60 ? pluralize(Math.round(minutes), "minute") : pluralize(Math.round(minutes / 60), "hour")

export function describeNotes(state: NotesState): string {
  if (state.kind === "off") return "Notes are switched off."
  if (state.kind === "none")
    return `There are no notes yet. Strata starts taking them at ${formatCompact(state.first)} tokens.`
  const where = state.path === undefined ? "shown by /notes" : `in ${state.path}`
  return `Notes: ${formatCompact(state.tokens)} tokens, ${describeReach(state.after)}, ${where}`
}

function describeReach(after: number | undefined): string {
  if (after === undefined) return "covering the time before the last compaction"
  return after === 0 ? "up to the newest message" : `up to ${pluralize(after, "message")} ago`
}
