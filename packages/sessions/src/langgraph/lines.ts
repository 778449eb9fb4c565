/**
 * The lines of a thread's journal. Core ignores them as decisions of an unknown kind. A thread is written in segments. Each begins with a
 * boundary and can be read without earlier segments.
 */
import { uuidFrom } from "@strata/core/base"
import type { Entry } from "@strata/core/store"
import type { Change, StoredLeaf } from "./nodes.ts"

const SUBTYPE = "langgraph"

/** The first line of a segment. */
export interface SegmentLine {
  readonly kind: "segment"
  readonly uuid: string
  readonly segment: number
  readonly thread: string
  /** Segments of other checkpoints: of the newest in each namespace, and of those that were written again in a later segment. */
  readonly elsewhere: readonly CheckpointLocation[]
}

export interface CheckpointLocation {
  readonly ns: string
  readonly id: string
  readonly segment: number
  readonly isNewest?: true
  /** Whether the checkpoint was written again in that segment. Its first line is in an earlier one. */
  readonly isMoved?: true
}

/** New leaves that a line contains, numbered through the segment. */
interface NewLeaves {
  readonly first: number
  readonly values: readonly StoredLeaf[]
  /** Approximate size of the segment up to this line, in characters. */
  readonly bytes: number
}

export interface CheckpointLine extends NewLeaves {
  readonly kind: "checkpoint"
  readonly uuid: string
  readonly segment: number
  readonly ns: string
  readonly id: string
  readonly parent?: string
  /** The line that the change is based on: the previous line of the same namespace and segment. */
  readonly base?: string
  readonly change: Change
  /** Set if the checkpoint was written before. Then this line replaces the earlier one. */
  readonly again?: true
  /** Size in characters at which to check again whether a new segment is due. */
  readonly lookAt?: number
}

export interface WritesLine extends NewLeaves {
  readonly kind: "writes"
  readonly uuid: string
  readonly segment: number
  readonly ns: string
  /** The checkpoint that the writes follow. */
  readonly id: string
  readonly task: string
  readonly writes: readonly (readonly [index: number, channel: string, value: Change])[]
}

export type ThreadLine = SegmentLine | CheckpointLine | WritesLine

/** Returns the same id for the same parts, so that a line that is written again is recognized. */
export const lineId = (...parts: readonly (string | number)[]): string => uuidFrom(JSON.stringify(parts))

export const segmentId = (segment: number): string => lineId("segment", segment)
export const checkpointId = (ns: string, id: string): string => lineId("checkpoint", ns, id)

/** The entries for lines. A boundary precedes each new segment, so that reading the newest segment reads nothing older. */
export const entriesOf = (lines: readonly ThreadLine[], timestamp: string): readonly Entry[] =>
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

/** The LangGraph line of an entry, if it has one. */
export function lineOf(entry: Entry): ThreadLine | undefined {
  const line = entry as unknown as ThreadLine & { readonly type: string; readonly subtype?: string }
  return line.type === "strata" && line.subtype === SUBTYPE && isLine(line) ? line : undefined
}

/** Validates a line, because a journal may have been edited. */
function isLine(line: Partial<Record<keyof CheckpointLine | keyof WritesLine | keyof SegmentLine, unknown>>): boolean {
  if (typeof line.segment !== "number") return false
  if (line.kind === "segment") return typeof line.thread === "string" && Array.isArray(line.elsewhere)
  if (typeof line.ns !== "string" || typeof line.id !== "string") return false
  if (typeof line.first !== "number" || !Array.isArray(line.values)) return false
  return line.kind === "checkpoint" ? line.change !== undefined : line.kind === "writes" && Array.isArray(line.writes)
}
