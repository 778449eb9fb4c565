/**
 * Writes to the journal of another program's lines. A journal has one writer, and such programs know nothing of that: several processes may
 * write to a session. So it is opened for one change and closed again, and who comes second waits.
 */

import type { Store } from "@strata/core"
import { Queues, systemClock } from "@strata/core/base"
import type { Journal, JournalAddress } from "@strata/core/store"
import { waitForLock } from "@strata/core/store"

const LOCK_TIMEOUT_MS = 30_000 // a write takes milliseconds; after this, the error names who has it

/** What this process does with a journal, in the order it was asked for. */
const changes = new Queues<string>()

export interface Place {
  readonly store: Store
  readonly address: JournalAddress
}

/** Runs after everything that was asked for before with the same journal. */
export function inTurn<T>({ store, address }: Place, work: () => Promise<T>): Promise<T> {
  const key = JSON.stringify([store.description, address.project, address.under, address.id])
  return changes.run(key, work)
}

/** Opens the journal for one change. Call it in turn. */
export async function writeAlone<T>(place: Place, change: (journal: Journal) => Promise<T>): Promise<T> {
  const { store, address } = place
  const journal = await waitForLock(() => store.open(address, { access: "write", create: true }), LOCK_WAIT)
  let result: T
  try {
    result = await change(journal)
  } catch (error) {
    await journal.close().catch(() => undefined) // why the change failed says more
    throw error
  }
  await journal.close()
  return result
}

const LOCK_WAIT = { lockTimeoutMs: LOCK_TIMEOUT_MS, clock: systemClock }

/** Removes a journal with everything that belongs to it. */
export const eraseAlone = (place: Place): Promise<void> =>
  inTurn(place, () => waitForLock(() => place.store.contents().erase({ kind: "journal", ...place.address }), LOCK_WAIT))
