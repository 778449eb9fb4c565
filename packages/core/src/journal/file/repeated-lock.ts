/**
 * A lock that a process takes again and again, for a moment each time. Its owner file is kept, so that taking the lock is one
 * call of the system and releasing it is another. A dead owner is replaced as with any other lock.
 */
import { linkSync, rmSync } from "node:fs"
import { readdir, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { LockBusyError } from "../../base/errors.ts"
import { FILE_MODE } from "./layout.ts"
import { isAlive, type LockOwner, ownerOf, ownFile, takeOver, thisProcess } from "./lock.ts"
import { makeDirectory } from "./make-directory.ts"

const PATIENCE_MS = 30_000 // the work under the lock takes less than a millisecond
const LONGEST_PAUSE_MS = 4
const TRIES_BETWEEN_CHECKS = 8 // whether the owner is alive takes longer to find out than most owners hold it

export class RepeatedLock {
  readonly #path: string
  readonly #now: () => string
  #own: { readonly file: string; readonly owner: LockOwner } | undefined
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
    if (this.#own) await rm(this.#own.file, { force: true })
    this.#own = undefined
  }

  async #acquire(): Promise<() => Promise<void> | void> {
    const deadline = performance.now() + PATIENCE_MS
    for (let tries = 1; ; tries++) {
      this.#own ??= await this.#createOwn()
      const state = tryLink(this.#own.file, this.#path)
      if (state === "linked") return () => rmSync(this.#path, { force: true })
      if (state === "own-missing") this.#own = undefined
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
    const holder = await ownerOf(this.#path)
    if (holder === undefined || this.#own === undefined) return undefined
    if (await isAlive(holder)) {
      if (performance.now() > deadline) throw new LockBusyError(this.#path, holder)
      return undefined
    }
    const { file, owner } = this.#own
    const attempt = await takeOver({ path: this.#path, own: file, owner, dead: holder })
    if (attempt.state === "held") return undefined
    await rm(file, { force: true })
    this.#own = undefined
    return () => attempt.lock.release()
  }

  async #createOwn(): Promise<{ file: string; owner: LockOwner }> {
    await makeDirectory(dirname(this.#path))
    await this.#removeDead()
    const owner = await thisProcess(this.#now())
    const file = ownFile(this.#path, owner)
    await writeFile(file, JSON.stringify(owner), { mode: FILE_MODE })
    return { file, owner }
  }

  /** Owner files that killed processes left. */
  async #removeDead(): Promise<void> {
    const directory = dirname(this.#path)
    const start = `${basename(this.#path)}.`
    const names = await readdir(directory)
    const files = names.filter((name) => name.startsWith(start) && /^[0-9a-f]{8}$/.test(name.slice(start.length)))
    for (const file of files.map((name) => join(directory, name))) {
      const owner = await ownerOf(file)
      // a file without a token is being written
      if (owner && owner.token !== "" && !(await isAlive(owner))) await rm(file, { force: true })
    }
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
