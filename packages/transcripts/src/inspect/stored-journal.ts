/** Reads a journal from a store in a few calls: its bytes, and the costs of its agents. */
import type { JournalAddress, JournalFeed, Store } from "@strata/core/store"
import { type AgentUsage, type JournalCopy, readAgentUsage } from "./journal-transcript.ts"

const LINE_END = Buffer.from("\n")
/** A conversation records an agent before the agent has a journal. */
const HAS_AGENTS = '"agent-started"'

/** Copies a journal with damaged lines included. Without bytes if it does not exist. */
export async function copyJournal(store: Store, { id, ...place }: JournalAddress): Promise<JournalCopy> {
  const bytes = await withFeed(store.feed(place), (feed) => bytesOf(feed, id))
  if (place.under !== undefined || !bytes.includes(HAS_AGENTS)) return { bytes, agentUsage: [] }
  const agents = await store.list(place.project, { under: id, isBare: true })
  const agentUsage = await withFeed(store.feed({ ...place, under: id }), async (feed) => {
    const found: AgentUsage[] = []
    for (const agent of agents.map((listed) => listed.id).sort())
      found.push(...readAgentUsage(agent, await bytesOf(feed, agent)))
    return found
  })
  return { bytes, agentUsage }
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
