/**
 * The part of the `Store` port that says what is kept, gives it out as it is, takes it in and erases it. Moving, erasing and retention work
 * with it, between stores of any kind. What one store gives, another takes, byte for byte.
 */
import { StrataError } from "../base/errors.ts"
import type { JournalAddress } from "./address.ts"
import type { LogAddress } from "./append-log.ts"
import type { TeamAddress } from "./mailbox.ts"
import type { MemoryNamespace } from "./memory-files.ts"

/** A memory that a store keeps. Those of scope `project` are in the working directory, with any store. */
export type StoredNamespace = Exclude<MemoryNamespace, { readonly scope: "project" }>

/** One thing that is kept, with everything that belongs to it. */
export type ContentAddress =
  | (JournalAddress & { readonly kind: "journal" })
  | { readonly kind: "memories"; readonly namespace: StoredNamespace }
  | (TeamAddress & { readonly kind: "team" })
  | (LogAddress & { readonly kind: "log" })
  | { readonly kind: "sums"; readonly project: string }

/** A thing that is kept, and how large it is. Its bytes are not read for this. */
export interface StoredItem {
  readonly address: ContentAddress
  /** The size of its lines. Only journals and logs have lines. */
  readonly lines?: number
  /**
   * Journals have `notes`, `checkpoint`, `set-aside` (bytes that were cut off) and `blob/NAME`. Memories have their paths, also hidden ones, and
   * `:consolidated`, a time. Teams have `messages` and `members`, sums have `days`.
   */
  readonly files: readonly ContentFile[]
  /** When it was last written to, as an ISO time. */
  readonly touched?: string
  /** Someone writes to it now. */
  readonly isOpen?: boolean
  /** Files that no other store can keep, as sentences: links, and names that are not allowed. */
  readonly omitted?: readonly string[]
}

export interface ContentFile {
  readonly name: string
  /** Absent where only reading it says. */
  readonly bytes?: number
  /** When it was last written to, as an ISO time. Only of memories. */
  readonly modified?: string
}

/** A file to write. */
export interface ContentFileBytes {
  readonly name: string
  readonly data: Buffer
  readonly modified?: string
  /** Other bytes may be there. Default: then the write is refused. */
  readonly replaces?: boolean
}

/** What to write, all of it or nothing. */
export interface ContentWrite {
  /** Whole lines, with their line ends. `at`: the size that the lines have before. */
  readonly lines?: { readonly at: number; readonly data: Buffer }
  readonly files?: readonly ContentFileBytes[]
  readonly touched?: string
}

export interface Contents {
  /** Everything that is kept, or what is kept under exactly this name of a project. */
  list(wanted?: { readonly project?: string }): AsyncIterable<StoredItem>
  /** Lines from an offset on: at most a few megabytes, at least one whole line. Empty at the end. */
  lines(address: ContentAddress, from: number): Promise<Buffer>
  /** Those of the files that are there. */
  files(address: ContentAddress, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>>
  /**
   * Throws `ConversationLockedError` if someone else writes to it, and `ContentDiffersError` if something else is there. Then nothing is
   * written.
   */
  write(address: ContentAddress, change: ContentWrite): Promise<void>
  /** With everything that belongs to it, also the sub-agents of a conversation. With `names`: only these files. Refused as for `write`. */
  erase(address: ContentAddress, names?: readonly string[]): Promise<void>
  /** Removes what is over: messages from before that every member has read, and sums of earlier days. */
  prune(wanted: PruneCriteria): Promise<PruneCounts>
}

export interface PruneCriteria {
  readonly before: Date
  /** Only counts. */
  readonly dryRun?: boolean
}

/** How much was over. */
export interface PruneCounts {
  readonly messages: number
  /** Days. */
  readonly sums: number
}

/** Something else is there than what was expected. */
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

/** The files of teams, and of sums. */
export const MESSAGES = "messages"
export const MEMBERS = "members"
export const DAYS = "days"
/** No memory has a colon in its path. */
export const CONSOLIDATED = ":consolidated"
export const BLOB = "blob/"

/** What is known for all projects. Files of other names in that directory are this machine's. */
export const SHARED_TEXTS: readonly string[] = ["limits.json", "pauses.json"]

/** The project that it is kept under, with its owner. Nothing: it is for all projects. */
export function contentProject(address: ContentAddress): string | undefined {
  if (address.kind !== "memories") return address.project
  return "project" in address.namespace ? address.namespace.project : undefined
}

/** For people, and as a key: no two addresses have the same. */
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
