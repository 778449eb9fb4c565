/**
 * A lock that a process takes again and again, for a moment each time. Its owner file is kept, so that taking the lock is one
 * call of the system and releasing it is another. A dead owner is replaced as with any other lock.
 */
import { linkSync, rmSync } from "node:fs"
import { rm } from "node:fs/promises"
import { dirname } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { busyError } from "../../base/errors.ts"
import { holderOf, type OwnerFile, removeLeftovers, takeOver, writeOwner } from "./lock.ts"
import { makeDirectory } from "./make-directory.ts"

const PATIENCE_MS = 30_000 // the work under the lock takes less than a millisecond
const LONGEST_PAUSE_MS = 4
const TRIES_BETWEEN_CHECKS = 8 // whether the owner is alive takes longer to find out than most owners hold it

export class RepeatedLock {
  readonly #path: string
  readonly #now: () => string
  #own: OwnerFile | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(path: string, now: () => string) {
    this.#path = path
    this.#now = now
  }

  /** Works while this process holds the lock. Calls on the same object take turns. */
  hold<T>(work: () => T | Promise<T>): Promise<T> {
    const mine = this.#turn.then(async () => {
      const release = await this.#acquire()
      try {
        return await work()
      } finally {
        await release()
      }
    })
    this.#turn = mine.catch(() => undefined)
    return mine
  }

  async close(): Promise<void> {
    await this.#turn
    await this.#dropOwn()
  }

  async #acquire(): Promise<() => Promise<void> | void> {
    const deadline = performance.now() + PATIENCE_MS
    for (let tries = 1; ; tries++) {
      this.#own ??= await this.#createOwn()
      const state = tryLink(this.#own.file, this.#path)
      if (state === "linked") return () => rmSync(this.#path, { force: true })
      if (state === "own-missing") await this.#dropOwn()
      else {
        if (tries % TRIES_BETWEEN_CHECKS === 0) {
          const taken = await this.#fromDead(deadline)
          if (taken) return taken
        }
        await wait(1 + (tries % LONGEST_PAUSE_MS))
      }
    }
  }

  async #fromDead(deadline: number): Promise<(() => Promise<void>) | undefined> {
    const path = this.#path
    const holder = await holderOf(path)
    if (holder === undefined || this.#own === undefined) return undefined
    const { verdict } = holder
    if (verdict !== "dead") {
      if (performance.now() > deadline)
        throw busyError({ ...holder, path, verdict }, `holds ${path} and does not give it back`)
      return undefined
    }
    const attempt = await takeOver({ path, own: this.#own, dead: holder })
    if (attempt?.state !== "acquired") return undefined
    this.#own = undefined // it is the lock now
    return () => attempt.lock.release()
  }

  async #createOwn(): Promise<OwnerFile> {
    await makeDirectory(dirname(this.#path))
    await removeLeftovers(this.#path)
    return writeOwner(this.#path, this.#now())
  }

  async #dropOwn(): Promise<void> {
    const own = this.#own
    this.#own = undefined
    if (own) await rm(own.file, { force: true })
    await own?.door?.close()
  }
}

function tryLink(from: string, to: string): "linked" | "held" | "own-missing" {
  try {
    linkSync(from, to)
    return "linked"
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST") return "held"
    if (code === "ENOENT") return "own-missing"
    throw error
  }
}
