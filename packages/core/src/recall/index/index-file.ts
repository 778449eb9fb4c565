/**
 * The SQLite file of an index. A file of another version is emptied, since an index can always be rebuilt from its sources. Several
 * processes may use one file: writing waits for the others.
 */
import { rmSync } from "node:fs"
import type { DatabaseSync, StatementSync } from "node:sqlite"

const BUSY_MILLISECONDS = 1_000 // how long to wait while another process writes; this blocks the process
const BUSY_BRIEFLY_MILLISECONDS = 5 // about as long as a batch takes to write

export interface IndexShape {
  /** Increase it when tables or terms change. */
  readonly version: number
  /** SQL that creates the tables. */
  readonly create: string
  /** The tables to drop before that, each before the ones it depends on. */
  readonly tables: readonly string[]
}

export class SqliteIndexFile {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()

  /** `path`: a file, or `:memory:`. */
  constructor(path: string, shape: IndexShape) {
    // loaded with the first index: most users of the library never search
    const sqlite = process.getBuiltinModule("node:sqlite")
    this.#db = new sqlite.DatabaseSync(path, { timeout: BUSY_MILLISECONDS })
    try {
      this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;")
      this.#renew(shape)
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Returns a prepared statement, which is prepared once. */
  statement(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare(sql)
    this.#prepared.set(sql, statement)
    return statement
  }

  /**
   * Numbers that a statement collects with `CAST(group_concat(…) AS BLOB) AS ids`. A single value contains all of them: a row for each
   * would take five times as long, and splitting a text takes as long as collecting it.
   */
  ids(sql: string, ...values: readonly (string | number)[]): Uint32Array {
    const digits = this.statement(sql).get(...values)?.ids
    return digits instanceof Uint8Array ? numbersIn(digits) : new Uint32Array(0)
  }

  /** Changes when another connection has written. */
  changes(): number {
    return Number(this.statement("PRAGMA data_version").get()!.data_version)
  }

  /** Runs work in a read transaction, so that it does not see writes of other processes. */
  inOneState<T>(work: () => T): T {
    this.#db.exec("BEGIN")
    try {
      return work()
    } finally {
      if (this.#db.isTransaction) this.#db.exec("COMMIT")
    }
  }

  /** Runs work that gives up early while another process writes. For work that nobody requested, so that the process is not blocked. */
  async briefly<T>(work: () => Promise<T>): Promise<T> {
    this.#waitFor(BUSY_BRIEFLY_MILLISECONDS)
    try {
      return await work()
    } finally {
      if (this.#db.isOpen) this.#waitFor(BUSY_MILLISECONDS)
    }
  }

  #waitFor(milliseconds: number): void {
    this.#db.exec(`PRAGMA busy_timeout = ${milliseconds}`)
  }

  inTransaction<T>(work: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE")
    try {
      const result = work()
      this.#db.exec("COMMIT")
      return result
    } catch (error) {
      // on a full disk SQLite has rolled back already, and a second rollback would fail with another error
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
      throw error
    }
  }

  close(): void {
    this.#db.close()
  }

  #renew({ version, create, tables }: IndexShape): void {
    if (this.#version() === version) return
    const drop = tables.map((name) => `DROP TABLE IF EXISTS ${name};`).join("")
    this.inTransaction(() => {
      // another process may have been faster
      if (this.#version() !== version) this.#db.exec(`${drop}${create} PRAGMA user_version = ${version};`)
    })
  }

  #version(): number {
    return Number(this.#db.prepare("PRAGMA user_version").get()!.user_version)
  }
}

const COMMA = 0x2c
const ZERO = 0x30

/** Parses decimal numbers separated by commas. */
function numbersIn(digits: Uint8Array): Uint32Array {
  const numbers = new Uint32Array((digits.length + 1) >> 1)
  let [count, number] = [0, 0]
  for (const digit of digits) {
    if (digit === COMMA) {
      numbers[count++] = number
      number = 0
    } else number = 10 * number + digit - ZERO
  }
  numbers[count++] = number
  return numbers.slice(0, count)
}

interface SqliteError extends Error {
  readonly errcode: number
}

export const isFromSqlite = (error: unknown): error is SqliteError =>
  error instanceof Error && (error as { code?: unknown }).code === "ERR_SQLITE_ERROR"

const DAMAGE = new Set([1, 11, 26]) // SQLITE_ERROR (a table is missing), SQLITE_CORRUPT, SQLITE_NOTADB

/** The low byte is the error, the other bytes are details. */
export const isDamage = ({ errcode }: SqliteError) => DAMAGE.has(errcode & 0xff)

const LOCKED = new Set([5, 6]) // SQLITE_BUSY, SQLITE_LOCKED

export const isBusy = (error: unknown) => isFromSqlite(error) && LOCKED.has(error.errcode & 0xff)

/** Removes an index, unless a connection of any process has it open. Returns whether it is gone. */
export function removeUnusedDatabase(path: string): boolean {
  const sqlite = process.getBuiltinModule("node:sqlite")
  try {
    const db = new sqlite.DatabaseSync(path, { timeout: 0 })
    try {
      db.exec("PRAGMA journal_mode = DELETE") // refused while another connection has the file open
    } finally {
      db.close()
    }
  } catch (error) {
    if (isBusy(error)) return false
  }
  removeDatabase(path)
  return true
}

/** Removes an index. The next question rebuilds it from its sources. */
export function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true })
}
