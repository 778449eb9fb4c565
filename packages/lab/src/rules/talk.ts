/** What people say to an assistant about themselves, beside their work, and what only looks like it. */

export const SPOKEN = ["en", "de", "fr", "es", "ru", "zh"] as const
export type Spoken = (typeof SPOKEN)[number]

/** One message per line. What is to be kept of it is between a tilde and a bar; without them, all of it. */
type Lines = Readonly<Record<Spoken, string>>

export interface Talk {
  readonly preferences: Lines
  /** Who the person is. */
  readonly facts: Lines
  /** About the moment or the task at hand. */
  readonly passing: Lines
  /** Where things are. */
  readonly places: string
  /** Code, logs and questions about addresses. */
  readonly pasted: readonly string[]
}

export interface Said {
  readonly text: string
  readonly kept: string
}

export function saidIn(line: string): Said {
  const [, kept = line] = /^(?:[^~]*~)?([^|]*)/.exec(line) ?? []
  return { text: line.replace(/[~|]/g, ""), kept }
}
