/**
 * Calls functions of the schema, each in one round trip and one transaction. There is no session state and no named statement, so a
 * transaction pooler may be in between. Every function recognises a repeated call, so a call whose answer was lost is repeated.
 */

import { setTimeout as wait } from "node:timers/promises"
import { callAfter, systemClock } from "@strata/core/base"
import type { Pool, PoolClient } from "pg"
import { isTransient, StoreUnreachableError, withoutSecrets } from "./errors.ts"
import { refuseNewer } from "./migrate.ts"
import { acquireConnection, addErrorListeners } from "./pool.ts"
import { schemaProblem } from "./schema-problem.ts"

// Bytes in the server's two formats (`bytea_output`): as hexadecimal digits, or as text with escapes.

const BACKSLASH = 0x5c
const ESCAPE = 3 // octal digits

export function bytesIn(text: string): Buffer {
  // in the escape format a backslash is doubled, so it cannot begin like this
  return text.startsWith("\\x") ? Buffer.from(text.slice(2), "hex") : unescaped(Buffer.from(text, "latin1"))
}

function unescaped(text: Buffer): Buffer {
  let length = 0
  for (let at = 0; at < text.length; length++) {
    const isEscape = text[at] === BACKSLASH
    const isDoubled = isEscape && text[at + 1] === BACKSLASH
    // the write position never passes the read position
    if (isEscape && !isDoubled) text[length] = Number.parseInt(text.toString("latin1", at + 1, at + 1 + ESCAPE), 8)
    else text[length] = text[at]!
    at += isDoubled ? 2 : isEscape ? 1 + ESCAPE : 1
  }
  return text.subarray(0, length)
}

export interface DatabaseOptions {
  readonly pool: Pool
  /**
   * How long a call is repeated while the server cannot be reached. It is repeated at least once, unless this is 0. Default: 30 seconds.
   */
  readonly retryTimeoutMs?: number
  /** How long one attempt may take. Default: 60 seconds. */
  readonly timeoutMs?: number
  /** Called with `true` after two seconds without an answer, and with `false` when the server answers again or the call fails. */
  readonly onWaiting?: (isWaiting: boolean) => void
}

const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 2_000
/** Shorter waits are not reported to the user. */
const LATE_MS = 2_000

export class Database {
  readonly pool: Pool
  readonly #retryTimeoutMs: number
  readonly #timeoutMs: number
  readonly #onWaiting: (isWaiting: boolean) => void
  /** Number of calls that have been waiting for long. */
  #late = 0
  /** Start and latest time of an outage. A call that begins during an outage does not wait for the full time again. */
  #outage: { readonly since: number; readonly last: number } | undefined

  constructor({ pool, retryTimeoutMs = 30_000, timeoutMs = 60_000, onWaiting = ignore }: DatabaseOptions) {
    this.pool = pool
    this.#retryTimeoutMs = retryTimeoutMs
    this.#timeoutMs = timeoutMs
    this.#onWaiting = onWaiting
    addErrorListeners(pool)
  }

  /** Calls a function and returns its rows. */
  async rows<Row>(name: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const ended = this.#begun()
    try {
      return await this.#untilAnswered<Row>(name, values)
    } finally {
      ended()
    }
  }

  /** Registers the start of a call. The result registers its end. */
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
        if (!isTransient(error)) throw withoutSecrets(error)
        // only this connection may hang: the call is repeated on another one
        const isRepeated = tries > 1 || this.#retryTimeoutMs === 0
        if (isRepeated && this.#missedFor(started) > this.#retryTimeoutMs)
          throw new StoreUnreachableError(error, { isFirst })
      }
      const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 10))
      await wait(pause * (0.5 + Math.random() / 2))
    }
  }

  /** How long the server has not answered. After a long time without calls, an old outage is considered over. */
  #missedFor(started: number): number {
    const last = performance.now()
    const isSame = this.#outage !== undefined && last - this.#outage.last <= this.#retryTimeoutMs
    const since = isSame ? Math.min(this.#outage!.since, started) : started
    this.#outage = { since, last }
    return last - since
  }

  /** The only row of a function that returns one. */
  async row<Row>(name: string, ...values: readonly unknown[]): Promise<Row> {
    const [row] = await this.rows<Row>(name, ...values)
    return row!
  }

  /** The only value of a function that returns one. */
  async value<T>(name: string, ...values: readonly unknown[]): Promise<T> {
    const row = await this.row<Record<string, T>>(name, ...values)
    return row[name]!
  }

  /** Checks the schema once for each pool, before its first call. */
  async #checkVersion(): Promise<void> {
    const check = checked.get(this.pool) ?? this.#refuseNewer()
    checked.set(this.pool, check)
    try {
      await check
    } catch (error) {
      checked.delete(this.pool) // the tables may exist at the next call
      throw error
    }
  }

  async #refuseNewer(): Promise<void> {
    const [row] = await this.#once<{ version: number | null }>(queryOf(VERSION, [], this.#timeoutMs))
    refuseNewer(row?.version ?? 0)
  }

  async #once<Row>(query: ReturnType<typeof queryOf>): Promise<readonly Row[]> {
    const client = await acquireConnection(this.pool, this.#timeoutMs)
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

/**
 * Whether a commit has stopped waiting for its standby. The server reports this with a warning that has no code of its own; the write was
 * made here and may be lost.
 */
const isUnreplicated = ({ code = "", message = "", routine }: Notice): boolean =>
  routine === "SyncRepWaitForLSN" || code.startsWith("57") || /synchronous replication/i.test(message)

/** Pools whose schema is not newer than this version. */
const checked = new WeakMap<Pool, Promise<void>>()
const VERSION = "select max(version) as version from strata.schema_version"

/** The server stopped waiting for its standby, so it is unknown whether a write was made. */
class UnknownOutcomeError extends Error {
  readonly code = "57014"
  readonly isUnknownOutcome = true
}

/** A connection on which a call failed is not reused. */
function release(client: PoolClient, failure: unknown): void {
  client.release(failure === undefined || !isTransient(failure) ? undefined : true)
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

/** Sets its own type parsers, so that parsers that the application has configured do not apply. */
const queryOf = (text: string, values: readonly unknown[], timeout: number) => ({
  text,
  values: [...values],
  query_timeout: timeout,
  types: { getTypeParser: parserOf },
})

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => text === "t"], // boolean
  [17, bytesIn], // bytea
  [20, Number], // bigint: sizes and counters, all far below 2^53
  [23, Number], // integer
  [701, Number], // float8
])

const asItIs = (text: string) => text

const parserOf = (type: number) => (PARSERS.get(type) ?? asItIs) as (value: string | Buffer) => unknown
