/** Reads from a journal which messages it received. */
import type { Journal } from "../src/journal/store.ts"

export interface ReceivedSequences {
  readonly count: number
  readonly cursor: string | undefined
  /** The sequences of each sender, in order of arrival. */
  readonly bySender: ReadonlyMap<string, readonly number[]>
}

export async function lastReceived(journal: Journal): Promise<ReceivedSequences> {
  let count = 0
  let cursor: string | undefined
  const bySender = new Map<string, number[]>()
  for await (const entry of journal.entries()) {
    if (entry.type !== "attachment" || entry.attachment.type !== "queued_agent_message") continue
    const { id = "", cursor: at } = entry.attachment
    const [sender = "", sequence] = id.split("#")
    const sequences = bySender.get(sender) ?? []
    sequences.push(Number(sequence))
    bySender.set(sender, sequences)
    cursor = at
    count++
  }
  return { count, cursor, bySender }
}
