/** Retention: removes conversations that are old, or too many, and what else is over. What someone has open stays. */
import { ConversationLockedError } from "../base/errors.ts"
import { contentName, type PruneCounts, type StoredItem } from "../journal/contents.ts"
import type { Store } from "../journal/store.ts"
import { updateSearch } from "./bank.ts"

export interface PruneOptions {
  /** What was not written to since then goes. */
  readonly before?: Date
  /** The oldest conversations go until the rest has at most so many bytes. */
  readonly maxBytes?: number
  /** Only says what would go. */
  readonly dryRun?: boolean
}

export interface PruneReport extends PruneCounts {
  readonly conversations: number
  /** They go with their conversation. */
  readonly subAgents: number
  readonly bytes: number
  /** The names of the conversations. */
  readonly removed: readonly string[]
  /** Old ones that are open, by name. */
  readonly open: readonly string[]
}

/** A conversation with its sub-agents. */
interface Group {
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
  const groups = await groupsIn(contents.list())
  const report = { conversations: 0, subAgents: 0, bytes: 0, removed: [] as string[], open: [] as string[] }
  for (const group of chosenOf(groups, { before, maxBytes })) {
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
  if (!dryRun) await updateSearch(store)
  const over = before ? await contents.prune({ before, dryRun }) : { messages: 0, sums: 0 }
  return { ...report, ...over }

  /** False: someone opened it in the meantime. */
  async function isRemoved({ members }: Group): Promise<boolean> {
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

/** A sub-agent that a kill left without its conversation is a group of its own. */
async function groupsIn(list: AsyncIterable<StoredItem>): Promise<readonly Group[]> {
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
    members, // the conversation first: it takes its sub-agents along
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

function chosenOf(groups: readonly Group[], { before, maxBytes = Number.POSITIVE_INFINITY }: Limits): readonly Group[] {
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
