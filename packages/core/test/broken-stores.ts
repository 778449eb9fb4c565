/** Stores with one fault each, typical of a first version of a store on a database. The contract must find every one. */
import { setImmediate } from "node:timers/promises"
import { ConversationLockedError, MemoryChangedError } from "../src/base/errors.ts"
import { memoryStore } from "../src/journal/in-memory/store.ts"
import type { Mailbox } from "../src/journal/mailbox.ts"
import type { MemoryFileChange, MemoryFiles } from "../src/journal/memory-files.ts"
import { CONSOLIDATE } from "../src/journal/permit.ts"
import type { Journal, Store } from "../src/journal/store.ts"

export interface BrokenStore {
  readonly fault: string
  /** Beginning of the name of the case that finds the fault. */
  readonly foundBy: string
  readonly store: () => Store
}

/** Members that replace those of each object of the port. */
interface StoreOverrides {
  readonly store?: (store: Store) => Partial<Store>
  readonly journal?: (journal: Journal) => Partial<Journal>
  readonly memories?: (files: MemoryFiles) => Partial<MemoryFiles>
  readonly mailboxes?: (mailbox: Mailbox) => Partial<Mailbox>
}

function withDifferences({ store: ofStore, journal, memories, mailboxes }: StoreOverrides): Store {
  const store = memoryStore()
  const open: Store["open"] = async (...given) => {
    const opened = await store.open(...given)
    return { ...opened, ...journal?.(opened) }
  }
  const changed = { ...store, open }
  return {
    ...changed,
    memories: (place) => {
      const files = store.memories(place)
      return { ...files, ...memories?.(files) }
    },
    mailboxes: (team) => {
      const mailbox = store.mailboxes(team)
      return { ...mailbox, ...mailboxes?.(mailbox) }
    },
    ...ofStore?.(changed),
  }
}

const anyText = (changes: readonly MemoryFileChange[]) => changes.map(({ path, text }) => ({ path, text }))

/** Checks the expected texts, and writes a moment later. */
async function mustBeExpected(files: MemoryFiles, changes: readonly MemoryFileChange[]): Promise<void> {
  for (const { path, expected } of changes)
    if (expected !== undefined && ((await files.read(path)) ?? null) !== expected) throw new MemoryChangedError([path])
}

const FAULTS: readonly (Omit<BrokenStore, "store"> & { readonly differs: () => StoreOverrides })[] = [
  {
    fault: "loses most memory updates of several writers",
    foundBy: "BEY-9 many writers change one memory file",
    differs: () => ({
      memories: (files) => ({
        async install(changes) {
          await mustBeExpected(files, changes)
          await setImmediate()
          return files.install(anyText(changes))
        },
      }),
    }),
  },
  {
    fault: "ignores `expected`",
    foundBy: "BEY-9 memory files change all at once",
    differs: () => ({ memories: (files) => ({ install: (changes) => files.install(anyText(changes)) }) }),
  },
  {
    fault: "shows a half-written install",
    foundBy: "BEY-9 a reader next to a writer that has seen one file",
    differs: () => ({
      memories: (files) => ({
        async install(changes) {
          await mustBeExpected(files, changes)
          for (const change of anyText(changes)) {
            await files.install([change])
            for (let turn = 0; turn < 5; turn++) await setImmediate()
          }
          return { skipped: [] }
        },
      }),
    }),
  },
  {
    fault: "has one version for all texts",
    foundBy: "BEY-9 a version differs",
    differs: () => ({
      memories: (files) => ({
        readAll: async (wanted) => (await files.readAll(wanted)).map((file) => ({ ...file, version: "1" })),
      }),
    }),
  },
  {
    fault: "acknowledges before it writes",
    foundBy: "JRN-3 an entry that is acknowledged",
    differs: () => ({
      journal: (journal) => ({
        async append(entries) {
          setTimeout(() => void journal.append(entries).catch(() => undefined), 20)
        },
      }),
    }),
  },
  {
    fault: "writes half of a batch",
    foundBy: "JRN-3 a batch that cannot be written",
    differs: () => ({
      journal: (journal) => ({
        async append(entries) {
          for (const entry of entries) await journal.append([entry])
        },
      }),
    }),
  },
  {
    fault: "puts entries of others between those of a batch",
    foundBy: "JRN-1 several callers at once",
    differs: () => ({
      journal: (journal) => ({
        async append(entries) {
          for (const entry of entries) {
            await journal.append([entry])
            await setImmediate()
          }
        },
      }),
    }),
  },
  {
    fault: "refuses a NUL, as jsonb does",
    foundBy: "JRN-1 a journal gives entries back as they were",
    differs: () => ({
      journal: (journal) => ({
        async append(entries) {
          if (JSON.stringify(entries).includes("\\u0000")) throw new Error("unsupported Unicode escape sequence")
          return journal.append(entries)
        },
      }),
    }),
  },
  {
    fault: "lets two write to a journal",
    foundBy: "JRN-3 of many that open a journal at once",
    differs: () => {
      const opened = new Map<string, Journal>()
      return {
        store: (store) => ({
          async open(address, options) {
            try {
              const journal = await store.open(address, options)
              if (options.access === "write") opened.set(address.id, journal)
              return journal
            } catch (error) {
              if (error instanceof ConversationLockedError) return opened.get(address.id)!
              throw error
            }
          },
        }),
      }
    },
  },
  {
    fault: "gives every writer of a journal the same number",
    foundBy: "JRN-3 the number of a journal's writer",
    differs: () => ({ journal: (journal) => (journal.fence === undefined ? {} : { fence: 1 }) }),
  },
  {
    fault: "writes notes over a text that is not the expected one",
    foundBy: "L3-7 many callers change the notes",
    differs: () => ({
      journal: (journal) => ({
        async writeNotes(text, expected) {
          if (expected !== undefined && ((await journal.readNotes()) ?? null) !== expected) return false
          await setImmediate()
          return journal.writeNotes(text)
        },
      }),
    }),
  },
  {
    fault: "lists the journals of another owner",
    foundBy: "BEY-12 a list has nothing of another project or owner",
    differs: () => {
      const projects = new Set<string>()
      return {
        store: (store) => ({
          open(address, options) {
            projects.add(address.project)
            return store.open(address, options)
          },
          async list(project, options) {
            const like = [...projects].filter((one) => one.startsWith(project)) // like a LIKE without escapes
            return (await Promise.all(like.map((one) => store.list(one, options)))).flat()
          },
        }),
      }
    },
  },
  {
    fault: "names a project whose conversations are only those of agents",
    foundBy: "BEY-12 all projects with conversations are named",
    differs: () => {
      const seen = new Set<string>()
      return {
        store: (store) => ({
          async open(address, options) {
            seen.add(address.project)
            return store.open(address, options)
          },
          projects: async () => [...seen].sort(),
        }),
      }
    },
  },
  {
    fault: "lists the journal that was written first at the top",
    foundBy: "JRN-7 the journal that was written last",
    differs: () => ({ store: (store) => ({ list: async (...given) => (await store.list(...given)).toReversed() }) }),
  },
  {
    fault: "forgets the order of messages, as a pool of connections does",
    foundBy: "L7-5 many senders at once",
    differs: () => ({
      mailboxes: (mailbox) => {
        let count = 0
        return {
          async send(...given) {
            if (count++ % 2 === 0) await setImmediate()
            return mailbox.send(...given)
          },
        }
      },
    }),
  },
  {
    fault: "delivers a message twice",
    foundBy: "L7-5 a mailbox gives every reader",
    differs: () => ({
      mailboxes: (mailbox) => ({
        async read(...given) {
          const reading = await mailbox.read(...given)
          return { ...reading, messages: reading.messages.flatMap((message) => [message, message]) }
        },
      }),
    }),
  },
  {
    fault: "counts the permits that are taken, and takes one a moment later",
    foundBy: "BEY-12 of many that want a permit at once",
    differs: () => {
      const taken = new Set<string>()
      let fence = 0
      return {
        store: (store) => ({
          permit: (address) => ({
            ...store.permit(address),
            async take({ id, max }) {
              const count = taken.size
              await setImmediate()
              if (count >= max) return { state: "full", taken: count }
              taken.add(id)
              return {
                state: "acquired",
                permit: { fence: ++fence, release: async () => void taken.delete(id) },
              }
            },
          }),
        }),
      }
    },
  },
  {
    fault: "gives a second permit to who asks again",
    foundBy: "BEY-12 who asks again for a permit",
    differs: () => {
      let asked = 0
      return {
        store: (store) => ({
          permit: (address) => ({
            ...store.permit(address),
            take: (wanted) => store.permit(address).take({ ...wanted, id: `${wanted.id}-${++asked}` }),
          }),
        }),
      }
    },
  },
  {
    fault: "gives every permit the same number",
    foundBy: "BEY-12 the number of a permit",
    differs: () => ({
      store: (store) => ({
        permit: (address) => ({
          ...store.permit(address),
          async take(wanted) {
            const attempt = await store.permit(address).take(wanted)
            return attempt.state === "full" ? attempt : { ...attempt, permit: { ...attempt.permit, fence: 1 } }
          },
        }),
      }),
    }),
  },
  {
    fault: "gives two the permit to consolidate",
    foundBy: "L6-2 of many, one consolidates",
    differs: () => ({
      store: (store) => ({
        permit: (address) => ({
          ...store.permit(address),
          take: (wanted) =>
            store.permit(address).take(address.name === CONSOLIDATE ? { ...wanted, max: wanted.max + 1 } : wanted),
        }),
      }),
    }),
  },
  {
    fault: "keeps entries as plain JSON, so that inputs of calls are spelled otherwise",
    foundBy: "JRN-2 a call comes back with its input spelled",
    differs: () => ({
      journal: (journal) => ({
        append: (entries, options) => journal.append(JSON.parse(JSON.stringify(entries)) as typeof entries, options),
      }),
    }),
  },
  {
    fault: "feeds the search with lines without a checksum",
    foundBy: "BEY-12 a feed gives the lines of a journal",
    differs: () => ({
      store: (store) => ({
        feed: (place) => ({
          ...store.feed(place),
          async *lines(id) {
            let offset = 0
            for await (const line of store.feed(place).lines(id, 0)) {
              const { sum: _, ...plain } = JSON.parse(line.bytes.toString()) as { readonly sum: string }
              const bytes = Buffer.from(JSON.stringify(plain))
              yield { ...line, offset, bytes }
              offset += bytes.length + 1
            }
          },
        }),
      }),
    }),
  },
  {
    fault: "loses lines of a log",
    foundBy: "BEY-12 many add to a log at once",
    differs: () => {
      let lines: readonly string[] = []
      const append = async (line: string) => {
        const before = lines
        await setImmediate()
        lines = [...before, line]
      }
      return { store: () => ({ log: () => ({ read: async () => lines, append }) }) }
    },
  },
]

export const BROKEN_STORES: readonly BrokenStore[] = FAULTS.map(({ differs, ...found }) => ({
  ...found,
  store: () => withDifferences(differs()),
}))
