/** Errors of the file tools, worded so that the model can act on them. A table explains error codes of the operating system. */
import { StrataError } from "../../base/errors.ts"

/** A file tool failed. The message states the reason, whether anything was changed, and what to do. */
export class FileError extends StrataError {
  static override readonly code: string = "file"
  override readonly name = "FileError"
}

const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: "permission denied. Ask the user, or work with another file",
  EPERM: "the system does not allow it. Ask the user, or work with another file",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of its path is a file, not a directory",
  ELOOP: "its symbolic links lead in a circle",
  ENAMETOOLONG: "the name is too long for this file system",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full. Make room, then try again",
  EDQUOT: "the disk quota is used up. Make room, then try again",
  EMFILE: "this program has too many open files. Try again with fewer calls at once",
  ENFILE: "the machine has too many open files. Try again later",
  EIO: "the disk reports an error. Tell the user",
  EBUSY: "it is in use. Try again later",
  ENXIO: "it is a socket or a device, not a file",
}

/** Explains a system error about a path. Other errors, such as an abort, are returned unchanged. */
export function toFileError(given: string, error: unknown): unknown {
  if (error instanceof FileError) return error
  const code = codeOf(error)
  if (code === undefined) return error
  return new FileError(`${given}: ${MEANINGS[code] ?? `the system answered ${code}`}.`, { cause: error })
}

export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined
}

/**
 * Ignores a `FileError`. Permission questions are asked even if the call will fail, because only a permitted call may report the reason.
 */
export function ignoreFileError(error: unknown): undefined {
  if (!(error instanceof FileError)) throw error
}

/** Whether the path, or one of its parent directories, does not exist. */
export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")
