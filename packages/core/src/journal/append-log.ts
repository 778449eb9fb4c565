/** The part of the `Store` port for lines that are only ever added to, such as what is known of callers' lists. */

/** Which log it is. */
export interface LogAddress {
  readonly project: string
  readonly name: "callers"
}

export interface AppendLog {
  /** The lines that are kept, first to last. Of a long log the oldest may be gone. A line that was not finished is left out. */
  read(): Promise<readonly string[]>
  /** Resolves when the line is written. It must have no line end in it. */
  append(line: string): Promise<void>
}
