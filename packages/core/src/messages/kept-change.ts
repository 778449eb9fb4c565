/** A change of one file. `before` and `after` are sha256 sums of its bytes, absent where there was no file. */
export interface FileChangeRecord {
  /** The whole path, links followed. */
  readonly path: string
  /** The conversation keeps the content with this sum, unless it is too large. */
  readonly before?: string
  readonly after?: string
  /** The permission bits of the file before, if they are not those of a plain file. */
  readonly mode?: number
}

const PLAIN = 0o644

/** `mode`: of the stats. */
export function keptMode(mode: number): Pick<FileChangeRecord, "mode"> {
  const bits = mode & 0o777
  return bits === PLAIN ? {} : { mode: bits }
}
