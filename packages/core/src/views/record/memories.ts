/**
 * What a conversation has to do with the memory of its project: up to which message it was looked at, what was written, whether the agent
 * wrote memories itself since, and for which messages the memory was searched.
 */
import { isBoundaryEntry, isDecision } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"

export interface MemoriesKept {
  /** The last message that was looked at. Absent before the first extraction. */
  throughUuid?: Uuid
  /** Files written by the conversation, the oldest first, each once. */
  readonly written: string[]
  /** How many messages of the person were there then. */
  said: number
  /** How many of them were looked at for rules. */
  heardRules: number
  /** How often the agent wrote memories itself, and how often it had by then. */
  agentWrites: number
  seenWrites: number
  /** Messages since the newest response for which the memory was searched. After a boundary it is searched again. */
  looked: Uuid[]
  /** Whether what a conversation starts with was read since the last boundary. */
  isStarted: boolean
}

export const memories: Projection<MemoriesKept> = {
  name: "memories",
  scope: "path",
  start: () => ({ written: [], said: 0, heardRules: 0, agentWrites: 0, seenWrites: 0, looked: [], isStarted: false }),
  apply(state, entry) {
    if (isBoundaryEntry(entry)) {
      state.looked = []
      state.isStarted = false
    } else if (entry.type === "assistant") state.looked = []
    if (!isDecision(entry)) return state
    if (entry.subtype === "memory-extracted") {
      state.throughUuid = entry.throughUuid
      state.said = entry.said
      state.seenWrites = entry.agentWrites
      add(state, entry.written)
    } else if (entry.subtype === "memory-rules-kept") {
      state.heardRules = entry.said
      add(state, entry.written)
    } else if (entry.subtype === "memory-looked-up") {
      state.looked.push(...entry.about)
      state.isStarted ||= entry.start === true
    } else if (entry.subtype === "memory-written") {
      if (entry.by === "agent") state.agentWrites++
      add(state, entry.files)
    }
    return state
  },
}

function add({ written }: MemoriesKept, files: readonly string[]): void {
  for (const file of files) if (!written.includes(file)) written.push(file)
}
