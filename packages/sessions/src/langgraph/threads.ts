/** The threads of one project in a store. Savers of a process share them, because a journal has one writer. */
import { hash } from "node:crypto"
import type { Store } from "@strata/core/store"
import { eraseExclusively } from "../external/exclusive-write.ts"
import { ThreadJournal, type ThreadOptions } from "./thread.ts"

const MAX_BYTES = 64_000_000 // of threads that are not in use; they are read again on demand
const PLAIN = /^[a-z0-9_-]{1,120}$/

export interface ThreadsOptions extends Pick<ThreadOptions, "store" | "clock" | "lockTimeoutMs"> {
  readonly project: string
}

export class Threads {
  readonly #place: ThreadsOptions
  readonly #threads: Map<string, ThreadJournal>

  constructor(place: ThreadsOptions) {
    this.#place = place
    this.#threads = sharedIn(place.store, place.project)
  }

  of(name: string): ThreadJournal {
    const { project, ...place } = this.#place
    const id = journalId(name)
    const found = this.#threads.get(id) ?? new ThreadJournal({ ...place, name, address: { project, id } })
    this.#threads.delete(id) // moves it to the end, as the most recently used
    this.#threads.set(id, found)
    this.#evictIdle()
    return found
  }

  /** The names of all threads, the last written first. */
  async names(): Promise<readonly string[]> {
    const { store, project } = this.#place
    const listings = await store.list(project, { isBare: true })
    const names = await Promise.all(listings.map(({ id }) => this.#nameOf(id)))
    return names.filter((name) => name !== undefined)
  }

  /** Plain names are part of the id. Other names are stored in the journals. */
  async #nameOf(id: string): Promise<string | undefined> {
    if (id.startsWith(PLAIN_PREFIX)) return id.slice(PLAIN_PREFIX.length)
    const { project, ...place } = this.#place
    const thread = this.#threads.get(id) ?? new ThreadJournal({ ...place, name: "", address: { project, id } })
    return thread.read(async ({ segment }) => segment.thread)
  }

  /** Waits for other processes that write to the thread. */
  async erase(name: string): Promise<void> {
    const { store, project } = this.#place
    const id = journalId(name)
    const thread = this.#threads.get(id)
    this.#threads.delete(id)
    await thread?.close()
    await eraseExclusively({ store, address: { project, id } })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.close()))
  }

  #evictIdle(): void {
    let bytes = [...this.#threads.values()].reduce((sum, thread) => sum + thread.bytes, 0)
    for (const [id, thread] of [...this.#threads].slice(0, -1)) {
      if (bytes <= MAX_BYTES && this.#threads.size <= MAX_THREADS) return
      if (!thread.isIdle) continue
      bytes -= thread.bytes
      this.#threads.delete(id)
    }
  }
}

const MAX_THREADS = 1000

const shared = new WeakMap<Store, Map<string, Map<string, ThreadJournal>>>()

function sharedIn(store: Store, project: string): Map<string, ThreadJournal> {
  const projects = shared.get(store) ?? new Map<string, Map<string, ThreadJournal>>()
  shared.set(store, projects)
  const threads = projects.get(project) ?? new Map<string, ThreadJournal>()
  projects.set(project, threads)
  return threads
}

const PLAIN_PREFIX = "t-"
const HASH_PREFIX = "h-"

/** The journal id of a name. Names with other characters are hashed, because some file systems ignore case. */
const journalId = (name: string): string =>
  PLAIN.test(name) ? `${PLAIN_PREFIX}${name}` : `${HASH_PREFIX}${hash("sha256", Buffer.from(name, "utf16le"), "hex")}`
