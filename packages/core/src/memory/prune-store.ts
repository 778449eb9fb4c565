/** Retention: removes conversations that are too old or too many, and other expired data. Open conversations are skipped. */
import { ConversationLockedError } from "../base/errors.ts"
import { contentName, type PruneCounts, type StoredItem } from "../journal/contents.ts"
import type { Store } from "../journal/store.ts"
import { updateSearchIndexes } from "./bank.ts"

export interface PruneOptions {
  /** Removes conversations that were last written before this date. */
  readonly before?: Date
  /** Removes the oldest conversations until the rest has at most this size. */
  readonly maxBytes?: number
  /** Only reports what would be removed. */
  readonly dryRun?: boolean
}

export interface PruneReport extends PruneCounts {
  readonly conversations: number
  /** Sub-agents are removed with their conversation. */
  readonly subAgents: number
  readonly bytes: number
  /** Names of the conversations. */
  readonly removed: readonly string[]
  /** Names of old conversations that are open. */
  readonly open: readonly string[]
}

/** A conversation with its sub-agents. */
interface ConversationGroup {
  readonly members: readonly StoredItem[]
  readonly bytes: number
  readonly touched: string
  readonly isOpen: boolean
}

export async function pruneStore(
  store: Store,
  { before, maxBytes, dryRun = false }: PruneOptions,
): Promise<PruneReport> {
  const contents = store.contents()
  const groups = await listGroups(contents.list())
  const report = { conversations: 0, subAgents: 0, bytes: 0, removed: [] as string[], open: [] as string[] }
  for (const group of chooseGroups(groups, { before, maxBytes })) {
    const name = contentName(group.members[0]!.address)
    if (group.isOpen || !(await isRemoved(group))) {
      report.open.push(name)
      continue
    }
    report.conversations++
    report.subAgents += group.members.length - 1
    report.bytes += group.bytes
    report.removed.push(name)
  }
  if (!dryRun) await updateSearchIndexes(store)
  const over = before ? await contents.prune({ before, dryRun }) : { messages: 0, sums: 0 }
  return { ...report, ...over }

  /** False if someone opened it in the meantime. */
  async function isRemoved({ members }: ConversationGroup): Promise<boolean> {
    if (dryRun) return true
    try {
      for (const { address } of members) await contents.erase(address)
      return true
    } catch (error) {
      if (error instanceof ConversationLockedError) return false
      throw error
    }
  }
}

/** Groups journals. A sub-agent without its conversation, left by a kill, is a group of its own. */
async function listGroups(list: AsyncIterable<StoredItem>): Promise<readonly ConversationGroup[]> {
  const byKey = new Map<string, StoredItem[]>()
  const below: [parent: string, content: StoredItem][] = []
  for await (const content of list) {
    const { address } = content
    if (address.kind !== "journal") continue
    const { project, under, id } = address
    if (under === undefined) byKey.set(`${project}/${id}`, [content])
    else below.push([`${project}/${under}`, content])
  }
  for (const [parent, content] of below) {
    const group = byKey.get(parent)
    if (group) group.push(content)
    else byKey.set(contentName(content.address), [content])
  }
  return [...byKey.values()].map((members) => ({
    members, // the conversation first: erasing it erases its sub-agents
    bytes: members.reduce((sum, content) => sum + bytesOf(content), 0),
    touched: members
      .map(({ touched = "" }) => touched)
      .sort()
      .at(-1)!,
    isOpen: members.some(({ isOpen }) => isOpen),
  }))
}

const bytesOf = ({ lines = 0, files }: StoredItem): number => files.reduce((sum, { bytes = 0 }) => sum + bytes, lines)

interface Limits {
  readonly before: Date | undefined
  readonly maxBytes: number | undefined
}

function chooseGroups(
  groups: readonly ConversationGroup[],
  { before, maxBytes = Number.POSITIVE_INFINITY }: Limits,
): readonly ConversationGroup[] {
  const limit = before?.toISOString() ?? ""
  let total = groups.reduce((sum, { bytes }) => sum + bytes, 0)
  return groups
    .toSorted((a, b) => (a.touched < b.touched ? -1 : 1))
    .filter(({ touched, bytes, isOpen }) => {
      const goes = touched < limit || total > maxBytes
      if (goes && !isOpen) total -= bytes
      return goes
    })
}
