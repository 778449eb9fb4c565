/** When notes are taken (L3-3). Growth of the context is always required; the rest finds a moment at which a stretch of work is over. */

export interface NotesMoment {
  /** Tokens in the context now. */
  readonly size: number
  /** Tokens at the last update, or at the smallest size since; nothing before the first. */
  readonly sizeAtLast: number | undefined
  readonly figures: NotesFigures
  /** Asked only once the context has grown: to answer takes a walk over the messages. */
  readonly work: () => WorkSinceLast
}

export interface NotesFigures {
  readonly first: number
  readonly growth: number
  readonly toolCalls: number
}

export interface WorkSinceLast {
  readonly toolCalls: number
  /** Whether the last assistant turn called tools. */
  readonly isCalling: boolean
}

export function isTimeForNotes({ size, sizeAtLast, figures, work }: NotesMoment): boolean {
  if (sizeAtLast === undefined) return size >= figures.first
  if (size - sizeAtLast < figures.growth) return false
  const { toolCalls, isCalling } = work()
  return toolCalls >= figures.toolCalls || !isCalling
}
