/**
 * An importer reads another program's transcript into our messages and accounts for every line. What it does not understand is
 * counted, never dropped silently.
 */
import type { Message } from "../messages/messages.ts"

export interface Importer {
  readonly format: string
  /** A cheap check of the content. The file name is not evidence. */
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
  /** In the order of the file. `parentUuid` shows the branches: see `mainPath`. */
  readonly messages: readonly Message[]
  readonly report: ImportReport
}

/** Every line, or record if the format has no lines, is counted once: as understood or not. */
export interface ImportReport {
  readonly lines: number
  readonly understood: Readonly<Record<string, number>>
  readonly notUnderstood: Readonly<Record<string, number>>
  /** Pieces of messages that requests leave out or repair, by the name of the repair. The journal keeps them. */
  readonly setAside?: Readonly<Record<string, number>>
  /** Sentences for a person: what was left out and why, and what is unusual. */
  readonly notes: readonly string[]
}
