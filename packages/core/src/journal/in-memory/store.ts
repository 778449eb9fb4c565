/** A store in memory. It holds encoded lines like the file store and implements the entire port. Its data lasts as long as the process. */
import { type Clock, isSafeId, systemClock, validateId } from "../../base/clock.ts"
import { ConversationLockedError, ConversationNotFoundError } from "../../base/errors.ts"
import { readListingFacts } from "../listing.ts"
import type { MemoryNamespace } from "../memory-files.ts"
import { CONSOLIDATE } from "../permit.ts"
import type { AppendedLines, FeedLine, JournalAddress, JournalFeed, JournalSize, Store } from "../store.ts"
import { contentsInMemory } from "./contents.ts"
import { memoryJournal, newJournal, type StoredJournal } from "./journal.ts"
import { mailboxInMemory, newMailbox, type StoredMailbox } from "./mailbox.ts"
import { memoryFilesInMemory, newMemory, type StoredMemory } from "./memory-files.ts"
import { newPermits, permitInMemory, type StoredPermits } from "./permits.ts"

// The feed of a namespace's journals in memory.

interface InMemoryFeedOptions {
  /** The namespace's present journals, by id. */
  readonly journals: () => ReadonlyMap<string, StoredJournal>
  /** One journal by id. Filtering all journals for it would take long. */
  readonly journal: (id: string) => StoredJournal | undefined
  readonly listeners: Set<(appended: AppendedLines) => void>
}

export function feedInMemory({ journals, journal, listeners }: InMemoryFeedOptions): JournalFeed {
  const sizesOf = (all: Iterable<readonly [string, StoredJournal]>): ReadonlyMap<string, JournalSize> => {
    const sizes = [...all].map(
      ([id, kept]) => [id, { bytes: kept.bytes, touched: Date.parse(kept.touched) || 0 }] as const,
    )
    return new Map(sizes.sort(([, a], [, b]) => b.touched - a.touched))
  }
  const named = (id: string): readonly (readonly [string, StoredJournal])[] => {
    const kept = journal(id)
    return kept ? [[id, kept]] : []
  }
  return {
    poll: async () => ({ journals: sizesOf(journals()), isAll: true, deleted: [] }),
    sizes: async (ids) => sizesOf([...ids].flatMap(named)),
    forget() {},
    async *lines(id, from): AsyncGenerator<FeedLine> {
      let offset = 0
      for (const line of journal(id)?.lines ?? []) {
        if (offset >= from) yield { offset, bytes: line.subarray(0, -1), ended: true }
        offset += line.length
      }
    },
    onAppended(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close() {},
  }
}

export interface MemoryStoreOptions {
  readonly clock?: Clock
}

export function memoryStore({ clock = systemClock }: MemoryStoreOptions = {}): Store {
  const journals = new Map<string, StoredJournal>()
  const memories = new Map<string, StoredMemory>()
  const mailboxes = new Map<string, StoredMailbox>()
  const permits = new Map<string, StoredPermits>()
  const logs = new Map<string, string[]>()
  const listeners = new Map<string, Set<(appended: AppendedLines) => void>>()

  const memoryOf = (namespace: MemoryNamespace) => getOrCreate(memories, memoryKey(namespace), newMemory)
  const filesOf = (namespace: MemoryNamespace) => {
    if ("project" in namespace) validateId("project name", namespace.project)
    if ("agent" in namespace) validateId("name for an agent", namespace.agent)
    return memoryFilesInMemory(memoryOf(namespace), { location: describeNamespace(namespace), now: () => clock.now() })
  }
  /** The journals of one namespace, by id. */
  const journalsIn = (namespace: Omit<JournalAddress, "id">): ReadonlyMap<string, StoredJournal> => {
    const start = namespaceKey(namespace)
    const mine = [...journals]
      .toSorted(([, a], [, b]) => b.writes - a.writes)
      .filter(([key]) => key.startsWith(start) && !key.slice(start.length).includes("/"))
    return new Map(mine.map(([key, kept]) => [key.slice(start.length), kept]))
  }
  const listenersOf = (namespace: Omit<JournalAddress, "id">) =>
    getOrCreate(listeners, namespaceKey(namespace), () => new Set())

  return {
    description: "memory",

    async open(address, { access, create = false, preload = false }) {
      const key = journalKey(address)
      const found = journals.get(key)
      if (!found && (!create || access === "read")) throw new ConversationNotFoundError(address.id, "memory")
      const kept = found ?? newJournal(clock)
      if (access === "write" && kept.writer) throw new ConversationLockedError(address.id, kept.writer)
      journals.set(key, kept)
      return memoryJournal({
        ...{ address, kept, clock },
        location: `memory:${key}`,
        isCreated: !found,
        preload,
        isWriter: access === "write",
        onAppended: (appended) => {
          for (const listener of [...listenersOf(address)]) listener(appended)
        },
      })
    },

    async projects() {
      const names = [...journals.keys()].map((key) => key.split("/")).filter((parts) => parts.length === 2)
      return [...new Set(names.map(([project = ""]) => project))].sort()
    },

    async list(project, { under, isBare = false } = {}) {
      const namespace = under === undefined ? { project } : { project, under }
      const listings = [...journalsIn(namespace)].map(async ([id, kept]) => {
        const listing = { id, bytes: kept.bytes, touched: kept.touched }
        if (isBare) return listing
        const location = `memory:${journalKey({ ...namespace, id })}`
        const reader = { address: { ...namespace, id }, kept, clock, location, isCreated: false, isWriter: false }
        return { ...listing, ...(await readListingFacts(memoryJournal(reader))) }
      })
      return (await Promise.all(listings)).sort((a, b) => b.touched.localeCompare(a.touched))
    },

    has: async (addresses) =>
      addresses.map(({ id, ...namespace }) => journals.has(`${namespaceKey(namespace)}${isSafeId(id) ? id : "/"}`)),
    writerOf: async (address) => journals.get(journalKey(address))?.writer,
    memories: filesOf,

    mailboxes({ project, team }) {
      const key = `${validateId("project name", project)}/${validateId("team name", team)}`
      return mailboxInMemory(`memory:${key}`, getOrCreate(mailboxes, key, newMailbox))
    },

    permit({ project, name }) {
      const key = `${validateId("project name", project)}/${validateId("permit name", name)}`
      const memory = name === CONSOLIDATE ? { memory: memoryOf({ project }) } : {}
      return permitInMemory(getOrCreate(permits, key, newPermits), { clock, ...memory })
    },

    feed: (namespace) =>
      feedInMemory({
        journals: () => journalsIn(namespace),
        journal: (id) => (isSafeId(id) ? journals.get(journalKey({ ...namespace, id })) : undefined),
        listeners: listenersOf(namespace),
      }),

    log({ project, name }) {
      const lines = getOrCreate(logs, `${validateId("project name", project)}/${name}`, (): string[] => [])
      return { read: async () => [...lines], append: async (line) => void lines.push(line.toWellFormed()) }
    },

    contents: () => contentsInMemory({ journals, memories, filesOf, mailboxes, logs, clock }),
  }
}

function getOrCreate<V>(map: Map<string, V>, key: string, make: () => V): V {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}

const namespaceKey = ({ project, under }: Omit<JournalAddress, "id">): string =>
  `${validateId("project name", project)}/${under === undefined ? "" : `${validateId("conversation id", under)}/subagents/`}`

const journalKey = (address: JournalAddress): string =>
  `${namespaceKey(address)}${validateId("conversation id", address.id)}`

const memoryKey = (namespace: MemoryNamespace): string => JSON.stringify(namespace, Object.keys(namespace).sort())

/** A readable name, such as `memory:shop/memory`. */
const describeNamespace = (namespace: MemoryNamespace): string => {
  if ("shared" in namespace) return "memory:shared"
  if ("agent" in namespace) return `memory:agents/${namespace.agent}/${namespace.scope}`
  return `memory:${namespace.project}/${namespace.collection ?? "memory"}`
}
