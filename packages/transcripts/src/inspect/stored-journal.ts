/** A journal as a store has it, in a few calls: its bytes, and what its agents spent. */
import type { JournalAddress, JournalFeed, Store } from "@strata/core/store"
import { type AgentSpending, agentSpending, type JournalCopy } from "./journal-transcript.ts"

const LINE_END = Buffer.from("\n")
/** A conversation notes an agent before the agent has a journal. */
const HAS_AGENTS = '"agent-started"'

/** As the store has it, also what is damaged. No bytes: it is not there. */
export async function copyJournal(store: Store, { id, ...place }: JournalAddress): Promise<JournalCopy> {
  const bytes = await withFeed(store.feed(place), (feed) => bytesOf(feed, id))
  if (place.under !== undefined || !bytes.includes(HAS_AGENTS)) return { bytes, spent: [] }
  const agents = await store.list(place.project, { under: id, isBare: true })
  const spent = await withFeed(store.feed({ ...place, under: id }), async (feed) => {
    const found: AgentSpending[] = []
    for (const agent of agents.map((listed) => listed.id).sort())
      found.push(...agentSpending(agent, await bytesOf(feed, agent)))
    return found
  })
  return { bytes, spent }
}

async function withFeed<T>(feed: JournalFeed, use: (feed: JournalFeed) => Promise<T>): Promise<T> {
  try {
    return await use(feed)
  } finally {
    feed.close()
  }
}

async function bytesOf(feed: JournalFeed, id: string): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const { bytes, ended } of feed.lines(id, 0)) parts.push(bytes, ...(ended ? [LINE_END] : []))
  return Buffer.concat(parts)
}
