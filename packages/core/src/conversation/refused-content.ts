/** Omits content after the API refused a request because of it: media, thinking, and blocks that it does not accept back. */

import { isThinking } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import { refusesThinking } from "../model/refused-thinking.ts"
import { refusedMedia } from "../views/context/context.ts"
import type { Engine } from "./engine.ts"
import { repairDrafts } from "./request-preparer.ts"

/** Reason why the API refused a request, if another request can replace it. */
export type NotedRefusal = "too-long" | "thinking"

export async function noteRefusal(engine: Engine, error: unknown): Promise<NotedRefusal | undefined> {
  engine.mustBeOpen()
  const { limits, model } = engine.window
  if (await limits.noteRefusal(error, model)) return "too-long"
  if (!refusesThinking(error)) return undefined
  return engine.inOrder(async () => ((await dropRefusedThinking(engine)) ? "thinking" : undefined))
}

/** Replaces images and documents by a text: the unanswered ones, or all. Resolves with their number. */
export function withholdMedia(
  engine: Engine,
  { which, why }: { readonly which: "new" | "all"; readonly why: string },
): Promise<number> {
  return engine.inOrder(async () => {
    const { record, views, model, isOff } = engine
    if (isOff) return 0
    const drafts = refusedMedia(views.context, { which, why, boundThinking: model.facts.accepts.boundThinking })
    await record.append(drafts)
    return drafts.reduce((sum, draft) => sum + (draft.subtype === "media-withheld" ? draft.blocks.length : 0), 0)
  })
}

/**
 * Omits content of the API that it does not accept back: blocks that this version does not know, and a signed summary. Resolves with their
 * number.
 */
export function leaveOutReceived(engine: Engine): Promise<number> {
  return engine.inOrder(async () => {
    const { record, views, model, isOff } = engine
    const repairs = views.context.receivedBlocks()
    if (repairs.length === 0 || isOff) return 0
    await record.append(repairDrafts(repairs, { dropsThinking: model.facts.accepts.boundThinking }))
    record.events.emit("repaired", { repairs })
    return repairs.length
  })
}

/** Omits the thinking of all responses so far, because the server refuses it. Resolves with whether there was any. */
export async function dropRefusedThinking({ record, views, isOff }: Engine): Promise<boolean> {
  const thinking = views.context
    .storedMessages()
    .flatMap((message) => (message.type === "assistant" && contentOf(message).some(isThinking) ? message : []))
  if (thinking.length === 0 || isOff) return false
  await record.append([{ type: "strata", subtype: "thinking-dropped", why: "the server refused it" }])
  const answers = new Set(thinking.map(({ uuid, message }) => message.id ?? uuid)).size // a response may consist of several messages
  record.events.emit("notice", { message: refusedSentence(answers) })
  return true
}

const refusedSentence = (answers: number): string =>
  `The server does not accept the thinking of ${answers === 1 ? "1 earlier answer" : `${answers} earlier answers`}, so it is omitted from now on. The journal still contains it.`
