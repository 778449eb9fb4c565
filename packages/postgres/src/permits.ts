/** Permits limit concurrency over all processes. Each is acquired and released in one call. */
import { randomUUID } from "node:crypto"
import { validateId } from "@strata/core/base"
import type { Permit, PermitAddress } from "@strata/core/store"
import type { Database } from "./database.ts"
import { validateProject } from "./names.ts"
import { type LeaseOwnerRow, leaseOwner, type ProcessLease } from "./process-lease.ts"

interface PostgresPermitOptions {
  readonly database: Database
  readonly holder: ProcessLease
}

interface StateRow {
  readonly taken: number
  readonly done: number | null
}

/** Whether the permit was acquired, and otherwise one of its owners. */
interface TakeRow extends StateRow, LeaseOwnerRow {
  readonly is_taken: boolean
}

export function postgresPermit({ project, name }: PermitAddress, { database, holder }: PostgresPermitOptions): Permit {
  const key = [holder.tenant, validateProject(project), validateId("permit name", name)]
  return {
    async state() {
      const row = await database.row<StateRow>("permit_state", ...key)
      return { taken: row.taken, ...lastIn(row) }
    },
    async take({ id, max }) {
      const call = randomUUID()
      const mine = [...key, validateId("permit id", id)]
      const end = holder.keep()
      let isTaken = false
      try {
        const row = await database.row<TakeRow>("permit_take", ...mine, max, ...holder.identity, call)
        isTaken = row.is_taken
        if (!isTaken) {
          const by = leaseOwner(row, holder)
          return { state: "full", taken: row.taken, ...(by ? { by } : {}) }
        }
        const fence = row.number!
        const release = async (done?: Date) => {
          end()
          await holder.release("permit_release", ...mine, holder.id, fence, call, done?.getTime() ?? null)
        }
        return { state: "acquired", permit: { fence, ...lastIn(row), release } }
      } finally {
        if (!isTaken) end()
      }
    },
  }
}

const lastIn = ({ done }: StateRow): { readonly last?: Date } => (done === null ? {} : { last: new Date(done) })
