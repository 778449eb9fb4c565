/**
 * Says when something may have changed in a team. One connection listens for all teams of a store. Whether notices arrive is tried first:
 * through a transaction pooler none do, and then the server is asked again and again, less often the longer nothing happens.
 */
import { randomUUID } from "node:crypto"
import { callAfter, systemClock } from "@strata/core/internal/base/clock"
import pg, { type Pool, type PoolClient } from "pg"

const FIRST_POLL_MS = 20
const LONGEST_POLL_MS = 500
/** A notice that is sent to oneself arrives at once, or never. */
const PROBE_MS = 1_000
/** While notices arrive: one may be lost with its connection. */
const LISTENING_POLL_MS = 5_000
/** After a failure, how long no other try is made to listen. */
const PAUSE_MS = 30_000

export class Arrivals {
  readonly #pool: Pool
  readonly #wakers = new Map<string, Set<() => void>>()
  #listener: Promise<PoolClient | undefined> | undefined
  #notBefore = 0

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Resolves when something may have happened in a channel, at the latest after a while that grows with `tries`, or when the signal aborts. */
  async next(
    channel: string,
    { tries, signal }: { readonly tries: number; readonly signal: AbortSignal },
  ): Promise<void> {
    if (signal.aborted) return
    const waker = Promise.withResolvers<void>()
    const wakers = this.#wakers.get(channel) ?? new Set()
    this.#wakers.set(channel, wakers.add(waker.resolve))
    const onAbort = () => waker.resolve()
    signal.addEventListener("abort", onAbort, { once: true })
    const isListening = await this.#listens(channel)
    const most = isListening ? LISTENING_POLL_MS : LONGEST_POLL_MS
    const cancel = callAfter(systemClock, Math.min(most, FIRST_POLL_MS * 2 ** Math.min(tries, 10)), waker.resolve)
    try {
      await waker.promise
    } finally {
      cancel()
      signal.removeEventListener("abort", onAbort)
      wakers.delete(waker.resolve)
    }
  }

  /** What this process does itself needs no notice. */
  wake(channel: string): void {
    for (const resolve of [...(this.#wakers.get(channel) ?? [])]) resolve()
  }

  async close(): Promise<void> {
    const listener = await this.#listener
    this.#listener = undefined
    this.#notBefore = Number.POSITIVE_INFINITY
    listener?.release(true)
  }

  async #listens(channel: string): Promise<boolean> {
    if (performance.now() < this.#notBefore) return false
    this.#listener ??= this.#connect()
    const listener = await this.#listener
    if (!listener) return false
    if (this.#heard.has(channel)) return true
    try {
      await listener.query(`listen ${pg.escapeIdentifier(channel)}`)
      this.#heard.add(channel)
      return true
    } catch {
      return false
    }
  }

  readonly #heard = new Set<string>()

  async #connect(): Promise<PoolClient | undefined> {
    const client = await this.#pool.connect().catch(() => undefined)
    const isHeard = client !== undefined && (await arrives(client, this.#pool).catch(() => false))
    if (!isHeard) {
      client?.release(true)
      this.#lost()
      return undefined
    }
    client.on("notification", ({ channel }) => this.wake(channel))
    client.on("error", () => undefined)
    client.once("end", () => this.#lost())
    keepNoProcess(client)
    return client
  }

  /** Everyone who waits looks, and asks again and again until a new connection listens. */
  #lost(): void {
    this.#listener = undefined
    this.#heard.clear()
    this.#notBefore = Math.max(this.#notBefore, performance.now() + PAUSE_MS)
    for (const channel of this.#wakers.keys()) this.wake(channel)
  }
}

/** Sends a notice over another connection and waits for it. */
async function arrives(client: PoolClient, pool: Pool): Promise<boolean> {
  const channel = `strata_probe_${randomUUID().replaceAll("-", "")}`
  const heard = Promise.withResolvers<boolean>()
  const onNotice = (notice: { readonly channel: string }) => {
    if (notice.channel === channel) heard.resolve(true)
  }
  client.on("notification", onNotice)
  const cancel = callAfter(systemClock, PROBE_MS, () => heard.resolve(false))
  try {
    await client.query(`listen ${channel}`)
    await pool.query(`notify ${channel}`)
    return await heard.promise
  } finally {
    cancel()
    client.off("notification", onNotice)
    await client.query(`unlisten ${channel}`).catch(() => undefined)
  }
}

/** A process that only listens may end. */
function keepNoProcess(client: PoolClient): void {
  const { connection } = client as unknown as { readonly connection?: { readonly stream?: { unref?(): void } } }
  connection?.stream?.unref?.()
}
