/**
 * The part of the `Store` port that lists, exports, imports and erases what is stored. Moving, erasing and retention use it between stores
 * of any kind. One store imports what another exports, byte for byte.
 */
import { StrataError } from "../base/errors.ts"
import type { JournalAddress } from "./address.ts"
import type { LogAddress } from "./append-log.ts"
import type { TeamAddress } from "./mailbox.ts"
import type { MemoryNamespace } from "./memory-files.ts"

/** A memory namespace that a store holds. Memories of scope `project` are in the working directory, with any store. */
export type StoredNamespace = Exclude<MemoryNamespace, { readonly scope: "project" }>

/** Identifies one stored item, including everything that belongs to it. */
export type ContentAddress =
  | (JournalAddress & { readonly kind: "journal" })
  | { readonly kind: "memories"; readonly namespace: StoredNamespace }
  | (TeamAddress & { readonly kind: "team" })
  | (LogAddress & { readonly kind: "log" })
  | { readonly kind: "sums"; readonly project: string }

/** A stored item and its size, without its content. */
export interface StoredItem {
  readonly address: ContentAddress
  /** Size of the lines in bytes. Only journals and logs have lines. */
  readonly lines?: number
  /**
   * Journals have `notes`, `checkpoint`, `set-aside` (quarantined bytes) and `blob/NAME`. Memories have their paths, including hidden
   * ones, and `:consolidated`, a time. Teams have `messages` and `members`, daily totals have `days`.
   */
  readonly files: readonly ContentFile[]
  /** When it was last written to, as an ISO time. */
  readonly touched?: string
  /** A process is writing to the item now. */
  readonly isOpen?: boolean
  /** Files that no other store can hold (links, names that are not allowed), one sentence each. */
  readonly omitted?: readonly string[]
}

export interface ContentFile {
  readonly name: string
  /** Absent if the size is known only after reading the file. */
  readonly bytes?: number
  /** When it was last written to, as an ISO time. Only for memories. */
  readonly modified?: string
}

/** A file to write, with its content. */
export interface ContentFileBytes {
  readonly name: string
  readonly data: Buffer
  readonly modified?: string
  /** Allows replacing a file with other content. Default: such a write is refused. */
  readonly replaces?: boolean
}

/** A write that is applied completely or not at all. */
export interface ContentWrite {
  /** Complete lines with their line ends. `at` is the size of the existing lines. */
  readonly lines?: { readonly at: number; readonly data: Buffer }
  readonly files?: readonly ContentFileBytes[]
  readonly touched?: string
}

export interface Contents {
  /** Lists everything that is stored, or only what is stored under exactly this project name. */
  list(wanted?: { readonly project?: string }): AsyncIterable<StoredItem>
  /** Lines from an offset: at most a few megabytes, at least one complete line. Empty at the end. */
  lines(address: ContentAddress, from: number): Promise<Buffer>
  /** The requested files that exist. */
  files(address: ContentAddress, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>>
  /**
   * Throws `ConversationLockedError` if another process writes to the item, and `ContentDiffersError` if the existing content differs.
   * Nothing is written then.
   */
  write(address: ContentAddress, change: ContentWrite): Promise<void>
  /**
   * Erases the item with everything that belongs to it, including a conversation's sub-agents. With `names`: only these files. Refused
   * like `write`.
   */
  erase(address: ContentAddress, names?: readonly string[]): Promise<void>
  /** The wanted namespaces that contain nothing and are not in use. Present only if a store keeps a place for them, such as a directory. */
  emptyNamespaces?(isWanted: (project: string) => boolean): Promise<readonly string[]>
  /** Removes the place of an empty namespace, with what killed processes left there. Anything else in it stays. */
  removeEmpty?(project: string): Promise<void>
  /** Removes what exceeds the retention limit: messages from before the date that every member has read, and totals of earlier days. */
  prune(wanted: PruneCriteria): Promise<PruneCounts>
}

export interface PruneCriteria {
  readonly before: Date
  /** Only counts, without removing anything. */
  readonly dryRun?: boolean
}

/** Numbers of items that exceeded the retention limit. */
export interface PruneCounts {
  readonly messages: number
  /** Days with totals. */
  readonly sums: number
}

/** The existing content differs from what was expected. */
export class ContentDiffersError extends StrataError {
  static override readonly code: string = "content-differs"
  override readonly name = "ContentDiffersError"

  constructor(address: ContentAddress, what: string) {
    super(
      `${contentName(address)}: ${what} differs from what is there. What is there was kept, and nothing of it was written.`,
      {
        code: "content-differs",
      },
    )
  }
}

/** File names of teams and of daily totals. */
export const MESSAGES = "messages"
export const MEMBERS = "members"
export const DAYS = "days"
/** Memory paths never contain a colon. */
export const CONSOLIDATED = ":consolidated"
export const BLOB = "blob/"

/** Files shared by all projects. Other files in that directory belong to this machine. */
export const SHARED_TEXTS: readonly string[] = ["limits.json", "pauses.json"]

/** The namespace of an item, including its owner. `undefined` for items shared by all projects. */
export function contentProject(address: ContentAddress): string | undefined {
  if (address.kind !== "memories") return address.project
  return "project" in address.namespace ? address.namespace.project : undefined
}

/** A unique, readable name of an item. Also used as a key. */
export function contentName(address: ContentAddress): string {
  switch (address.kind) {
    case "journal": {
      const { project, id, under } = address
      return under === undefined ? `conversation ${project}/${id}` : `sub-agent ${project}/${under}/${id}`
    }
    case "team":
      return `team ${address.project}/${address.team}`
    case "log":
      return `log ${address.project}/${address.name}`
    case "sums":
      return `sums ${address.project}`
    case "memories":
      return describeNamespace(address.namespace)
  }
}

function describeNamespace(namespace: StoredNamespace): string {
  if ("shared" in namespace) return "what is known for all projects"
  if (!("agent" in namespace)) return `${namespace.collection ?? "memory"} ${namespace.project}`
  return namespace.scope === "user"
    ? `memory of agent ${namespace.agent}`
    : `memory of agent ${namespace.agent} in ${namespace.project}`
}
