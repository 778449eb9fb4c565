/**
 * Reads another program's transcript into Strata messages and accounts for every line. Lines it does not understand are counted, never
 * dropped silently.
 */

import type { Usage, Uuid } from "@strata/core"
import type { Message } from "@strata/core/messages"
import type { AgentEnding, AgentKind } from "@strata/core/store"
import type { LargeFile } from "./large-file.ts"

export interface Importer {
  readonly format: string
  /** Set if the importer reads files line by line, so that they may be larger than memory. */
  readonly readsLarge?: true
  /** Checks the content cheaply. The file name is not evidence. */
  recognizes(file: ExternalFile): boolean
  read(file: ExternalFile): readonly ImportedConversation[]
}

export interface ExternalFile {
  readonly name: string
  readonly text: string
  /** Set if the file is too large for memory. Then `text` has only its first lines. */
  readonly large?: LargeFile
  /** Related files: the transcripts and metadata of its sub-agents. */
  readonly companions?: readonly ExternalFile[]
}

export interface ImportedConversation {
  readonly format: string
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  /** The model of the last response. */
  readonly model?: string
  readonly system?: string
  readonly tools?: unknown
  /** The messages in file order. `parentUuid` shows the branches: see `listActiveBranch`. */
  readonly messages: readonly Message[]
  /** The sub-agents in the order they started. Their messages are not included in `messages`. */
  readonly agents?: readonly ImportedAgent[]
  /** Costs that no message carries, in order. */
  readonly spent?: readonly ImportedUsage[]
  readonly report: ImportReport
}

export interface ImportedUsage {
  readonly purpose: "main" | "compaction"
  readonly model: string
  readonly usage: Usage
  /** Unique within the conversation. */
  readonly responseId: string
  /** Number of responses that the usage sums up, if not one. */
  readonly requests?: number
  /** The preceding message. */
  readonly after: Uuid | null
  /** `unrecorded`: the transcript lacks the request, so its usage is estimated from the surrounding messages. */
  readonly estimated?: true
  readonly unrecorded?: true
}

/** A sub-agent found in the transcript. */
export interface ImportedAgent {
  /** Unique within the conversation. */
  readonly id: string
  readonly name: string
  readonly kind: AgentKind
  readonly description: string
  /** Name of the agent definition. */
  readonly definition?: string
  readonly model: string
  /** The tool call that started the agent, and the message with that call. */
  readonly callId: string
  readonly startedIn?: Uuid
  /** The message that reports the end of the agent. */
  readonly endedIn?: Uuid
  readonly status: AgentEnding
  /** A summary in one line. */
  readonly summary: string
  /** Set if the agent wrote the summary of a compaction. */
  readonly purpose?: "compaction"
  readonly messages: readonly Message[]
  /** The report on the agent's own file, if it has one. Otherwise its lines are part of the conversation's report. */
  readonly report?: ImportReport
}

/** Counts every line (or record, if the format has no lines) once: as understood or not. */
export interface ImportReport {
  readonly lines: number
  readonly understood: Readonly<Record<string, number>>
  readonly notUnderstood: Readonly<Record<string, number>>
  /** Content that the API would refuse and that was dropped at import, counted by kind. */
  readonly dropped?: Readonly<Record<string, number>>
  /** Content that requests omit or repair, counted by the name of the repair. The journal keeps it. */
  readonly setAside?: Readonly<Record<string, number>>
  /** Sentences for the user: what was skipped and why, and anything unusual. */
  readonly notes: readonly string[]
}
