/** Step 3, summarise. The notes serve as the summary, without a model call. Messages that they do not cover yet are kept as they were. */

import type { DraftHolder } from "../../3-session-memory/draft.ts"
import type { LayerContext } from "../../layer.ts"
import { type Cut, cutAfter, cutAfterNotes } from "../cut.ts"
import type { Route, RouteInput } from "./route.ts"

/** What keeps the notes. */
export interface NotesSource {
  readonly draft: DraftHolder
  readonly asksModel: boolean
  /** The notes with every section cut to the limit; `undefined` where there is only the bare template. */
  summary(context: LayerContext): Promise<string | undefined>
}

interface NotesRouteOptions {
  readonly source: Pick<NotesSource, "summary"> & { readonly draft: Pick<DraftHolder, "running"> }
  /** Resolves after this time, or when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

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
      if (mayWait(input)) await waitForUpdate(context)
      const notes = await source.summary(context)
      if (notes === undefined) return { kind: "passed", message: "there are no notes" }
      const cut = cutFor(input)
      if (!cut) return { kind: "passed", message: "the notes do not say how far they go" }
      return { kind: "summary", text: `Summary:\n${notes}`, cut, responses: [] }
    },
  }

  async function waitForUpdate({ flags, now, signal }: LayerContext): Promise<void> {
    const update = source.draft.running
    if (!update || now.getTime() - update.startedAt.getTime() > flags.figures["notes-wait-age"] * 1_000) return
    const enough = new AbortController()
    const limit = wait(flags.figures["notes-wait"] * 1_000, AbortSignal.any([signal, enough.signal]))
    await Promise.race([update.done, limit])
    enough.abort()
  }
}

/** Only someone who asked for a compaction waits, a request for which there is no room, and where nothing is written in the background. */
const mayWait = ({ order, context: { fill, flags } }: RouteInput): boolean =>
  order.trigger === "manual" || order.overflowed === true || fill.state === "blocked" || !flags.on["compact-ahead"]

const areOn = ({ flags: { on } }: LayerContext) => on.notes && on["compact-from-notes"]

/** Only where it would summarise a round. The planner keeps as little as after a summary; by hand and without it, a working context stays. */
function cutFor({ context, order, cutInput }: RouteInput): Cut | undefined {
  const through = context.views.notes.throughUuid
  const isPlanned = order.trigger === "auto" && context.flags.planner !== "off" && through !== undefined
  const cut = isPlanned ? cutAfter(cutInput, through) : cutAfterNotes(cutInput, through)
  return cut?.summarised.some(({ type }) => type === "assistant") ? cut : undefined
}
