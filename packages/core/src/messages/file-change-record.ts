/** A change of one file. `before` and `after` are sha256 sums of its bytes, absent if the file did not exist. */
export interface FileChangeRecord {
  /** Absolute path with links resolved. */
  readonly path: string
  /** The conversation stores the content with this sum, unless it is too large. */
  readonly before?: string
  readonly after?: string
  /** The file's permission bits before the change, if they are not those of a plain file. */
  readonly mode?: number
}

const PLAIN_FILE_MODE = 0o644

/** `mode`: as reported by `stat`. */
export function preservedMode(mode: number): Pick<FileChangeRecord, "mode"> {
  const bits = mode & 0o777
  return bits === PLAIN_FILE_MODE ? {} : { mode: bits }
}
