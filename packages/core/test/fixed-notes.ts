/** Notes that a test provides to a compaction. No fork writes them. */
import { DraftHolder, lastBoundary } from "../src/layers/3-session-memory/draft.ts"
import type { NotesSource } from "../src/layers/4-compaction/summarise/route.ts"
import type { LayerContext } from "../src/layers/layer.ts"

/** `startedAt`: start of an update that never ends. */
export function fixedNotes(summary: () => string | undefined, startedAt?: Date): NotesSource {
  const draft = new DraftHolder({
    findReady(context) {
      const through = context.views.notes.throughUuid
      return through === undefined ? undefined : { through, boundary: lastBoundary(context), unfit: 0 }
    },
    due: () => undefined,
    write: async () => ({ drafts: [] }),
  })
  if (startedAt) draft.begin({ now: startedAt, runInBackground: () => undefined } as unknown as LayerContext, "near")
  return { draft, asksModel: true, summary: async () => summary() }
}
