/**
 * The lines of a thread's journal. Core passes over them: to it they are decisions of a kind that it does not know. A thread is written in
 * segments. Each begins with a boundary and can be read without those before it.
 */
import { uuidFrom } from "@strata/core/base"
import type { Entry } from "@strata/core/store"
import type { Change, Stored } from "./nodes.ts"

const SUBTYPE = "langgraph"

/** A segment begins. */
export interface SegmentLine {
  readonly kind: "segment"
  readonly uuid: string
  readonly segment: number
  readonly thread: string
  /** Where other checkpoints are: the newest of each namespace, and those that are not where their own line is found. */
  readonly elsewhere: readonly Elsewhere[]
}

export interface Elsewhere {
  readonly ns: string
  readonly id: string
  readonly segment: number
  readonly isNewest?: true
  /** It was written again there. Its first line is in an earlier segment. */
  readonly isMoved?: true
}

/** New pieces that a line brings. They are numbered through the segment. */
interface BringsPieces {
  readonly first: number
  readonly values: readonly Stored[]
  /** About how many characters the segment has with this line. */
  readonly bytes: number
}

export interface CheckpointLine extends BringsPieces {
  readonly kind: "checkpoint"
  readonly uuid: string
  readonly segment: number
  readonly ns: string
  readonly id: string
  readonly parent?: string
  /** The line that the change is based on: the one before it of the same namespace and segment. */
  readonly base?: string
  readonly change: Change
  /** The checkpoint was written before: this line counts. */
  readonly again?: true
  /** From how many characters on it is asked again whether a new segment is due. */
  readonly lookAt?: number
}

export interface WritesLine extends BringsPieces {
  readonly kind: "writes"
  readonly uuid: string
  readonly segment: number
  readonly ns: string
  /** The checkpoint that they follow. */
  readonly id: string
  readonly task: string
  readonly writes: readonly (readonly [index: number, channel: string, value: Change])[]
}

export type Line = SegmentLine | CheckpointLine | WritesLine

/** The same parts always give the same id, so a line that is written again is recognised. */
export const lineId = (...parts: readonly (string | number)[]): string => uuidFrom(JSON.stringify(parts))

export const segmentId = (segment: number): string => lineId("segment", segment)
export const checkpointId = (ns: string, id: string): string => lineId("checkpoint", ns, id)

/** The entries for some lines. A boundary comes before a segment, so that reading the newest one reads nothing older. */
export const entriesOf = (lines: readonly Line[], timestamp: string): readonly Entry[] =>
  lines.flatMap((line) => {
    const entry = { type: "strata", subtype: SUBTYPE, parentUuid: null, timestamp, ...line } as unknown as Entry
    return line.kind === "segment" && line.segment > 0 ? [boundary(line, timestamp), entry] : [entry]
  })

const boundary = ({ segment }: SegmentLine, timestamp: string): Entry => ({
  type: "system",
  subtype: "compact_boundary",
  uuid: lineId("boundary", segment),
  parentUuid: null,
  timestamp,
  compactMetadata: { trigger: "auto", preTokens: 0 },
})

/** The line of an entry, if it is one of ours. */
export function lineOf(entry: Entry): Line | undefined {
  const line = entry as unknown as Line & { readonly type: string; readonly subtype?: string }
  return line.type === "strata" && line.subtype === SUBTYPE && isLine(line) ? line : undefined
}

/** A journal that someone edited may hold anything. */
function isLine(line: Partial<Record<keyof CheckpointLine | keyof WritesLine | keyof SegmentLine, unknown>>): boolean {
  if (typeof line.segment !== "number") return false
  if (line.kind === "segment") return typeof line.thread === "string" && Array.isArray(line.elsewhere)
  if (typeof line.ns !== "string" || typeof line.id !== "string") return false
  if (typeof line.first !== "number" || !Array.isArray(line.values)) return false
  return line.kind === "checkpoint" ? line.change !== undefined : line.kind === "writes" && Array.isArray(line.writes)
}
