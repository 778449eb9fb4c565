/** What a memory is, and what a change to the memories is. Everything in memory files is plain text that people can edit. */

/** `user`: who they are. `feedback`: how they want to work. `project`: what the code does not say. `reference`: where things are. */
export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const
/** The kind of a memory. */
export type MemoryType = (typeof MEMORY_TYPES)[number]

export const SPEAKERS = ["user", "agent", "tool"] as const
/** Who said what a memory is based on. */
export type MemorySpeaker = (typeof SPEAKERS)[number]

/** Where a memory comes from. Strata computes it with each write and keeps it in the history; what a file says about it does not count. */
export interface MemoryProvenance {
  readonly saidBy: MemorySpeaker
  /** Absent for a hand edit. */
  readonly conversation?: string
  /** The person's message whose words the memory has. */
  readonly message?: string
  /** What came from outside and was in view at the write, such as `Read README.md`. */
  readonly outside?: string
  /** The person said yes to it. */
  readonly confirmed?: true
}

/** What a memory rests on: someone said it, the agent saw it, or the agent concluded it. */
export const BASES = ["said", "seen", "concluded"] as const
/** What a memory rests on. */
export type MemorySource = (typeof BASES)[number]

/** What is remembered about one topic. */
export interface Memory {
  /** The path in the memory directory, such as `release-process.md`. It identifies the memory. */
  readonly file: string
  readonly name: string
  /** One line: when this memory matters. */
  readonly description: string
  readonly type: MemoryType
  /** ISO date, or ISO time if the file has one. */
  readonly created: string
  /** When it was last found to be true. */
  readonly confirmed: string
  readonly source: MemoryProvenance
  readonly basis: MemorySource
  /** It was tried and did not work. */
  readonly failed?: true
  /** Files of the memories that this one replaces. */
  readonly supersedes?: readonly string[]
  /** The file of the memory that replaces this one. Set: the memory is no longer current. */
  readonly supersededBy?: string
  /** The file of a later memory that may say otherwise. Both are current. */
  readonly doubtedBy?: string
  readonly body: string
}

/** A memory to write. What is left out keeps its value, or gets its default in a new file. */
export interface MemoryDraft extends Partial<Omit<Memory, "name" | "body" | "supersededBy" | "doubtedBy">> {
  readonly name: string
  readonly body: string
}

/** A whole file to write, with its frontmatter. */
export interface MemoryText {
  readonly file: string
  readonly text: string
  /** Default: the person's, if they write it; otherwise that of the file as it was. */
  readonly source?: MemoryProvenance
}

/** `merge`: the memories of two places or two machines were brought together. `outside`: a file changed, and it may not have been the person. */
export type MemoryAuthor = "person" | "agent" | "extraction" | "dream" | "merge" | "outside"

/** A change to make, of any number of files. */
export interface MemoryProposal {
  readonly by: MemoryAuthor
  /** One sentence for the history. */
  readonly why: string
  /** Applies to every memory in the proposal. A memory that names a less trusted source keeps that one. */
  readonly source?: MemoryProvenance
  readonly puts?: readonly (MemoryDraft | MemoryText)[]
  /** Files to move to the archive. */
  readonly removals?: readonly string[]
  /**
   * The texts that the proposal started from, by file; `null` if the file did not exist. Changes made since are merged, or
   * reported as a conflict. Without it, the proposal replaces what is there.
   */
  readonly base?: ReadonlyMap<string, string | null>
}

/** What file tools wrote into the directory, and on whose behalf. */
export interface MemoryToolEdits {
  readonly by: MemoryAuthor
  readonly why?: string
  /** Of all of them. */
  readonly source: MemoryProvenance
  /** The files that the tools wrote. Default: all that changed. */
  readonly files?: readonly string[]
}

/** A text that may not be stored, and why. */
export interface MemoryRefusal {
  readonly file: string
  /** The end of a sentence. */
  readonly why: string
}

/** One entry of the history. */
export interface MemoryChange {
  /** A number, counted up from 1. */
  readonly id: string
  readonly at: string
  readonly by: MemoryAuthor
  readonly why: string
  readonly source?: MemoryProvenance
  readonly files: readonly MemoryFileEdit[]
  /** The change that this one takes back. */
  readonly reverts?: string
  /** Secrets that were replaced before anything was written. */
  readonly masked?: readonly { readonly file: string; readonly kind: string }[]
  /** What file tools wrote and may not be stored. It was taken out again. */
  readonly refused?: readonly MemoryRefusal[]
  /** Files that said something else about their source. It was replaced. */
  readonly replaced?: readonly string[]
  /** Files that someone saved while this change was written: their texts stay. Not part of the history. */
  readonly kept?: readonly string[]
}

/** What a change did to one file. */
export interface MemoryFileEdit {
  readonly path: string
  /** The hashes of the texts before and after. Absent: no file before, or no file after. */
  readonly before?: string
  readonly after?: string
  /** Where a removed file went. */
  readonly archived?: string
  /** Of the text after. */
  readonly source?: MemoryProvenance
}

/** Types that say how to work with the person. Only the person's words can be a rule in force. */
export const isRule = ({ type }: Pick<Memory, "type">): boolean => type === "feedback" || type === "user"

/** Said, written or confirmed by the person. All else the agent noted, and no one confirmed it. */
export const isUserMemory = ({ source }: Pick<Memory, "source">): boolean =>
  source.saidBy === "user" || source.confirmed === true

export const isCurrentMemory = (memory: Memory): boolean => memory.supersededBy === undefined

/** For a list: what was confirmed last comes first. */
export const byNews = (a: Memory, b: Memory): number => compare(b.confirmed, a.confirmed) || compare(a.file, b.file)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
