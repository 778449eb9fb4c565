/** Records that processes of the fleet write, one line of JSON each: actions they are about to try, and acknowledged ones. */
import { hash } from "node:crypto"
import type { Entry } from "@strata/core"
import { encodeLine, type Journal } from "@strata/core/store"

/** Kinds of data that are identified by name. */
export type DoneKind = "blob" | "notes" | "memory" | "sum" | "log"

export type FleetRecord =
  | { readonly type: "permitted"; readonly agent: string; readonly fence: number }
  /** A conversation was opened for writing. The hashes cover its full content, and its tail. */
  | { readonly type: "opened"; readonly agent: string; readonly fence: number; readonly resumed: ResumedBytes }
  | { readonly type: "appended"; readonly agent: string; readonly fence: number; readonly uuids: readonly string[] }
  | { readonly type: "sent"; readonly agent: string; readonly id: string; readonly sequence: number }
  /** The write may be stored from now on. */
  | { readonly type: "trying"; readonly kind: DoneKind; readonly agent: string; readonly name: string }
  | { readonly type: "did"; readonly kind: DoneKind; readonly agent: string; readonly name: string }
  /** Another process writes this conversation now. */
  | { readonly type: "lost"; readonly agent: string }
  /** No more messages are sent. */
  | { readonly type: "quiet" }
  | { readonly type: "failed"; readonly agent: string; readonly why: string }

export interface ResumedBytes {
  /** Number of all lines, read after opening. */
  readonly lines: number
  readonly all: string
  /** The tail that opening returned: its number of lines, and its hash. */
  readonly tailLines: number
  readonly tailFirst?: string
  readonly tail: string
}

/** State that an agent stores with each entry, so that received messages and its cursor are written together. */
export interface AgentState {
  readonly agent: string
  readonly fence: number
  readonly step: number
  readonly cursor?: string
  /** Messages received with this entry: sender and sequence. */
  readonly took: readonly (readonly [string, number])[]
}

export async function allEntries(journal: Pick<Journal, "entries">): Promise<readonly Entry[]> {
  const all: Entry[] = []
  for await (const entry of journal.entries()) all.push(entry)
  return all
}

export const hashOf = (entries: readonly Entry[]): string => hash("sha256", Buffer.concat(entries.map(encodeLine)))

export function stateIn(entry: Entry): AgentState | undefined {
  return entry.type === "user" ? (JSON.parse(String(entry.message.content)) as AgentState) : undefined
}

/** The content of a blob, derived from its name. */
export const blobText = (name: string): string => `${name}\n`.repeat(50)

/** The amount of each addition to the total; exact in binary. */
export const ADDED_DOLLARS = 0.25
export const DAY = "2026-01-01"
export const PROJECT = "fleet"
export const TEAM = "all"
export const LOG = "callers"
export const MEMORY_FILES = 8
