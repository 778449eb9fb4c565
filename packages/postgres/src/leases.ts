/** Leases of the store's own. Each time one is given, its number is larger. */
import { randomUUID } from "node:crypto"
import type { NamedHolder } from "@strata/core"
import type { Database } from "./database.ts"
import type { Holder } from "./holder.ts"

type LeaseAttempt =
  | { readonly state: "acquired"; readonly lease: Lease }
  | { readonly state: "held"; readonly by: NamedHolder }

interface Lease {
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

interface AcquireRow {
  readonly state: "acquired" | "held"
  readonly number: number
  readonly other_holder: string
  readonly other_pid: number
  readonly other_host: string
  readonly other_since: number
}

/** Who holds something, as the server has it. */
export interface HolderRow {
  readonly number: number | null
  readonly holder_id: string
  readonly pid: number
  readonly host: string
  readonly since: number
}

/** Nothing if no one holds it. */
export function holderFrom(
  { number, holder_id, pid, host, since }: HolderRow,
  { id, identity }: Holder,
): NamedHolder | undefined {
  if (number === null) return undefined
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

export class Leases {
  readonly #database: Database
  readonly #holder: Holder
  /** What callers have, or wait for. */
  readonly #taken = new Set<string>()

  constructor(database: Database, holder: Holder) {
    this.#database = database
    this.#holder = holder
  }

  async acquire(project: string, name: string): Promise<LeaseAttempt> {
    const { tenant, identity, id } = this.#holder
    const key = `${project}/${name}`
    const isOnly = !this.#taken.has(key)
    this.#taken.add(key)
    const endHolding = this.#holder.keep()
    const end = () => {
      endHolding()
      if (isOnly) this.#taken.delete(key)
    }
    const acquire = () => this.#database.row<AcquireRow>("acquire", tenant, project, name, ...identity, randomUUID())
    try {
      let row = await acquire()
      if (isOnly && row.state === "held" && row.other_holder === id) {
        await this.#database.rows("release", tenant, project, name, id, row.number) // giving it back failed before
        row = await acquire()
      }
      if (row.state === "acquired")
        return {
          state: "acquired",
          lease: this.#lease({ project, name, fence: row.number, end }),
        }
      end()
      const { number, other_holder: holder_id, other_pid: pid, other_host: host, other_since: since } = row
      return { state: "held", by: holderFrom({ number, holder_id, pid, host, since }, this.#holder)! }
    } catch (error) {
      end()
      throw error
    }
  }

  /** Who has it now. */
  async holderOf(project: string, name: string): Promise<NamedHolder | undefined> {
    const row = await this.#database.row<HolderRow>("leased", this.#holder.tenant, project, name)
    return holderFrom(row, this.#holder)
  }

  #lease({ project, name, fence, end }: { project: string; name: string; fence: number; end: () => void }): Lease {
    const { tenant, id } = this.#holder
    const given = [tenant, project, name, id, fence]
    return {
      isHeld: () => this.#database.value<boolean>("is_held", ...given),
      release: async () => {
        try {
          await this.#holder.giveBack("release", ...given)
        } finally {
          end()
        }
      },
    }
  }
}
