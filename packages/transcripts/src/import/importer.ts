/**
 * An importer reads another program's transcript into our messages and accounts for every line. What it does not understand is
 * counted, never dropped silently.
 */

import type { Usage, Uuid } from "@strata/core"
import type { Message } from "@strata/core/messages"
import type { AgentEnding, AgentKind } from "@strata/core/store"
import type { LargeFile } from "./large-file.ts"

export interface Importer {
  readonly format: string
  /** It reads files line by line, also those that are larger than memory. */
  readonly readsLarge?: true
  /** A cheap check of the content. The file name is not evidence. */
  recognises(file: ExternalFile): boolean
  read(file: ExternalFile): readonly ImportedConversation[]
}

export interface ExternalFile {
  readonly name: string
  readonly text: string
  /** Where the file is too large for memory: then `text` has only its first lines. */
  readonly large?: LargeFile
  /** Files that belong to it: the transcripts of its sub-agents, and what is known about them. */
  readonly companions?: readonly ExternalFile[]
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
  /** The sub-agents it started, in order. Their messages are not among its own. */
  readonly agents?: readonly ImportedAgent[]
  /** What was billed and no message carries, in order. */
  readonly spent?: readonly ImportedSpending[]
  readonly report: ImportReport
}

export interface ImportedSpending {
  readonly purpose: "main" | "compaction"
  readonly model: string
  readonly usage: Usage
  /** Unique in its conversation. */
  readonly responseId: string
  /** How many responses it is the sum of, if not one. */
  readonly requests?: number
  /** The message before it. */
  readonly after: Uuid | null
  /** The transcript does not have the request. Its usage is estimated from what it does have. */
  readonly estimated?: true
  readonly unrecorded?: true
}

/** A sub-agent that the transcript has. */
export interface ImportedAgent {
  /** Unique in its conversation. */
  readonly id: string
  readonly name: string
  readonly kind: AgentKind
  readonly description: string
  /** The name of its definition. */
  readonly definition?: string
  readonly model: string
  /** The call that started it, and the message with that call. */
  readonly callId: string
  readonly startedIn?: Uuid
  /** The message that reports its end. */
  readonly endedIn?: Uuid
  readonly status: AgentEnding
  /** One line. */
  readonly summary: string
  /** Set if it wrote the summary of a compaction. */
  readonly purpose?: "compaction"
  readonly messages: readonly Message[]
  /** Of its own file, if it has one. The lines of others are counted with the conversation's. */
  readonly report?: ImportReport
}

/** Every line, or record if the format has no lines, is counted once: as understood or not. */
export interface ImportReport {
  readonly lines: number
  readonly understood: Readonly<Record<string, number>>
  readonly notUnderstood: Readonly<Record<string, number>>
  /** Pieces that the API would refuse and that no journal needs, dropped at import. */
  readonly dropped?: Readonly<Record<string, number>>
  /** Pieces of messages that requests leave out or repair, by the name of the repair. The journal keeps them. */
  readonly setAside?: Readonly<Record<string, number>>
  /** Sentences for a person: what was left out and why, and what is unusual. */
  readonly notes: readonly string[]
}
