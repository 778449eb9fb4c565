/** A store in memory. It keeps encoded lines, as the file store does, and everything that the port has, for as long as the process lives. */
import { type Clock, checkedId, isSafeId, systemClock } from "../../base/clock.ts"
import { ConversationLockedError, ConversationNotFoundError } from "../../base/errors.ts"
import { listingFacts } from "../listing.ts"
import type { MemoryPlace } from "../memory-files.ts"
import { CONSOLIDATE } from "../permit.ts"
import type { AppendedLines, FeedLine, JournalAddress, JournalFeed, JournalSize, Store } from "../store.ts"
import { contentsInMemory } from "./contents.ts"
import { type KeptJournal, memoryJournal, newJournal } from "./journal.ts"
import { type KeptMailbox, mailboxInMemory, newMailbox } from "./mailbox.ts"
import { type KeptMemory, memoryFilesInMemory, newMemory } from "./memory-files.ts"
import { type KeptPermits, newPermits, permitInMemory } from "./permits.ts"

// The journals of a place in memory as they grow.

interface FeedParts {
  /** Those of the place now, by id. */
  readonly journals: () => ReadonlyMap<string, KeptJournal>
  /** One of them. Looking for it among all would take long. */
  readonly journal: (id: string) => KeptJournal | undefined
  readonly listeners: Set<(appended: AppendedLines) => void>
}

export function feedInMemory({ journals, journal, listeners }: FeedParts): JournalFeed {
  const sizesOf = (all: Iterable<readonly [string, KeptJournal]>): ReadonlyMap<string, JournalSize> => {
    const sizes = [...all].map(
      ([id, kept]) => [id, { bytes: kept.bytes, touched: Date.parse(kept.touched) || 0 }] as const,
    )
    return new Map(sizes.sort(([, a], [, b]) => b.touched - a.touched))
  }
  const named = (id: string): readonly (readonly [string, KeptJournal])[] => {
    const kept = journal(id)
    return kept ? [[id, kept]] : []
  }
  return {
    poll: async () => ({ journals: sizesOf(journals()), isAll: true, gone: [] }),
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
  const journals = new Map<string, KeptJournal>()
  const memories = new Map<string, KeptMemory>()
  const mailboxes = new Map<string, KeptMailbox>()
  const permits = new Map<string, KeptPermits>()
  const logs = new Map<string, string[]>()
  const listeners = new Map<string, Set<(appended: AppendedLines) => void>>()

  const memoryOf = (place: MemoryPlace) => made(memories, memoryKey(place), newMemory)
  const filesOf = (place: MemoryPlace) => {
    if ("project" in place) checkedId("project name", place.project)
    if ("agent" in place) checkedId("name for an agent", place.agent)
    return memoryFilesInMemory(memoryOf(place), { location: shownPlace(place), now: () => clock.now() })
  }
  /** The journals of one place, by id. */
  const journalsIn = (place: Omit<JournalAddress, "id">): ReadonlyMap<string, KeptJournal> => {
    const start = placeKey(place)
    const mine = [...journals]
      .toSorted(([, a], [, b]) => b.writes - a.writes)
      .filter(([key]) => key.startsWith(start) && !key.slice(start.length).includes("/"))
    return new Map(mine.map(([key, kept]) => [key.slice(start.length), kept]))
  }
  const listenersOf = (place: Omit<JournalAddress, "id">) => made(listeners, placeKey(place), () => new Set())

  return {
    description: "memory",

    async open(address, { access, create = false, resumes = false }) {
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
        resumes,
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
      const place = under === undefined ? { project } : { project, under }
      const listings = [...journalsIn(place)].map(async ([id, kept]) => {
        const listing = { id, bytes: kept.bytes, touched: kept.touched }
        if (isBare) return listing
        const location = `memory:${journalKey({ ...place, id })}`
        const reader = { address: { ...place, id }, kept, clock, location, isCreated: false, isWriter: false }
        return { ...listing, ...(await listingFacts(memoryJournal(reader))) }
      })
      return (await Promise.all(listings)).sort((a, b) => b.touched.localeCompare(a.touched))
    },

    has: async (addresses) =>
      addresses.map(({ id, ...place }) => journals.has(`${placeKey(place)}${isSafeId(id) ? id : "/"}`)),
    writerOf: async (address) => journals.get(journalKey(address))?.writer,
    memories: filesOf,

    mailboxes({ project, team }) {
      const key = `${checkedId("project name", project)}/${checkedId("team name", team)}`
      return mailboxInMemory(`memory:${key}`, made(mailboxes, key, newMailbox))
    },

    permit({ project, name }) {
      const key = `${checkedId("project name", project)}/${checkedId("permit name", name)}`
      const memory = name === CONSOLIDATE ? { memory: memoryOf({ project }) } : {}
      return permitInMemory(made(permits, key, newPermits), { clock, ...memory })
    },

    feed: (place) =>
      feedInMemory({
        journals: () => journalsIn(place),
        journal: (id) => (isSafeId(id) ? journals.get(journalKey({ ...place, id })) : undefined),
        listeners: listenersOf(place),
      }),

    log({ project, name }) {
      const lines = made(logs, `${checkedId("project name", project)}/${name}`, (): string[] => [])
      return { read: async () => [...lines], append: async (line) => void lines.push(line.toWellFormed()) }
    },

    contents: () => contentsInMemory({ journals, memories, filesOf, mailboxes, logs, clock }),
  }
}

function made<V>(map: Map<string, V>, key: string, make: () => V): V {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}

const placeKey = ({ project, under }: Omit<JournalAddress, "id">): string =>
  `${checkedId("project name", project)}/${under === undefined ? "" : `${checkedId("conversation id", under)}/subagents/`}`

const journalKey = (address: JournalAddress): string =>
  `${placeKey(address)}${checkedId("conversation id", address.id)}`

const memoryKey = (place: MemoryPlace): string => JSON.stringify(place, Object.keys(place).sort())

/** For people: `memory:shop/memory`. */
const shownPlace = (place: MemoryPlace): string => {
  if ("shared" in place) return "memory:shared"
  if ("agent" in place) return `memory:agents/${place.agent}/${place.scope}`
  return `memory:${place.project}/${place.beside ?? "memory"}`
}
