/** The part of the `Store` port for append-only logs of lines, such as the log of what clients have sent. */

/** Identifies a log. */
export interface LogAddress {
  readonly project: string
  readonly name: "callers"
}

export interface AppendLog {
  /** The stored lines, first to last. The oldest lines of a long log may have been dropped. An unfinished last line is omitted. */
  read(): Promise<readonly string[]>
  /** Resolves when the line is written. The line must not contain a line end. */
  append(line: string): Promise<void>
}
