/**
 * What an importer is: it reads another program's record of a conversation into our messages and accounts for every line
 * of it. What it does not understand is counted, never dropped silently (JRN-6).
 */
import type { Message } from "../messages/messages.ts"

export interface Importer {
  readonly format: string
  /** A cheap look at the content; the file's name proves nothing. */
  recognises(file: ForeignFile): boolean
  read(file: ForeignFile): readonly ImportedConversation[]
}

export interface ForeignFile {
  readonly name: string
  readonly text: string
}

export interface ImportedConversation {
  readonly format: string
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  /** The model that answered last. */
  readonly model?: string
  readonly system?: string
  readonly tools?: unknown
  /** In the order of the file. Branches are told by `parentUuid`: see `mainPath`. */
  readonly messages: readonly Message[]
  readonly report: ImportReport
}

/** Every line (or record, where the format has no lines) is counted once: either understood or not. */
export interface ImportReport {
  readonly lines: number
  readonly understood: Readonly<Record<string, number>>
  readonly notUnderstood: Readonly<Record<string, number>>
  /** Sentences for a person: what was left out and why, what was odd. */
  readonly notes: readonly string[]
}
