/** Reads a journal from its end, segment by segment. A reader that stops early does not read older segments. */
import type { Entry } from "./entries.ts"
import type { Journal } from "./store.ts"

export async function* newestFirst(journal: Pick<Journal, "tail" | "before">): AsyncGenerator<Entry> {
  for (let segment = await journal.tail(); ; ) {
    yield* segment.entries.toReversed()
    const before = await journal.before(segment)
    if (!before) return
    segment = before
  }
}
