/** What a conversation stops sending after the API refused a request because of it: images and documents, and blocks it does not take back. */
import { refusedMedia } from "../views/context/withheld-media.ts"
import type { Engine } from "./engine.ts"
import { repairDrafts } from "./request-preparer.ts"

/** Resolves with how many images and documents that changed. */
export async function withholdMedia(
  { record, views, model, isOff }: Engine,
  { which, why }: { readonly which: "new" | "all"; readonly why: string },
): Promise<number> {
  if (isOff) return 0
  const drafts = refusedMedia(views.context, { which, why, boundThinking: model.facts.accepts.boundThinking })
  await record.append(drafts)
  return drafts.reduce((sum, draft) => sum + (draft.subtype === "media-withheld" ? draft.blocks.length : 0), 0)
}

/** Leaves out what came from the API and is sent back: blocks that this version does not know, and a signed summary. Resolves with how many. */
export async function leaveOutReceived({ record, views, model, isOff }: Engine): Promise<number> {
  const repairs = views.context.receivedBlocks()
  if (repairs.length === 0 || isOff) return 0
  await record.append(repairDrafts(repairs, { dropsThinking: model.facts.accepts.boundThinking }))
  record.events.emit("repaired", { repairs })
  return repairs.length
}
