/** The types of memories and of changes to them. Memory files contain only plain text that users can edit. */

/**
 * `user`: who the user is. `feedback`: how the user wants to work. `project`: facts that the code does not state. `reference`: where to
 * find things.
 */
export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const
/** The kind of a memory. */
export type MemoryType = (typeof MEMORY_TYPES)[number]

export const MEMORY_SPEAKERS = ["user", "agent", "tool"] as const
/** Who stated the content of a memory. `saidBy` is its name on disk. */
export type MemorySpeaker = (typeof MEMORY_SPEAKERS)[number]

/** Where a memory comes from. Strata computes it with each write and stores it in the history; claims in the file itself are ignored. */
export interface MemorySource {
  readonly saidBy: MemorySpeaker
  /** Absent for a manual edit. */
  readonly conversation?: string
  /** The user's message that the memory quotes. */
  readonly message?: string
  /** Outside content that was in view at the time of the write, such as `Read README.md`. */
  readonly outside?: string
  /** The user confirmed the memory. */
  readonly confirmed?: true
}

/** On what a memory is based: someone stated it, the agent observed it, or the agent concluded it. */
export const MEMORY_BASES = ["said", "seen", "concluded"] as const
/** On what a memory is based. */
export type MemoryBasis = (typeof MEMORY_BASES)[number]

/** A memory about one topic. */
export interface Memory {
  /** The path in the memory directory, such as `release-process.md`. It identifies the memory. */
  readonly file: string
  readonly name: string
  /** One line that tells when this memory is relevant. */
  readonly description: string
  readonly type: MemoryType
  /** ISO date, or ISO time if the file has one. */
  readonly created: string
  /** Date on which it was last found to be true. */
  readonly confirmed: string
  readonly source: MemorySource
  readonly basis: MemoryBasis
  /** Describes an attempt that did not work. */
  readonly failed?: true
  /** Files of the memories that this one supersedes. */
  readonly supersedes?: readonly string[]
  /** The file of the memory that supersedes this one. If set, this memory is no longer current. */
  readonly supersededBy?: string
  /** The file of a later memory with a possible conflict. Both are current. */
  readonly doubtedBy?: string
  readonly body: string
}

/** A memory to write. Omitted fields keep their value, or have their default in a new file. */
export interface MemoryDraft extends Partial<Omit<Memory, "name" | "body" | "supersededBy" | "doubtedBy">> {
  readonly name: string
  readonly body: string
}

/** A complete file to write, with its frontmatter. */
export interface MemoryText {
  readonly file: string
  readonly text: string
  /** Default: the user, if the user writes the file; otherwise the previous source of the file. */
  readonly source?: MemorySource
}

/** `merge`: the memories of two namespaces or two machines were merged. `outside`: a file changed, possibly not by the user. */
export type MemoryAuthor = "person" | "agent" | "extraction" | "dream" | "merge" | "outside"

/** A change to make, of any number of files. */
export interface MemoryProposal {
  readonly by: MemoryAuthor
  /** One sentence for the history. */
  readonly why: string
  /** Applies to every memory in the proposal, unless the memory names a less trusted source. */
  readonly source?: MemorySource
  readonly puts?: readonly (MemoryDraft | MemoryText)[]
  /** Files to move to the archive. */
  readonly removals?: readonly string[]
  /**
   * The texts that the proposal is based on, by file; `null` if the file did not exist. Changes made since are merged, or reported as a
   * conflict. Without it, the proposal replaces the current texts.
   */
  readonly base?: ReadonlyMap<string, string | null>
}

/** What file tools wrote into the directory, and on whose behalf. */
export interface MemoryToolEdits {
  readonly by: MemoryAuthor
  readonly why?: string
  /** The source of all these files. */
  readonly source: MemorySource
  /** The files that the tools wrote. Default: all changed files. */
  readonly files?: readonly string[]
}

/** A text that must not be stored, with the reason. */
export interface MemoryRefusal {
  readonly file: string
  /** Reason, as the end of a sentence. */
  readonly why: string
}

/** One entry of the history. */
export interface MemoryChange {
  /** A number, counted up from 1. */
  readonly id: string
  readonly at: string
  readonly by: MemoryAuthor
  readonly why: string
  readonly source?: MemorySource
  readonly files: readonly MemoryFileEdit[]
  /** The change that this one reverts. */
  readonly reverts?: string
  /** Secrets that were masked before anything was written. */
  readonly masked?: readonly { readonly file: string; readonly kind: string }[]
  /** Texts of file tools that must not be stored. They were removed again. */
  readonly refused?: readonly MemoryRefusal[]
  /** Files that contained a wrong source, which was replaced. */
  readonly replaced?: readonly string[]
  /** Files that someone saved while this change was written: their texts were preserved. Not part of the history. */
  readonly kept?: readonly string[]
}

/** What a change did to one file. */
export interface MemoryFileEdit {
  readonly path: string
  /** The hashes of the texts before and after. Absent if the file did not exist before or after. */
  readonly before?: string
  readonly after?: string
  /** Path of a removed file in the archive. */
  readonly archived?: string
  /** Source of the text after the change. */
  readonly source?: MemorySource
}

/** Whether the type says how to work with the user. Only statements of the user can be rules in force. */
export const isRule = ({ type }: Pick<Memory, "type">): boolean => type === "feedback" || type === "user"

/** Whether the user stated, wrote or confirmed the memory. All others are unconfirmed notes of the agent. */
export const isUserMemory = ({ source }: Pick<Memory, "source">): boolean =>
  source.saidBy === "user" || source.confirmed === true

export const isCurrentMemory = (memory: Memory): boolean => memory.supersededBy === undefined

/** Sorts memories for a list: the most recently confirmed first. */
export const byLastConfirmed = (a: Memory, b: Memory): number =>
  compare(b.confirmed, a.confirmed) || compare(a.file, b.file)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
