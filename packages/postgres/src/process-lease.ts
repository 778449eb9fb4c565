/**
 * The lease of a process. A store keeps everything it holds for as long as the process renews one row, by the server's clock. One call
 * renews the rows of all stores that share a pool.
 */
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import type { NamedHolder } from "@strata/core/base"
import { callAfter, systemClock } from "@strata/core/base"
import type { Pool } from "pg"
import { Database } from "./database.ts"
import { StoreUnreachableError } from "./errors.ts"

/** How long the server reserves what a dead process held. */
export const LEASE_SECONDS = 30
/** A renewal may fail twice. */
const RENEWALS_PER_LEASE = 3
/** One attempt of a renewal takes less than its share of a lease, so that a hanging connection costs no lease. */
const TRIES_PER_LEASE = 6
const SHORTEST_TRY_MS = 1_000

export interface ProcessLeaseOptions {
  readonly database: Database
  readonly tenant: string
  readonly leaseSeconds: number
}

export class ProcessLease {
  readonly id = randomUUID()
  readonly #options: ProcessLeaseOptions
  #held = 0
  /** Releases that failed because the server was unreachable, in chronological order. */
  #owed: (readonly [name: string, ...values: readonly unknown[]])[] = []

  constructor(options: ProcessLeaseOptions) {
    this.#options = options
  }

  /** Arguments of functions that acquire something: id, process, machine, seconds. */
  get identity(): readonly [string, number, string, number] {
    return [this.id, process.pid, MACHINE, this.#options.leaseSeconds]
  }

  /**
   * Releases something. If the server cannot be reached, it is released with a later renewal; otherwise the renewed lease would keep it
   * too.
   */
  async release(name: string, ...values: readonly unknown[]): Promise<void> {
    try {
      await this.#options.database.rows(name, ...values)
    } catch (error) {
      if (error instanceof StoreUnreachableError) this.#owed.push([name, ...values])
      throw error
    }
  }

  /** Retries failed releases until one fails again. */
  async retryReleases(database: Database): Promise<void> {
    for (let first = this.#owed[0]; first; first = this.#owed[0]) {
      await database.rows(...first)
      this.#owed.shift()
    }
  }

  get tenant(): string {
    return this.#options.tenant
  }

  /** Renews the lease until the result is called. Calling the result again has no effect. */
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

/** The owner of a lease in the server's format. */
export interface LeaseOwnerRow {
  readonly number: number | null
  readonly holder_id: string | null
  readonly pid: number
  readonly host: string
  readonly since: number
}

/** Returns `undefined` if there is no owner. */
export function leaseOwner(
  { number, holder_id, pid, host, since }: LeaseOwnerRow,
  { id, identity }: ProcessLease,
): NamedHolder | undefined {
  if (number === null || holder_id === null) return undefined
  const isSelf = holder_id === id
  const [, , , endsAfterSeconds] = identity // all processes of a fleet have the same setting
  return {
    pid,
    host,
    since: new Date(since).toISOString(),
    fence: number,
    ...(isSelf ? { isSelf } : { endsAfterSeconds }),
  }
}

export const MACHINE = hostname()

class LeaseRenewals {
  readonly #database: Database
  readonly #seconds: number
  readonly #holders = new Set<ProcessLease>()
  #cancel: (() => void) | undefined
  #isRenewing = false

  constructor(pool: Pool, seconds: number) {
    const leaseMs = seconds * 1_000
    const timeoutMs = Math.max(SHORTEST_TRY_MS, leaseMs / TRIES_PER_LEASE)
    this.#database = new Database({ pool, timeoutMs, retryTimeoutMs: leaseMs })
    this.#seconds = seconds
  }

  add(holder: ProcessLease): void {
    this.#holders.add(holder)
    this.#later()
  }

  remove(holder: ProcessLease): void {
    this.#holders.delete(holder)
    if (this.#holders.size > 0) return
    this.#cancel?.()
    this.#cancel = undefined
  }

  #later(): void {
    if (this.#isRenewing) return // the running renewal schedules the next one
    this.#cancel ??= callAfter(systemClock, (this.#seconds * 1_000) / RENEWALS_PER_LEASE, () => {
      this.#cancel = undefined
      this.#isRenewing = true
      void this.#renew().finally(() => {
        this.#isRenewing = false
        if (this.#holders.size > 0) this.#later()
      })
    })
  }

  /** A failed renewal is repeated with the next one. Until then the leases are at risk, and writes report a lost one. */
  async #renew(): Promise<void> {
    const holders = [...this.#holders]
    const tenants = holders.map(({ tenant }) => tenant)
    const ids = holders.map(({ id }) => id)
    await this.#database.rows("renew", tenants, ids, process.pid, MACHINE, this.#seconds).catch(() => undefined)
    for (const holder of holders) await holder.retryReleases(this.#database).catch(() => undefined)
  }
}

const renewalsByPool = new WeakMap<Pool, Map<number, LeaseRenewals>>()

function renewalsOf(database: Database, seconds: number): LeaseRenewals {
  const ofPool = renewalsByPool.get(database.pool) ?? new Map<number, LeaseRenewals>()
  renewalsByPool.set(database.pool, ofPool)
  const renewals = ofPool.get(seconds) ?? new LeaseRenewals(database.pool, seconds)
  ofPool.set(seconds, renewals)
  return renewals
}
