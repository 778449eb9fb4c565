/** Seats: how many do something at once, over all processes. */
import { randomUUID } from "node:crypto"
import { checkedId } from "@strata/core/base"
import type { SeatAttempt, SeatRequest } from "@strata/core/store"
import type { Database } from "./database.ts"
import type { Holder } from "./holder.ts"
import { checkedProject } from "./names.ts"

interface SeatGround {
  readonly database: Database
  readonly holder: Holder
}

export async function takeSeat(wanted: SeatRequest, { database, holder }: SeatGround): Promise<SeatAttempt> {
  const { project, name, id, most } = wanted
  const key = [holder.tenant, checkedProject(project), checkedId("seat name", name), checkedId("seat id", id)]
  const call = randomUUID()
  const end = holder.keep()
  let isTaken = false
  try {
    const row = await database.row<{ is_seated: boolean; taken: number }>("sit", ...key, most, ...holder.identity, call)
    isTaken = row.is_seated
    if (!isTaken) return { state: "full", taken: row.taken }
  } finally {
    if (!isTaken) end()
  }
  const release = async () => {
    end()
    await holder.giveBack("leave_seat", ...key, holder.id, call)
  }
  return { state: "acquired", seat: { release } }
}
