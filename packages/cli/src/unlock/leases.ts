/** Who has conversations open in a store without files. It ends by itself what a process that is gone has held, so nothing is broken here. */

import type { Store } from "@strata/core"
import type { NamedHolder } from "@strata/core/base"
import { printable } from "../display/visible.ts"

/** The newest conversations: each is asked for by itself. */
const MOST_ASKED = 200

export interface HeldConversation {
  readonly id: string
  readonly holder: NamedHolder
}

export interface Wanted {
  readonly places: readonly string[]
  /** The start of an id. Default: all. */
  readonly id: string | undefined
}

export async function heldIn(store: Store, { places, id = "" }: Wanted): Promise<readonly HeldConversation[]> {
  const listed = await Promise.all(
    places.map(async (project) =>
      (await store.list(project, { isBare: true })).map((listing) => ({ ...listing, project })),
    ),
  )
  const newest = listed
    .flat()
    .filter((one) => one.id.startsWith(id))
    .sort((a, b) => b.touched.localeCompare(a.touched))
    .slice(0, MOST_ASKED)
  const holders = await Promise.all(newest.map((one) => store.writerOf({ project: one.project, id: one.id })))
  return newest.flatMap((one, at) => {
    const holder = holders[at]
    return holder ? [{ id: one.id, holder }] : []
  })
}

export const heldLines = (held: readonly HeldConversation[]): readonly string[] =>
  held.map(
    ({ id, holder: { pid, host, since, endsAfterSeconds } }) =>
      `Conversation ${id}: process ${pid} on ${printable(host)}, since ${printable(since)}.${endsAfterSeconds === undefined ? "" : ` If that process was killed, the lock ends by itself within ${endsAfterSeconds} seconds.`}`,
  )

export const NOT_BROKEN =
  "Nothing was unlocked: this store frees a conversation by itself soon after its process has ended. Close it there, or wait and open it again."
