/**
 * Reports possible changes in a team. One connection listens for all teams of a store. A probe first checks whether notifications arrive:
 * through a transaction pooler none do, and the server is polled instead, less often the longer nothing happens.
 */
import { randomUUID } from "node:crypto"
import { callAfter, systemClock } from "@strata/core/base"
import pg, { type Pool, type PoolClient } from "pg"
import { acquireConnection } from "./pool.ts"

const FIRST_POLL_MS = 20
const MAX_POLL_MS = 500
/** A notification to oneself arrives within this time, or never. */
const PROBE_MS = 1_000
/** The longest wait for a connection, and for its answers. */
const CONNECT_MS = 5_000
/** Poll interval while listening, because a notification may be lost with its connection. */
const LISTENING_POLL_MS = 5_000
/** After a failure, how long to wait before listening is tried again. */
const PAUSE_MS = 30_000

interface NextOptions {
  readonly tries: number
  /** The result of `wakes` before the caller checked for changes. */
  readonly since: number
  readonly signal: AbortSignal
}

export class ChangeNotifier {
  readonly #pool: Pool
  readonly #pauseMs: number
  readonly #wakers = new Map<string, Set<() => void>>()
  #listener: Promise<PoolClient | undefined> | undefined
  #notBefore = 0

  constructor(pool: Pool, { pauseMs = PAUSE_MS }: { readonly pauseMs?: number } = {}) {
    this.#pool = pool
    this.#pauseMs = pauseMs
  }

  /**
   * Resolves when something may have happened in a channel, at the latest after a delay that grows with `tries`, or when the signal aborts.
   */
  async next(channel: string, { tries, since, signal }: NextOptions): Promise<void> {
    if (signal.aborted || this.wakes(channel) !== since) return
    const waker = Promise.withResolvers<void>()
    const wakers = this.#wakers.get(channel) ?? new Set()
    this.#wakers.set(channel, wakers.add(waker.resolve))
    const onAbort = () => waker.resolve()
    signal.addEventListener("abort", onAbort, { once: true })
    const wakeAfter = (max: number) =>
      callAfter(systemClock, Math.min(max, FIRST_POLL_MS * 2 ** Math.min(tries, 10)), waker.resolve)
    let cancel = wakeAfter(MAX_POLL_MS)
    // not awaited: the connection that would listen may hang
    void this.listens(channel).then((isListening) => {
      if (!isListening || !wakers.has(waker.resolve)) return
      cancel()
      cancel = wakeAfter(LISTENING_POLL_MS)
    })
    try {
      await waker.promise
    } finally {
      wakers.delete(waker.resolve)
      cancel()
      signal.removeEventListener("abort", onAbort)
    }
  }

  /** How many changes a channel may have had so far. */
  wakes(channel: string): number {
    return this.#wakes.get(channel) ?? 0
  }

  readonly #wakes = new Map<string, number>()

  /** Reports a change made by this process, which needs no notification. */
  wake(channel: string): void {
    this.#wakes.set(channel, this.wakes(channel) + 1)
    for (const resolve of [...(this.#wakers.get(channel) ?? [])]) resolve()
  }

  async close(): Promise<void> {
    this.#notBefore = Number.POSITIVE_INFINITY
    await this.#listener
    this.#release?.()
  }

  /** Whether notifications of a channel arrive from now on. */
  async listens(channel: string): Promise<boolean> {
    if (performance.now() < this.#notBefore) return false
    this.#listener ??= this.#connect()
    const listener = await this.#listener
    if (!listener) return false
    return this.#heard.get(channel) ?? this.#hear(listener, channel)
  }

  /** Runs serially, because a connection runs one statement at a time. */
  #hear(listener: PoolClient, channel: string): Promise<boolean> {
    const heard = this.#last
      .then(() => listener.query(limited(`listen ${pg.escapeIdentifier(channel)}`)))
      .then(
        () => {
          this.wake(channel) // covers changes made before
          return true
        },
        () => {
          this.#release?.()
          return false
        },
      )
    this.#last = heard
    this.#heard.set(channel, heard)
    return heard
  }

  readonly #heard = new Map<string, Promise<boolean>>()
  #last: Promise<unknown> = Promise.resolve()

  async #connect(): Promise<PoolClient | undefined> {
    const client = await this.#free()
    const isHeard = client !== undefined && (await canListen(client, this.#pool).catch(() => false))
    if (!isHeard) {
      client?.release(true)
      this.#lost()
      return undefined
    }
    client.on("notification", ({ channel }) => this.wake(channel))
    this.#release = () => {
      this.#release = undefined
      client.release(true) // a lost one would otherwise occupy a slot of the pool
      this.#lost()
    }
    client.once("end", () => this.#release?.())
    unrefConnection(client)
    return client
  }

  #release: (() => void) | undefined

  /** Returns `undefined` if listening would leave no connection for other work. */
  async #free(): Promise<PoolClient | undefined> {
    if ((this.#pool.options.max ?? 2) < 2) return undefined
    return acquireConnection(this.#pool, CONNECT_MS).catch(() => undefined)
  }

  /** Wakes all waiting callers, which poll until a new connection listens. */
  #lost(): void {
    this.#listener = undefined
    this.#heard.clear()
    this.#notBefore = Math.max(this.#notBefore, performance.now() + this.#pauseMs)
    for (const channel of this.#wakers.keys()) this.wake(channel)
  }
}

const limited = (text: string) => ({ text, ...{ query_timeout: CONNECT_MS } }) // supported by `pg`, but missing in its types

/** One channel for all stores: through a pooler, the subscription may stay with a connection that others use. */
const PROBE = "strata_probe"

/** Sends a notification over another connection and waits for it. */
async function canListen(client: PoolClient, pool: Pool): Promise<boolean> {
  const own = randomUUID()
  const heard = Promise.withResolvers<boolean>()
  const onNotice = ({ channel, payload }: pg.Notification) => {
    if (channel === PROBE && payload === own) heard.resolve(true)
  }
  const say = (command: string) => client.query(limited(`${command} ${PROBE}`))
  client.on("notification", onNotice)
  try {
    await say("listen")
    const cancel = callAfter(systemClock, PROBE_MS, () => heard.resolve(false))
    pool.query(limited(`notify ${PROBE}, '${own}'`)).catch(() => heard.resolve(false)) // not awaited: no connection may be free
    const isHeard = await heard.promise
    cancel()
    await say("unlisten")
    return isHeard
  } finally {
    client.off("notification", onNotice)
  }
}

/** Allows a process that only listens to exit. */
function unrefConnection(client: PoolClient): void {
  const { connection } = client as unknown as { readonly connection?: { readonly stream?: { unref?(): void } } }
  connection?.stream?.unref?.()
}
