/**
 * What an index asks of its shelf, written once for both kinds of shelves: a generator asks, and its caller brings the answers. A shelf in
 * this process answers at once, so that no event loop comes between. One across a network is waited for.
 */
import type { PassageReader } from "../../journal/passage-shelf.ts"

type Request = (shelf: PassageReader) => Promise<unknown>

/** Work that asks a shelf, and what it comes to. */
export type Asking<T> = Generator<Request, T, unknown>

/** A shelf that answers without a wait. How it finds a text as it is written is its own. */
export type ShelfAtHand = {
  readonly [Name in Exclude<keyof PassageReader, "having">]: PassageReader[Name] extends (
    ...given: infer Given
  ) => Promise<infer Answer>
    ? (...given: Given) => Answer
    : never
}

/** One question to the shelf. */
export function* fromShelf<T>(request: (shelf: PassageReader) => Promise<T>): Asking<T> {
  return (yield request) as T
}

export function askedAtOnce<T>(asking: Asking<T>, shelf: ShelfAtHand): T {
  for (let step = asking.next(); ; ) {
    if (step.done) return step.value
    // its methods differ from those of a shelf across a network in nothing but the wait
    step = asking.next(step.value(shelf as unknown as PassageReader) as unknown)
  }
}

export async function asked<T>(asking: Asking<T>, shelf: PassageReader): Promise<T> {
  for (let step = asking.next(); ; ) {
    if (step.done) return step.value
    step = asking.next(await step.value(shelf))
  }
}
