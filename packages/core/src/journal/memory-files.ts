/**
 * The part of the `Store` port that holds memory files: small texts under relative paths, changed several at a time.
 * What the texts mean is the business of `memory/`.
 */
import { MemoryChangedError, MemoryFileError } from "../base/errors.ts"

/**
 * Which memory it is: a project's, or an agent's own in one of three scopes. `user` is for all projects, `local` for one project, and
 * `project` is kept in the working directory, where it can be committed. The owner is part of a project's name. `beside` is for what is
 * kept about a project and is no memory: what dreams note, and which directories it was used from. `shared` is for what is known for all projects.
 */
export type MemoryNamespace =
  | { readonly project: string; readonly collection?: "dreams" | "directories" }
  | { readonly shared: true }
  | { readonly agent: string; readonly scope: "user" }
  | { readonly agent: string; readonly scope: "local"; readonly project: string }
  | { readonly agent: string; readonly scope: "project"; readonly directory: string }

export type AgentMemoryNamespace = Extract<MemoryNamespace, { readonly agent: string }>

/** The memory files of one place. */
export interface MemoryFiles {
  /** For messages to a person. */
  readonly location: string
  /** The directory, if the store keeps files: editors and file tools work there. */
  readonly directory?: string
  /** The files under a folder, or all whose path has no part that starts with a dot. Sorted by path. */
  list(under?: string): Promise<readonly MemoryFileListing[]>
  read(path: string): Promise<string | undefined>
  /** All files of these folders with their texts, in one call. */
  readAll(wanted: TextSelection): Promise<readonly ReadMemoryFile[]>
  /**
   * Makes all changes or none. After a kill in the middle, the next reader or writer completes them.
   * Throws `MemoryChangedError` if an `expected` text is no longer there; then nothing is written.
   */
  install(
    changes: readonly MemoryFileChange[],
    options?: MemoryInstallOptions,
  ): Promise<MemoryInstallReport | undefined>
  /** What is wrong with the place as a whole, one sentence each. */
  problems?(): Promise<readonly string[]>
  /** What happened to the files, one sentence each. Each is reported once. */
  notices?(): Promise<readonly string[]>
  /** Says when something may have changed, so that unchanged files are not listed again. A store without it works, and is asked each time. */
  watch?(): MemoryFilesWatch
}

/** Which texts to read at once. */
export interface TextSelection {
  /** As for `list`; `undefined`: what is not hidden. */
  readonly folders: readonly (string | undefined)[]
  /** Single files, wherever they are. */
  readonly paths?: readonly string[]
  /** Versions that the reader has. Their texts are left out. */
  readonly knownVersions?: ReadonlyMap<string, string>
  /** Of larger files the text is left out. */
  readonly maxBytes?: number
  /**
   * A file that every change of the others changes too. Where a store reads one after the other, it looks at this one again at the end, and
   * reads all of them again if it is another: no change falls between two of them.
   */
  readonly guard?: string
}

/** A memory file with its text. */
export interface ReadMemoryFile extends MemoryFileListing {
  /** Absent: the reader has it, it is too large, or it cannot be read. */
  readonly text?: string
  /** Why it cannot be read. */
  readonly error?: unknown
}

/** Whether files may have changed since they were read. */
export interface MemoryFilesWatch {
  /** Since the last call of `follow`. */
  isUnchanged(): Promise<boolean>
  /** Watches these files and their folders from now on. Whether they were watched before; otherwise read them again. */
  follow(paths: Iterable<string>): Promise<boolean>
  close(): void
}

/** How to make changes to memory files. */
export interface MemoryInstallOptions {
  /** Keeps no trace of what is replaced. */
  readonly permanent?: boolean
}

/** What a change to memory files left alone. */
export interface MemoryInstallReport {
  /** Files that someone saved in the same moment. Their texts stay, and the change does not reach them. */
  readonly skipped: readonly string[]
}

/** A memory file in a list. */
export interface MemoryFileListing {
  readonly path: string
  /** When it was last written to, as an ISO time. */
  readonly modified: string
  readonly bytes: number
  /** Differs whenever the text may differ. Opaque to callers. */
  readonly version: string
  /** A folder that may not be looked into. What is in it is unknown. */
  readonly isUnlistable?: boolean
}

/** A new text for one memory file, or its removal. */
export interface MemoryFileChange {
  readonly path: string
  /** The whole new text. `undefined` removes the file. */
  readonly text: string | undefined
  /** The text that must be there now; `null` if there must be no file. Left out: any. */
  readonly expected?: string | null
  /** What cannot be read as text there is set aside. Without it, that is an error. */
  readonly quarantinesUnreadable?: boolean
}

const MAX_NAME_BYTES = 200 // file names may have 255; the rest is for endings
const MAX_DEPTH = 8 // six for a memory, and two for the folder of a worktree

/** Returns the path if every part of it is a plain name; throws otherwise. It then cannot lead out of the directory. */
export function validateMemoryPath(path: string): string {
  const parts = path.split("/")
  if (parts.length > MAX_DEPTH) throw new MemoryFileError(path, `at most ${MAX_DEPTH} folders deep is allowed`)
  for (const part of parts) {
    const why = pathPartProblem(part)
    if (why) throw new MemoryFileError(path, why)
  }
  return path
}

/** Where writes are announced that may not be the person's. */
export const WRITE_ANNOUNCEMENTS = ".history/writing"

const MAX_MEMORY_BYTES = 4 * 1024 * 1024 // a memory has a few kilobytes; more is something else
const MAX_HIDDEN_BYTES = 100 * 1024 * 1024 // grows with the number of memories; PostgreSQL takes 120 MB

/** Hidden files are Strata's own. The writer and the reader of a store have the same limit. */
export const maxMemoryBytes = (path: string): number => (path.startsWith(".") ? MAX_HIDDEN_BYTES : MAX_MEMORY_BYTES)

/** Throws if the text cannot be kept as it is. */
export function checkMemoryText(path: string, text: string | undefined): void {
  if (text === undefined) return
  const max = maxMemoryBytes(path)
  if (text.length * 3 > max && Buffer.byteLength(text) > max)
    throw new MemoryFileError(path, `it would have more than ${max} bytes`)
  if (!text.isWellFormed()) throw new MemoryFileError(path, "the text has half a character in it")
}

/** Whether a path can be a memory file's. */
export const isMemoryPath = (path: string): boolean => {
  const parts = path.split("/")
  return parts.length <= MAX_DEPTH && parts.every((part) => pathPartProblem(part) === undefined)
}

/** A plain name such as `release-process.md`: most are, and the checks below would take long for a thousand. */
const PLAIN_NAME = /^[a-z0-9_-]{5,100}(?:\.[a-z0-9_-]+){0,2}$/i

function pathPartProblem(part: string): string | undefined {
  if (PLAIN_NAME.test(part)) return undefined
  if (part === "") return "it is empty, or has an empty part"
  if (part === "." || part === "..") return "it leads to another folder"
  if (/[\\:*?"<>|]/.test(part) || hasControl(part)) return "a name has a character that not every system allows"
  if (/[. ]$/.test(part)) return "a name ends with a dot or a space"
  if (/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(part)) return "Windows reserves this name"
  if (Buffer.byteLength(part) > MAX_NAME_BYTES) return `a name has more than ${MAX_NAME_BYTES} bytes`
  return part.isWellFormed() ? undefined : "a name is not valid text"
}

/** Control characters, and marks that change the direction of text on a screen. */
const hasControl = (text: string) => /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(text)

// Changes a small text that several processes share: no change is lost.

const MAX_ATTEMPTS = 10_000 // each failure means that another succeeded; of 16 at once, one may lose a hundred times

/** `to`: the new text for the one that is there, or `undefined` to leave it. It may be called several times. */
export async function updateText(
  files: Pick<MemoryFiles, "read" | "install">,
  path: string,
  to: (text: string | undefined) => string | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await files.read(path)
    const text = to(before)
    if (text === undefined) return
    try {
      await files.install([{ path, text, expected: before ?? null }])
      return
    } catch (error) {
      if (!(error instanceof MemoryChangedError) || attempt >= MAX_ATTEMPTS) throw error
    }
  }
}
