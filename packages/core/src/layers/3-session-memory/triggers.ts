/** When notes are taken. The context must have grown; the other conditions find a moment when a stretch of work is over. */

export interface NotesMoment {
  /** Tokens in the context now. */
  readonly size: number
  /** Tokens at the last update, or at the smallest size since; absent before the first. */
  readonly sizeAtLast: number | undefined
  readonly figures: NotesFigures
  /** Called only once the context has grown, because it walks over the messages. `most`: more calls than these need not be counted. */
  readonly work: (most: number) => WorkSinceLast
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
  const { toolCalls, isCalling } = work(figures.toolCalls)
  return toolCalls >= figures.toolCalls || !isCalling
}
