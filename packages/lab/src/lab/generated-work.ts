/** Conversations for machines without recordings: the simulator's worker, with short and long pauses. */
import { workerConversation } from "../../bench/worker-conversation.ts"
import type { RecordedConversation } from "../recordings.ts"

/** The format of conversations that no program recorded. */
export const GENERATED = "generated"

const MODEL = "claude-opus-4-6"
const WORK = [
  { tokens: 120_000, pauseMinutes: 1 },
  { tokens: 300_000, pauseMinutes: 8 },
  { tokens: 300_000, pauseMinutes: 90 },
]

export async function generatedWork(): Promise<readonly RecordedConversation[]> {
  const conversations: RecordedConversation[] = []
  for (const work of WORK) {
    const messages = await workerConversation({ model: MODEL, ...work })
    const name = `${work.tokens / 1_000}K tokens, pauses of ${work.pauseMinutes} min`
    conversations.push({ name, format: GENERATED, messages, model: MODEL })
  }
  return conversations
}
