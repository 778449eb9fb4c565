/**
 * A lock that a process acquires often and holds for a moment. Its owner file is reused, so that acquiring and releasing the lock take one
 * system call each. A dead owner is replaced as with any other lock.
 */
import { linkSync } from "node:fs"
import { rm } from "node:fs/promises"
import { dirname } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { busyError } from "../../base/errors.ts"
import { SerialQueue } from "../../base/work.ts"
import type { FileFencing } from "./fence-files.ts"
import { createFence, lockLost } from "./guarded-writes.ts"
import {
  holderOf,
  lockText,
  mayRun,
  type OwnerFile,
  removeLeftovers,
  removeLock,
  stamp,
  takeOver,
  writeOwner,
} from "./lock.ts"
import { makeDirectory } from "./make-directory.ts"

const LOCK_TIMEOUT_MS = 30_000 // the work under the lock takes less than a millisecond
const MAX_PAUSE_MS = 4
const TRIES_BETWEEN_CHECKS = 8 // checking the owner takes longer than most owners hold the lock

export interface ShortLockOptions {
  readonly path: string
  readonly now: () => string
  /** Called after the lock was taken from an owner that may still run, before the work: moves the guarded files out of its reach. */
  readonly renew: (by: FileFencing) => Promise<void>
}

export class ShortLock {
  readonly #path: string
  readonly #now: () => string
  readonly #renew: ShortLockOptions["renew"]
  #own: OwnerFile | undefined
  /** Set while this process has acquired the lock: checks that it still holds it. */
  #isHeld: (() => boolean) | undefined
  readonly #queue = new SerialQueue()

  constructor({ path, now, renew }: ShortLockOptions) {
    this.#path = path
    this.#now = now
    this.#renew = renew
  }

  /** Throws unless this process still holds the lock. Called right before each write and again before the write is acknowledged. */
  check(how: { readonly written?: boolean } = {}): void {
    if (!this.#isHeld?.()) throw lockLost(this.#path, how)
  }

  /** Runs the work while this process holds the lock. Calls on the same object run one after another. */
  hold<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      const release = await this.#acquire()
      try {
        return await work()
      } finally {
        await release()
      }
    })
  }

  async close(): Promise<void> {
    await this.#queue.whenIdle()
    await this.#dropOwn()
  }

  async #acquire(): Promise<() => Promise<void> | void> {
    const path = this.#path
    const deadline = performance.now() + LOCK_TIMEOUT_MS
    for (let tries = 1; ; tries++) {
      const own = this.#own ?? (await this.#createOwn())
      this.#own = own
      const found = tryLink(own, path)
      if (found.state === "linked") {
        const { text } = found
        this.#isHeld = () => lockText(path) === text
        return () => {
          this.#isHeld = undefined
          removeLock({ path, token: own.owner.token, text })
        }
      }
      if (found.state === "own-missing") await this.#dropOwn()
      else {
        if (tries % TRIES_BETWEEN_CHECKS === 0) {
          const taken = await this.#fromDead(deadline)
          if (taken) return taken
        }
        await wait(1 + (tries % MAX_PAUSE_MS))
      }
    }
  }

  async #fromDead(deadline: number): Promise<(() => Promise<void>) | undefined> {
    const path = this.#path
    const holder = await holderOf(path)
    if (holder === undefined || this.#own === undefined) return undefined
    const { status } = holder
    if (status !== "dead") {
      if (performance.now() > deadline)
        throw busyError({ ...holder, path, status }, `holds ${path} and does not give it back`)
      return undefined
    }
    const attempt = await takeOver({ path, own: this.#own, dead: holder })
    if (attempt?.state !== "acquired") return undefined
    this.#own = undefined // the owner file is the lock now
    const { lock, takenOverFrom } = attempt
    try {
      if (takenOverFrom && mayRun(takenOverFrom)) await this.#renew({ fence: createFence(lock), number: lock.fence })
    } catch (error) {
      await lock.abandon()
      throw error
    }
    this.#isHeld = lock.isHeld
    return async () => {
      this.#isHeld = undefined
      await lock.release()
    }
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
    await own?.socket?.close()
  }
}

type LinkResult = { readonly state: "linked"; readonly text: string } | { readonly state: "held" | "own-missing" }

function tryLink(own: OwnerFile, to: string): LinkResult {
  try {
    const { text } = stamp(own)
    linkSync(own.file, to)
    return { state: "linked", text }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST") return { state: "held" }
    if (code === "ENOENT") return { state: "own-missing" }
    throw error
  }
}
