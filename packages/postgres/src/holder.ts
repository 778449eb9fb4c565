/**
 * A process as the server knows it. Everything that a store holds is its own while it renews one row, by the server's clock. One call renews
 * the rows of all stores that share a pool.
 */
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import type { NamedHolder } from "@strata/core/base"
import { callAfter, systemClock } from "@strata/core/base"
import type { Pool } from "pg"
import { Database } from "./database.ts"
import { StoreUnreachableError } from "./errors.ts"

/** How long a process that is gone keeps what it holds. */
export const LEASE_SECONDS = 30
/** A renewal may fail twice. */
const RENEWALS_PER_LEASE = 3
/** A try of a renewal takes less than its share of a lease, so that a connection that hangs costs no lease. */
const TRIES_PER_LEASE = 6
const SHORTEST_TRY_MS = 1_000

export interface HolderOptions {
  readonly database: Database
  readonly tenant: string
  readonly leaseSeconds: number
}

export class Holder {
  readonly id = randomUUID()
  readonly #options: HolderOptions
  #held = 0
  /** What could not be given back because the server was away, in the order of time. */
  #owed: (readonly [name: string, ...values: readonly unknown[]])[] = []

  constructor(options: HolderOptions) {
    this.#options = options
  }

  /** What functions that take something are given: id, process, machine, seconds. */
  get identity(): readonly [string, number, string, number] {
    return [this.id, process.pid, MACHINE, this.#options.leaseSeconds]
  }

  /** Gives something back. If the server cannot be reached, that is done with a later renewal: what else is held would keep it too. */
  async giveBack(name: string, ...values: readonly unknown[]): Promise<void> {
    try {
      await this.#options.database.rows(name, ...values)
    } catch (error) {
      if (error instanceof StoreUnreachableError) this.#owed.push([name, ...values])
      throw error
    }
  }

  /** Tries again what is owed, until something fails. */
  async settle(database: Database): Promise<void> {
    for (let first = this.#owed[0]; first; first = this.#owed[0]) {
      await database.rows(...first)
      this.#owed.shift()
    }
  }

  get tenant(): string {
    return this.#options.tenant
  }

  /** Renews from now on. The result ends it; a second call of it is nothing. */
  keep(): () => void {
    const { database, leaseSeconds } = this.#options
    const renewals = renewalsOf(database, leaseSeconds)
    if (++this.#held === 1) renewals.add(this)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (--this.#held === 0) renewals.remove(this)
    }
  }
}

/** Who holds something, as the server has it. */
export interface HolderRow {
  readonly number: number | null
  readonly holder_id: string | null
  readonly pid: number
  readonly host: string
  readonly since: number
}

/** Nothing if no one holds it. */
export function holderFrom(
  { number, holder_id, pid, host, since }: HolderRow,
  { id, identity }: Holder,
): NamedHolder | undefined {
  if (number === null || holder_id === null) return undefined
  const isSelf = holder_id === id
  const [, , , endsAfterSeconds] = identity // processes of a fleet have the same setting
  return {
    pid,
    host,
    since: new Date(since).toISOString(),
    fence: number,
    ...(isSelf ? { isSelf } : { endsAfterSeconds }),
  }
}

export const MACHINE = hostname()

class Renewals {
  readonly #database: Database
  readonly #seconds: number
  readonly #holders = new Set<Holder>()
  #cancel: (() => void) | undefined
  #isRenewing = false

  constructor(pool: Pool, seconds: number) {
    const leaseMs = seconds * 1_000
    const timeoutMs = Math.max(SHORTEST_TRY_MS, leaseMs / TRIES_PER_LEASE)
    this.#database = new Database({ pool, timeoutMs, patienceMs: leaseMs })
    this.#seconds = seconds
  }

  add(holder: Holder): void {
    this.#holders.add(holder)
    this.#later()
  }

  remove(holder: Holder): void {
    this.#holders.delete(holder)
    if (this.#holders.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  #later(): void {
    if (this.#isRenewing) return // the next one follows it
    this.#cancel ??= callAfter(systemClock, (this.#seconds * 1_000) / RENEWALS_PER_LEASE, () => {
      this.#cancel = undefined
      this.#isRenewing = true
      void this.#renew().finally(() => {
        this.#isRenewing = false
        if (this.#holders.size > 0) this.#later()
      })
    })
  }

  /** One that fails is made again with the next. Until then what is held is at risk, and writes say if it is lost. */
  async #renew(): Promise<void> {
    const holders = [...this.#holders]
    const tenants = holders.map(({ tenant }) => tenant)
    const ids = holders.map(({ id }) => id)
    await this.#database.rows("renew", tenants, ids, process.pid, MACHINE, this.#seconds).catch(() => undefined)
    for (const holder of holders) await holder.settle(this.#database).catch(() => undefined)
  }
}

const renewalsByPool = new WeakMap<Pool, Map<number, Renewals>>()

function renewalsOf(database: Database, seconds: number): Renewals {
  const ofPool = renewalsByPool.get(database.pool) ?? new Map<number, Renewals>()
  renewalsByPool.set(database.pool, ofPool)
  const renewals = ofPool.get(seconds) ?? new Renewals(database.pool, seconds)
  ofPool.set(seconds, renewals)
  return renewals
}
