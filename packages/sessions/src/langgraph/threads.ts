/** The threads of one project in one store. Savers of a process share them, because a journal has one writer. */
import { hash } from "node:crypto"
import type { Store } from "@strata/core/store"
import { eraseAlone } from "../foreign/write-alone.ts"
import { Thread, type ThreadPlace } from "./thread.ts"

const MAX_BYTES = 64_000_000 // of threads that no one uses now; they are read again when they are asked for
const PLAIN = /^[a-z0-9_-]{1,120}$/

export interface ThreadsPlace extends Pick<ThreadPlace, "store" | "clock" | "lockTimeoutMs"> {
  readonly project: string
}

export class Threads {
  readonly #place: ThreadsPlace
  readonly #threads: Map<string, Thread>

  constructor(place: ThreadsPlace) {
    this.#place = place
    this.#threads = sharedIn(place.store, place.project)
  }

  of(name: string): Thread {
    const { project, ...place } = this.#place
    const id = journalId(name)
    const found = this.#threads.get(id) ?? new Thread({ ...place, name, address: { project, id } })
    this.#threads.delete(id) // the newest is last
    this.#threads.set(id, found)
    this.#makeRoom()
    return found
  }

  /** The names of all threads, the last written first. */
  async names(): Promise<readonly string[]> {
    const { store, project } = this.#place
    const listings = await store.list(project, { isBare: true })
    const names = await Promise.all(listings.map(({ id }) => this.#nameOf(id)))
    return names.filter((name) => name !== undefined)
  }

  /** A plain name is in the id. The others are in the journals. */
  async #nameOf(id: string): Promise<string | undefined> {
    if (id.startsWith(AS_IT_IS)) return id.slice(AS_IT_IS.length)
    const { project, ...place } = this.#place
    const thread = this.#threads.get(id) ?? new Thread({ ...place, name: "", address: { project, id } })
    return thread.read(async ({ segment }) => segment.thread)
  }

  /** Another process that writes to it is waited for. */
  async erase(name: string): Promise<void> {
    const { store, project } = this.#place
    const id = journalId(name)
    const thread = this.#threads.get(id)
    this.#threads.delete(id)
    await thread?.close()
    await eraseAlone({ store, address: { project, id } })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.close()))
  }

  #makeRoom(): void {
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

const shared = new WeakMap<Store, Map<string, Map<string, Thread>>>()

function sharedIn(store: Store, project: string): Map<string, Thread> {
  const projects = shared.get(store) ?? new Map<string, Map<string, Thread>>()
  shared.set(store, projects)
  const threads = projects.get(project) ?? new Map<string, Thread>()
  projects.set(project, threads)
  return threads
}

const AS_IT_IS = "t-"
const HASHED = "h-"

/** A name may have any characters, and some disks do not tell capitals apart. */
const journalId = (name: string): string =>
  PLAIN.test(name) ? `${AS_IT_IS}${name}` : `${HASHED}${hash("sha256", Buffer.from(name, "utf16le"), "hex")}`
