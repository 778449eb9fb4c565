/** A change of one file. `before` and `after` are sha256 sums of its bytes, absent where there was no file. */
export interface KeptChange {
  /** The whole path, links followed. */
  readonly path: string
  /** The conversation keeps the content with this sum, unless it is too large. */
  readonly before?: string
  readonly after?: string
}
