/**
 * What a conversation has added to the memory of its project: up to which message it was looked at, what was written, and whether the
 * agent wrote memories itself since.
 */
import { isDecision } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"

export interface MemoriesKept {
  /** The last message that was looked at. Absent before the first extraction. */
  throughUuid?: Uuid
  /** Files written by the conversation, the oldest first, each once. */
  readonly written: string[]
  /** How many messages of the person were there then. */
  said: number
  /** How often the agent wrote memories itself, and how often it had by then. */
  agentWrites: number
  seenWrites: number
}

export const memories: Projection<MemoriesKept> = {
  name: "memories",
  scope: "path",
  start: () => ({ written: [], said: 0, agentWrites: 0, seenWrites: 0 }),
  apply(state, entry) {
    if (!isDecision(entry)) return state
    if (entry.subtype === "memory-extracted") {
      state.throughUuid = entry.throughUuid
      state.said = entry.said
      state.seenWrites = entry.agentWrites
      add(state, entry.written)
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
