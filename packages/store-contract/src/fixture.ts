/** Fixture of a claim about a store: an empty location, several handles on it, and seeded random choices. */
import type { Journal, JournalAddress, Store } from "@strata/core/store"
import type { ContractOptions } from "./contract-options.ts"
import { type Random, seededRandom } from "./random.ts"

/** A requirement of a store, with the test that checks it. */
export type ContractClaim = readonly [name: string, prove: (fixture: ContractFixture) => Promise<void>]

export const PROJECT = "project"
export const ADDRESS: JournalAddress = { project: PROJECT, id: "conversation" }

export interface ContractFixture {
  /** Opens another handle on the same data. */
  handle(): Store
  /** One handle for each writer. */
  readonly handles: readonly Store[]
  readonly writers: number
  readonly runs: number
  readonly random: Random
  /** Creates a journal and opens it for writing. It is closed at the end if it is still open. */
  writer(address?: JournalAddress, store?: Store): Promise<Journal>
  /** Opens a journal for reading, on its own handle. */
  reader(address?: JournalAddress): Promise<Journal>
  /** Registers cleanup work. It runs at the end, in reverse order. */
  onCleanup(work: () => Promise<unknown> | unknown): void
}

interface ClaimRun extends Required<ContractOptions> {
  readonly name: string
  readonly prove: ContractClaim[1]
}

export async function runClaim({ open, name, prove, writers, runs, seed }: ClaimRun): Promise<void> {
  const location = await open()
  const endings: (() => Promise<unknown> | unknown)[] = []
  const opened = async (journal: Promise<Journal>) => {
    const one = await journal
    endings.push(() => one.close())
    return one
  }
  const fixture: ContractFixture = {
    handle: () => location.store(),
    handles: Array.from({ length: writers }, () => location.store()),
    ...{ writers, runs },
    random: seededRandom(`${seed} ${name}`),
    writer: (address = ADDRESS, store = location.store()) =>
      opened(store.open(address, { access: "write", create: true })),
    reader: (address = ADDRESS) => opened(location.store().open(address, { access: "read" })),
    onCleanup: (work) => void endings.push(work),
  }
  try {
    await prove(fixture)
  } catch (error) {
    if (error instanceof Error) error.message += `\n(seed ${seed}; storeContract({ seed: ${seed} }) repeats it)`
    throw error
  } finally {
    for (const ending of endings.reverse()) await ending()
    await location.close()
  }
}

/** The numbers from 0 up to, but not including, `count`. */
export const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)
