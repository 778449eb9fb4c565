/**
 * Calls functions of the schema, each in one round trip and one transaction. No session state and no named statements, so a transaction
 * pooler may be between. Every function may be called again: what it wrote is recognised. So a call whose answer was lost is repeated.
 */

import { setTimeout as wait } from "node:timers/promises"
import { callAfter, systemClock } from "@strata/core/base"
import type { Pool, PoolClient } from "pg"
import { isPassing, StoreUnreachableError, withoutSecrets } from "./errors.ts"
import { refuseNewer } from "./migrate.ts"
import { connectionOf, keepErrorListeners } from "./pool.ts"
import { schemaProblem } from "./schema-problem.ts"

// Bytes as the server writes them: in digits, or as a role or a database may have it (`bytea_output`), as text with escapes.

const BACKSLASH = 0x5c
const ESCAPE = 3 // digits, of base 8

export function bytesIn(text: string): Buffer {
  // in the other form a backslash is doubled, so it cannot begin like this
  return text.startsWith("\\x") ? Buffer.from(text.slice(2), "hex") : unescaped(Buffer.from(text, "latin1"))
}

function unescaped(text: Buffer): Buffer {
  let length = 0
  for (let at = 0; at < text.length; length++) {
    const isEscape = text[at] === BACKSLASH
    const isDoubled = isEscape && text[at + 1] === BACKSLASH
    // what is written is never after what is read
    if (isEscape && !isDoubled) text[length] = Number.parseInt(text.toString("latin1", at + 1, at + 1 + ESCAPE), 8)
    else text[length] = text[at]!
    at += isDoubled ? 2 : isEscape ? 1 + ESCAPE : 1
  }
  return text.subarray(0, length)
}

export interface DatabaseOptions {
  readonly pool: Pool
  /** How long a call is repeated while the server cannot be reached: once at least, and with 0 not at all. Default: 30 seconds. */
  readonly patienceMs?: number
  /** How long one try may take. Default: 60 seconds. */
  readonly timeoutMs?: number
  /** The server has not answered for two seconds, and later: it answers again, or was given up. */
  readonly onWaiting?: (isWaiting: boolean) => void
}

const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 2_000
/** Shorter waits are not worth a word to a person. */
const LATE_MS = 2_000

export class Database {
  readonly pool: Pool
  readonly #patienceMs: number
  readonly #timeoutMs: number
  readonly #onWaiting: (isWaiting: boolean) => void
  /** How many calls have waited for long. */
  #late = 0
  /** The server's answers are missing since, and were missed last. A call that begins in the middle does not wait for as long again. */
  #outage: { readonly since: number; readonly last: number } | undefined

  constructor({ pool, patienceMs = 30_000, timeoutMs = 60_000, onWaiting = ignore }: DatabaseOptions) {
    this.pool = pool
    this.#patienceMs = patienceMs
    this.#timeoutMs = timeoutMs
    this.#onWaiting = onWaiting
    keepErrorListeners(pool)
  }

  /** The rows that a function returns. */
  async rows<Row>(name: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const ended = this.#begun()
    try {
      return await this.#untilAnswered<Row>(name, values)
    } finally {
      ended()
    }
  }

  /** A call has begun. The result says that it ended. */
  #begun(): () => void {
    let isLate = false
    const cancel = callAfter(systemClock, LATE_MS, () => {
      isLate = true
      if (++this.#late === 1) this.#onWaiting(true)
    })
    return () => {
      cancel()
      if (isLate && --this.#late === 0) this.#onWaiting(false)
    }
  }

  async #untilAnswered<Row>(name: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const started = performance.now()
    for (let tries = 1; ; tries++) {
      let isFirst = true
      try {
        await this.#checkVersion()
        isFirst = false
        const rows = await this.#once<Row>(queryOf(textOf(name, values.length), values, this.#timeoutMs))
        this.#outage = undefined
        return rows
      } catch (error) {
        const problem = schemaProblem(error)
        if (problem) throw problem
        if (!isPassing(error)) throw withoutSecrets(error)
        // a connection that hangs may be the only thing that is wrong: another one is tried
        const isRepeated = tries > 1 || this.#patienceMs === 0
        if (isRepeated && this.#missedFor(started) > this.#patienceMs)
          throw new StoreUnreachableError(error, { isFirst })
      }
      const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10))
      await wait(pause * (0.5 + Math.random() / 2))
    }
  }

  /** How long answers are missing. An outage that no one noticed for long may be over: the next one is another. */
  #missedFor(started: number): number {
    const last = performance.now()
    const isSame = this.#outage !== undefined && last - this.#outage.last <= this.#patienceMs
    const since = isSame ? Math.min(this.#outage!.since, started) : started
    this.#outage = { since, last }
    return last - since
  }

  /** The one row of a function that returns one. */
  async row<Row>(name: string, ...values: readonly unknown[]): Promise<Row> {
    const [row] = await this.rows<Row>(name, ...values)
    return row!
  }

  /** The one value of a function that returns one. */
  async value<T>(name: string, ...values: readonly unknown[]): Promise<T> {
    const row = await this.row<Record<string, T>>(name, ...values)
    return row[name]!
  }

  /** Once for each pool, before its first call. */
  async #checkVersion(): Promise<void> {
    const check = checked.get(this.pool) ?? this.#refuseNewer()
    checked.set(this.pool, check)
    try {
      await check
    } catch (error) {
      checked.delete(this.pool) // the tables may be there with the next call
      throw error
    }
  }

  async #refuseNewer(): Promise<void> {
    const [row] = await this.#once<{ version: number | null }>(queryOf(VERSION, [], this.#timeoutMs))
    refuseNewer(row?.version ?? 0)
  }

  async #once<Row>(query: ReturnType<typeof queryOf>): Promise<readonly Row[]> {
    const client = await connectionOf(this.pool, this.#timeoutMs)
    let isUnknown = false
    const onNotice = (notice: Notice) => {
      isUnknown ||= isUnreplicated(notice)
    }
    client.on("notice", onNotice)
    let failure: unknown
    try {
      const { rows } = await client.query(query)
      if (isUnknown) throw new UnknownOutcomeError()
      return rows as readonly Row[]
    } catch (error) {
      failure = error
      throw error
    } finally {
      client.off("notice", onNotice)
      release(client, failure)
    }
  }
}

const ignore = () => undefined

interface Notice {
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly routine?: string | undefined
}

/** A commit that no longer waits for its standby says so with a warning, which has no code of its own: it was made here, and may be lost. */
const isUnreplicated = ({ code = "", message = "", routine }: Notice): boolean =>
  routine === "SyncRepWaitForLSN" || code.startsWith("57") || /synchronous replication/i.test(message)

/** Pools whose schema is not a later one. */
const checked = new WeakMap<Pool, Promise<void>>()
const VERSION = "select max(version) as version from strata.schema_version"

/** Whether a write was kept is not known: the server gave up waiting for its standby. */
class UnknownOutcomeError extends Error {
  readonly code = "57014"
  readonly isUnknownOutcome = true
}

/** A connection whose last call failed on the way is not used again. */
function release(client: PoolClient, failure: unknown): void {
  client.release(failure === undefined || !isPassing(failure) ? undefined : true)
}

const texts = new Map<string, string>()

function textOf(name: string, count: number): string {
  const key = `${name} ${count}`
  const text =
    texts.get(key) ??
    `select * from strata.${name}(${Array.from({ length: count }, (_, at) => `$${at + 1}`).join(", ")})`
  texts.set(key, text)
  return text
}

/** How the caller reads types elsewhere does not matter here. */
const queryOf = (text: string, values: readonly unknown[], timeout: number) => ({
  text,
  values: [...values],
  query_timeout: timeout,
  types: { getTypeParser: parserOf },
})

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => text === "t"], // boolean
  [17, bytesIn], // bytea
  [20, Number], // bigint: sizes and numbers, all far below 2^53
  [23, Number], // integer
  [701, Number], // float8
])

const asItIs = (text: string) => text

const parserOf = (type: number) => (PARSERS.get(type) ?? asItIs) as (value: string | Buffer) => unknown
