/** Permits: how many do something at once, over all processes. Each is taken, and given back, in one call. */
import { randomUUID } from "node:crypto"
import { checkedId } from "@strata/core/base"
import type { Permit, PermitAddress } from "@strata/core/store"
import type { Database } from "./database.ts"
import { type Holder, type HolderRow, holderFrom } from "./holder.ts"
import { checkedProject } from "./names.ts"

interface PermitGround {
  readonly database: Database
  readonly holder: Holder
}

interface StateRow {
  readonly taken: number
  readonly done: number | null
}

/** Whether it was taken, and otherwise one who has it. */
interface TakeRow extends StateRow, HolderRow {
  readonly is_taken: boolean
}

export function postgresPermit({ project, name }: PermitAddress, { database, holder }: PermitGround): Permit {
  const key = [holder.tenant, checkedProject(project), checkedId("permit name", name)]
  return {
    async state() {
      const row = await database.row<StateRow>("permit_state", ...key)
      return { taken: row.taken, ...lastIn(row) }
    },
    async take({ id, max }) {
      const call = randomUUID()
      const mine = [...key, checkedId("permit id", id)]
      const end = holder.keep()
      let isTaken = false
      try {
        const row = await database.row<TakeRow>("permit_take", ...mine, max, ...holder.identity, call)
        isTaken = row.is_taken
        if (!isTaken) {
          const by = holderFrom(row, holder)
          return { state: "full", taken: row.taken, ...(by ? { by } : {}) }
        }
        const fence = row.number!
        const release = async (done?: Date) => {
          end()
          await holder.giveBack("permit_release", ...mine, holder.id, fence, call, done?.getTime() ?? null)
        }
        return { state: "acquired", permit: { fence, ...lastIn(row), release } }
      } finally {
        if (!isTaken) end()
      }
    },
  }
}

const lastIn = ({ done }: StateRow): { readonly last?: Date } => (done === null ? {} : { last: new Date(done) })
