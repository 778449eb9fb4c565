/** The unit that search finds: a turn of a conversation, a part of a memory. */
export interface Passage {
  /** What the passage is a part of: a conversation, a memory file. */
  readonly source: string
  /** Its place in the source. Neighbours have neighbouring numbers. */
  readonly position: number
  /** An address within the source, such as a message's uuid. */
  readonly address?: string
  readonly speaker?: string
  readonly title?: string
  readonly text: string
  /** When it was said or written, as an ISO time. */
  readonly time?: string
}
