/**
 * Lines of a journal as they were found, and what is reported about those that cannot be read. Damage costs only what is damaged, and
 * every report says where the bytes are.
 */
import type { Entry } from "./entries.ts"
import { type LineFront, peekLine } from "./line.ts"

/** A place in the journal that is not what was written there. */
export interface DamagedLine {
  /** Counted from 1. Later lines keep their numbers as long as the journal's index exists. */
  readonly line: number
  /** Where it begins in the journal, in bytes. */
  readonly offset: number
  readonly bytes: number
  readonly why: string
  /** Whether the line is left out. If not, the line itself is whole. */
  readonly isLost: boolean
}

/** Places that one reading found. */
export interface DamageFound {
  readonly first: DamagedLine
  readonly count: number
  /** The file that has a copy of the bytes. */
  readonly setAside?: string
}

/** A line that cannot be read, with what is known about it. */
export interface LostLine extends DamagedLine {
  /** The key of its uuid, where the index has it from the time when the line was whole. */
  readonly key?: string
  readonly kind?: "entry" | "boundary"
  /** The front of the line, where it still reads like one. */
  readonly front?: LineFront
  /** The damaged text names itself as what the kept messages follow. Only boundaries have it. */
  readonly keptFirst?: boolean
  /** Which messages stay, as the damaged text says. */
  readonly kept?: readonly string[]
}

export type FoundLine =
  /** `isUnindexed`: it is not where the index says. */
  | { readonly state: "whole"; readonly entry: Entry; readonly isUnindexed?: true }
  | { readonly state: "lost"; readonly lost: LostLine; readonly content: Buffer }
  /** The line is whole, but the byte after it is no longer a line end. */
  | { readonly state: "end-changed"; readonly at: DamagedLine; readonly content: Buffer }
  /** The index knows that an earlier line has the same uuid. */
  | { readonly state: "repeated"; readonly offset: number }

export const SUM_DIFFERS = "the checksum does not match"
export const END_CHANGED = "its line end was changed; the line itself is whole"

/** What is known about a line from its own bytes. */
export function lostLine(at: DamagedLine, bytes: Buffer): LostLine {
  const front = peekLine(bytes)
  if (!front) return at
  if (front.type !== "system") return { ...at, front }
  const kept = keptIn(bytes)
  return {
    ...at,
    front,
    keptFirst: bytes.includes(`"anchorUuid":"${front.uuid}"`),
    ...(kept === undefined ? {} : { kept }),
  }
}

function keptIn(bytes: Buffer): readonly string[] | undefined {
  const [, list] = /"preservedMessages":\{[^{}]*?"uuids":(\[[^\]]*\])/.exec(bytes.toString("utf8")) ?? []
  try {
    const uuids: unknown = list === undefined ? undefined : JSON.parse(list)
    return Array.isArray(uuids) && uuids.every((uuid) => typeof uuid === "string") ? uuids : undefined
  } catch {
    return undefined
  }
}

/** For a person. What is damaged, where, what it costs, and where the bytes are. */
export function describeDamage({ first, count, setAside }: DamageFound, journal: string): string {
  const { line, offset, bytes, why } = first
  const what =
    count === 1
      ? `One place in the journal is damaged: line ${line} (${why}).`
      : `${count} places in the journal are damaged. The first is line ${line} (${why}).`
  const where = `Its ${bytes === 1 ? "byte is" : `${bytes} bytes are`} at offset ${offset} of ${journal}`
  const copy = setAside === undefined ? "." : `, and a copy is in ${setAside}.`
  return `${what} Only what is damaged is missing; everything else was read. ${where}${copy}`
}
