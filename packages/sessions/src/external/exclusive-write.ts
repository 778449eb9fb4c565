/**
 * Exclusive writes to the journal of another program's lines. A journal has one writer, but several processes may write to a session of
 * such a program. So the journal is opened for each change, and other processes wait.
 */

import type { Store } from "@strata/core"
import { KeyedQueues, systemClock } from "@strata/core/base"
import type { Journal, JournalAddress } from "@strata/core/store"
import { waitForLock } from "@strata/core/store"

const LOCK_TIMEOUT_MS = 30_000 // writes take milliseconds; after this time, the error names the holder

/** Operations of this process on each journal, in the order they were requested. */
const changes = new KeyedQueues<string>()

export interface JournalLocation {
  readonly store: Store
  readonly address: JournalAddress
}

/** Runs `work` after all earlier operations on the same journal. */
export function enqueue<T>({ store, address }: JournalLocation, work: () => Promise<T>): Promise<T> {
  const key = JSON.stringify([store.description, address.project, address.under, address.id])
  return changes.run(key, work)
}

/** Opens the journal for one change. Must be called within `inTurn`. */
export async function writeExclusively<T>(
  place: JournalLocation,
  change: (journal: Journal) => Promise<T>,
): Promise<T> {
  const { store, address } = place
  const journal = await waitForLock(() => store.open(address, { access: "write", create: true }), LOCK_WAIT)
  let result: T
  try {
    result = await change(journal)
  } catch (error) {
    await journal.close().catch(() => undefined) // the reason of the failed change is more informative
    throw error
  }
  await journal.close()
  return result
}

const LOCK_WAIT = { lockTimeoutMs: LOCK_TIMEOUT_MS, clock: systemClock }

/** Removes a journal with all its files. */
export const eraseExclusively = (place: JournalLocation): Promise<void> =>
  enqueue(place, () =>
    waitForLock(() => place.store.contents().erase({ kind: "journal", ...place.address }), LOCK_WAIT),
  )
