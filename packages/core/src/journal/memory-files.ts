/**
 * The part of the `Store` port for memory files: small texts under relative paths, changed several at a time. What the texts mean is
 * decided in `memory/`.
 */
import { MemoryChangedError, MemoryFileError } from "../base/errors.ts"

/**
 * Identifies a memory: a project's, or an agent's in one of three scopes. `user` applies to all projects, `local` to one project, and
 * `project` is stored in the working directory, where it can be committed. The owner is part of a project's name. `collection` names other
 * data of a project: the state of dreams, and the directories it was used from. `shared` holds what applies to all projects.
 */
export type MemoryNamespace =
  | { readonly project: string; readonly collection?: "dreams" | "directories" }
  | { readonly shared: true }
  | { readonly agent: string; readonly scope: "user" }
  | { readonly agent: string; readonly scope: "local"; readonly project: string }
  | { readonly agent: string; readonly scope: "project"; readonly directory: string }

export type AgentMemoryNamespace = Extract<MemoryNamespace, { readonly agent: string }>

/** The memory files of one namespace. */
export interface MemoryFiles {
  /** Where the files are, for messages to the user. */
  readonly location: string
  /** The directory, if the store has files. Editors and file tools work there. */
  readonly directory?: string
  /** The files under a folder, or all files without a path part that starts with a dot. Sorted by path. */
  list(under?: string): Promise<readonly MemoryFileListing[]>
  read(path: string): Promise<string | undefined>
  /** All files of the selected folders with their texts, in one call. */
  readAll(wanted: TextSelection): Promise<readonly ReadMemoryFile[]>
  /**
   * Makes all changes or none. After a kill in the middle, the next reader or writer completes them.
   * Throws `MemoryChangedError` if an `expected` text is no longer there; then nothing is written.
   */
  install(
    changes: readonly MemoryFileChange[],
    options?: MemoryInstallOptions,
  ): Promise<MemoryInstallReport | undefined>
  /** Problems with the namespace as a whole, one sentence each. */
  problems?(): Promise<readonly string[]>
  /** Events that affected the files, one sentence each. Each is reported once. */
  notices?(): Promise<readonly string[]>
  /** Watches for changes, so that unchanged files are not listed again. Optional: without it, files are listed each time. */
  watch?(): MemoryFilesWatch
}

/** Selects texts to read in one call. */
export interface TextSelection {
  /** Folders, as for `list`. `undefined` selects everything that is not hidden. */
  readonly folders: readonly (string | undefined)[]
  /** Single files in any folder. */
  readonly paths?: readonly string[]
  /** Versions that the reader already has. Their texts are omitted. */
  readonly knownVersions?: ReadonlyMap<string, string>
  /** Texts of larger files are omitted. */
  readonly maxBytes?: number
  /**
   * A file that changes with every change of the others. A store that reads files one by one checks it again at the end, and reads
   * everything again if it has changed. So the result never mixes two states.
   */
  readonly guard?: string
}

/** A memory file with its text. */
export interface ReadMemoryFile extends MemoryFileListing {
  /** Absent if the reader has this version, or the file is too large or cannot be read. */
  readonly text?: string
  /** Why the file cannot be read. */
  readonly error?: unknown
}

/** Tells whether files may have changed since they were read. */
export interface MemoryFilesWatch {
  /** Whether nothing changed since the last call of `follow`. */
  isUnchanged(): Promise<boolean>
  /** Watches these files and their folders from now on. Returns whether they were watched before; if not, read them again. */
  follow(paths: Iterable<string>): Promise<boolean>
  close(): void
}

/** Options for changing memory files. */
export interface MemoryInstallOptions {
  /** Removes all traces of the replaced texts. */
  readonly permanent?: boolean
}

/** The result of a change to memory files. */
export interface MemoryInstallReport {
  /** Files that were edited at the same moment. Their texts stay, and the change does not apply to them. */
  readonly skipped: readonly string[]
}

/** A listed memory file. */
export interface MemoryFileListing {
  readonly path: string
  /** When it was last written to, as an ISO time. */
  readonly modified: string
  readonly bytes: number
  /** Changes whenever the text may have changed. Opaque to callers. */
  readonly version: string
  /** A folder that cannot be listed, so its content is unknown. */
  readonly isUnlistable?: boolean
}

/** A new text for one memory file, or its removal. */
export interface MemoryFileChange {
  readonly path: string
  /** The complete new text. `undefined` removes the file. */
  readonly text: string | undefined
  /** The text that must be there now; `null` if the file must not exist. Default: any. */
  readonly expected?: string | null
  /** Quarantines existing content that is not readable text. Default: such content is an error. */
  readonly quarantinesUnreadable?: boolean
}

const MAX_NAME_BYTES = 200 // file names may have 255; the rest is for endings
const MAX_DEPTH = 8 // six for a memory, and two for the folder of a worktree

/** Returns the path if every part of it is a plain name, so that it cannot lead out of the directory. Throws otherwise. */
export function validateMemoryPath(path: string): string {
  const parts = path.split("/")
  if (parts.length > MAX_DEPTH) throw new MemoryFileError(path, `at most ${MAX_DEPTH} folders deep is allowed`)
  for (const part of parts) {
    const why = pathPartProblem(part)
    if (why) throw new MemoryFileError(path, why)
  }
  return path
}

/** The folder that announces writes which may not be the user's. */
export const WRITE_ANNOUNCEMENTS = ".history/writing"

const MAX_MEMORY_BYTES = 4 * 1024 * 1024 // a memory has a few kilobytes; more is not a memory
const MAX_HIDDEN_BYTES = 100 * 1024 * 1024 // grows with the number of memories; PostgreSQL takes 120 MB

/** The size limit of a file. Hidden files belong to Strata. Writers and readers of a store use the same limit. */
export const maxMemoryBytes = (path: string): number => (path.startsWith(".") ? MAX_HIDDEN_BYTES : MAX_MEMORY_BYTES)

/** Throws if the text cannot be stored verbatim. */
export function checkMemoryText(path: string, text: string | undefined): void {
  if (text === undefined) return
  const max = maxMemoryBytes(path)
  if (text.length * 3 > max && Buffer.byteLength(text) > max)
    throw new MemoryFileError(path, `it would have more than ${max} bytes`)
  if (!text.isWellFormed()) throw new MemoryFileError(path, "the text has half a character in it")
}

/** Whether a path can be that of a memory file. */
export const isMemoryPath = (path: string): boolean => {
  const parts = path.split("/")
  return parts.length <= MAX_DEPTH && parts.every((part) => pathPartProblem(part) === undefined)
}

/** Matches plain names such as `release-process.md`. Most names are plain, and the checks below are slow for thousands of files. */
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

/** Control characters, and characters that change the direction of text. */
const hasControl = (text: string) => /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(text)

// Updates a small text that several processes share, without losing a change.

const MAX_ATTEMPTS = 10_000 // each failure means that another process succeeded; with 16 processes, one may fail a hundred times

/** `to` returns the new text for the present one, or `undefined` to leave it. It may be called several times. */
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
