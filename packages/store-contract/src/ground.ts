/** What a claim about a store works with: a fresh place, several handles on it, and randomness that a seed repeats. */
import type { Journal, JournalAddress, Store } from "@strata/core/store"
import type { ContractGiven } from "./given.ts"
import { type Random, seededRandom } from "./random.ts"

/** What must be true of a store, and how it is shown. */
export type Claim = readonly [name: string, prove: (ground: Ground) => Promise<void>]

export const PROJECT = "project"
export const ADDRESS: JournalAddress = { project: PROJECT, id: "conversation" }

export interface Ground {
  /** Another handle on the same data. */
  handle(): Store
  /** One handle for each writer. */
  readonly handles: readonly Store[]
  readonly writers: number
  readonly runs: number
  readonly random: Random
  /** Opens a journal for writing and creates it. It is closed at the end, if it is still open. */
  writer(address?: JournalAddress, store?: Store): Promise<Journal>
  /** Opens a journal for reading, on a handle of its own. */
  reader(address?: JournalAddress): Promise<Journal>
  /** Done at the end, in the other order. */
  finally(work: () => Promise<unknown> | unknown): void
}

interface Proof extends Required<ContractGiven> {
  readonly name: string
  readonly prove: Claim[1]
}

export async function provenIn({ open, name, prove, writers, runs, seed }: Proof): Promise<void> {
  const place = await open()
  const endings: (() => Promise<unknown> | unknown)[] = []
  const opened = async (journal: Promise<Journal>) => {
    const one = await journal
    endings.push(() => one.close())
    return one
  }
  const ground: Ground = {
    handle: () => place.store(),
    handles: Array.from({ length: writers }, () => place.store()),
    ...{ writers, runs },
    random: seededRandom(`${seed} ${name}`),
    writer: (address = ADDRESS, store = place.store()) =>
      opened(store.open(address, { access: "write", create: true })),
    reader: (address = ADDRESS) => opened(place.store().open(address, { access: "read" })),
    finally: (work) => void endings.push(work),
  }
  try {
    await prove(ground)
  } catch (error) {
    if (error instanceof Error) error.message += `\n(seed ${seed}; storeContract({ seed: ${seed} }) repeats it)`
    throw error
  } finally {
    for (const ending of endings.reverse()) await ending()
    await place.close()
  }
}

/** The numbers from 0 to below this. */
export const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)
