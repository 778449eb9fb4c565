/**
 * An index in a file that others may use, remove or damage. It holds nothing that cannot be built again: a damaged one is removed, and
 * where a file cannot be used, an index in memory takes its place.
 */
import { closeSync, openSync, statSync } from "node:fs"
import { FILE_MODE } from "../journal/file/layout.ts"
import { isDamage, isFromSqlite, removeDatabase } from "./index-file.ts"
import { PassageIndex } from "./passage-index.ts"

const IN_MEMORY = ":memory:"

export class KeptIndex {
  #path: string
  #inode: number | undefined
  #index: PassageIndex | undefined

  /** `path`: the file. Default: in memory. */
  constructor(path = IN_MEMORY) {
    this.#path = path
  }

  /** It may be another index than the one before, and empty. */
  ask<T>(question: (index: PassageIndex) => T): T {
    try {
      return this.#asked(question)
    } catch (error) {
      if (this.#path === IN_MEMORY || !(isFromSqlite(error) || (error as NodeJS.ErrnoException).code)) throw error
      this.close()
      if (isFromSqlite(error) && isDamage(error)) removeDatabase(this.#path)
      else this.#path = IN_MEMORY
      return this.#asked(question)
    }
  }

  close(): void {
    this.#index?.close()
    this.#index = undefined
  }

  #asked<T>(question: (index: PassageIndex) => T): T {
    if (this.#path !== IN_MEMORY && this.#index && inodeOf(this.#path) !== this.#inode) this.close()
    this.#index ??= this.#opened()
    return question(this.#index)
  }

  #opened(): PassageIndex {
    if (this.#path !== IN_MEMORY) {
      closeSync(openSync(this.#path, "a", FILE_MODE)) // SQLite would let others read it
      this.#inode = inodeOf(this.#path)
    }
    return new PassageIndex(this.#path)
  }
}

const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino
