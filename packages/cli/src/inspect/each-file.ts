/**
 * Runs a command's work over several files, with a progress line. If one of several files cannot be read, the others are still processed.
 */

import { StrataError } from "@strata/core"
import { readTranscripts, type Transcript } from "@strata/transcripts"
import { type CommandCall, UsageError } from "../command.ts"
import { type Progress, type ProgressSteps, progressOn } from "../display/progress.ts"
import type { Terminal } from "../display/terminal.ts"
import type { SessionPlace } from "../export/session-file.ts"

const DONE = 0
const SOME_FAILED = 1

export interface FileWork {
  readonly progress: Progress
  /** Reports a skipped file. */
  readonly complain: (problem: string) => void
}

/** Resolves with the exit code: 1 if a file was skipped. */
export async function forEachFile(terminal: Terminal, work: (work: FileWork) => Promise<void>): Promise<number> {
  const progress = progressOn(terminal)
  let failures = 0
  const complain = (problem: string) => {
    progress.clear()
    terminal.complain(`${problem}\n`)
    failures++
  }
  try {
    await work({ progress, complain })
  } finally {
    progress.end()
  }
  return failures === 0 ? DONE : SOME_FAILED
}

/** A session id or prefix: of a session on disk, an archived one, or one in a store. */
const SESSION = /^[\w-]{4,}$/

/** Resolves paths and session ids to files. */
export function resolveFiles(names: readonly string[], place: SessionPlace): Promise<readonly string[]> {
  return Promise.all(
    names.map(async (name) => {
      if (!SESSION.test(name)) return name
      const { sessionFile } = await import("../export/session-file.ts")
      return sessionFile(name, place)
    }),
  )
}

export interface ReadTranscript {
  readonly transcript: Transcript
  /** Position of the file among all files. Absent if there is only one. */
  readonly at?: ProgressSteps
}

export interface ReadEachOptions extends Pick<FileWork, "complain"> {
  /** Environment of the process, which names the store. */
  readonly env: CommandCall["env"]
  readonly onFile?: (file: string, at: ProgressSteps | undefined) => void
}

/** Reads the conversations in the files. If there is only one file, a read problem is an error. */
export async function* readEach(
  files: readonly string[],
  { complain, env, onFile }: ReadEachOptions,
): AsyncGenerator<ReadTranscript> {
  for (const [done, file] of files.entries()) {
    const at = files.length > 1 ? { done, of: files.length } : undefined
    onFile?.(file, at)
    for (const transcript of await readOrComplain(file, { env, ...(files.length === 1 ? {} : { complain }) }))
      yield { transcript, ...(at ? { at } : {}) }
  }
}

/** Error codes for arguments that are not transcripts. */
const NOT_A_TRANSCRIPT: ReadonlySet<string | undefined> = new Set(["no-file", "directory", "compressed"])

async function readOrComplain(
  file: string,
  { env, complain }: Pick<ReadEachOptions, "env"> & Partial<ReadEachOptions>,
): Promise<readonly Transcript[]> {
  try {
    return await readTranscripts(file, { env })
  } catch (error) {
    const isNoFile = error instanceof StrataError && NOT_A_TRANSCRIPT.has(error.code)
    if (isNoFile && !complain) throw new UsageError(error.message)
    if (!complain || !(error instanceof StrataError)) throw error
    complain(error.message)
    return []
  }
}
