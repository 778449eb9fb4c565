/**
 * L4-5 to L4-9: the notes that were kept while the work went on serve as the summary, without any model call. What they do not tell yet is
 * kept as it was.
 */
import type { LayerContext } from "../../layer.ts"
import { type Cut, cutBehindNotes } from "../cut.ts"
import type { Route, RouteInput } from "./route.ts"

/** Who keeps notes. */
export interface NotesSource {
  /** The update under way, if any. */
  running(): { readonly startedAt: Date; readonly done: Promise<void> } | undefined
  /** The notes with every section cut to the limit; `undefined` where there is no more than the bare template (L4-8). */
  summary(context: LayerContext): Promise<string | undefined>
}

export interface NotesRouteOptions {
  readonly source: NotesSource
  /** Resolves after so long, or when the signal says so. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

const TOO_OLD_MS = 60_000 // an update that runs longer than this is not waited for

export function fromNotes({ source, wait }: NotesRouteOptions): Route {
  return {
    name: "notes",
    mustReachThreshold: true,

    async cut(input) {
      return areOn(input.context) && (await source.summary(input.context)) ? cutFor(input) : undefined
    },

    async summarise(input) {
      const { context } = input
      if (!areOn(context)) return { kind: "passed", message: "notes are switched off" }
      await waitForUpdate(context)
      const notes = await source.summary(context)
      if (notes === undefined) return { kind: "passed", message: "there are no notes" }
      const cut = cutFor(input)
      if (!cut) return { kind: "passed", message: "the notes do not tell how far they go" }
      return { kind: "summary", text: `Summary:\n${notes}`, cut, responses: [] }
    },
  }

  async function waitForUpdate({ flags, now, signal }: LayerContext): Promise<void> {
    const update = source.running()
    if (!update || now.getTime() - update.startedAt.getTime() > TOO_OLD_MS) return
    const enough = new AbortController()
    const limit = wait(flags.figures["notes-wait"] * 1_000, AbortSignal.any([signal, enough.signal]))
    await Promise.race([update.done, limit])
    enough.abort()
  }
}

const areOn = ({ flags: { on } }: LayerContext) => on.notes && on["compact-from-notes"]

/** Only where a round would be summarised by it. */
function cutFor({ context, cutInput }: RouteInput): Cut | undefined {
  const cut = cutBehindNotes(cutInput, context.views.notes.throughUuid)
  return cut?.summarised.some(({ type }) => type === "assistant") ? cut : undefined
}
