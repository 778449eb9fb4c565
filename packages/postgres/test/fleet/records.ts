/** What processes of the fleet write down, one line of JSON each: what they are about to do, and what was acknowledged. */
import { hash } from "node:crypto"
import type { Entry } from "@strata/core"
import { encodeLine, type Journal } from "@strata/core/store"

/** Something that is kept apart from the others of its kind by a name. */
export type DoneKind = "blob" | "notes" | "memory" | "sum" | "log"

export type FleetRecord =
  | { readonly type: "permitted"; readonly agent: string; readonly fence: number }
  /** A conversation was opened for writing. The hashes are of everything in it, and of its tail. */
  | { readonly type: "opened"; readonly agent: string; readonly fence: number; readonly resumed: ResumedBytes }
  | { readonly type: "appended"; readonly agent: string; readonly fence: number; readonly uuids: readonly string[] }
  | { readonly type: "sent"; readonly agent: string; readonly id: string; readonly sequence: number }
  /** It may be there from now on. */
  | { readonly type: "trying"; readonly kind: DoneKind; readonly agent: string; readonly name: string }
  | { readonly type: "did"; readonly kind: DoneKind; readonly agent: string; readonly name: string }
  /** Another process writes this conversation now. */
  | { readonly type: "lost"; readonly agent: string }
  /** Nothing is sent any more. */
  | { readonly type: "quiet" }
  | { readonly type: "failed"; readonly agent: string; readonly why: string }

export interface ResumedBytes {
  /** Everything, read after opening. */
  readonly lines: number
  readonly all: string
  /** What opening gave: where it begins, and its hash. */
  readonly tailLines: number
  readonly tailFirst?: string
  readonly tail: string
}

/** What an agent keeps with each entry: so what it took and how far it has read are written together. */
export interface AgentState {
  readonly agent: string
  readonly fence: number
  readonly step: number
  readonly cursor?: string
  /** Messages that it took with this entry: sender and sequence. */
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

/** The content of a blob, from its name. */
export const blobText = (name: string): string => `${name}\n`.repeat(50)

/** Each addition to the sum: exact in binary. */
export const ADDED_DOLLARS = 0.25
export const DAY = "2026-01-01"
export const PROJECT = "fleet"
export const TEAM = "all"
export const LOG = "callers"
export const MEMORY_FILES = 8
