/** What a conversation stops sending after the API refused a request because of it: media, thinking, and blocks it does not take back. */

import { isThinking } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import { refusesThinking } from "../model/refused-thinking.ts"
import { refusedMedia } from "../views/context/context.ts"
import type { Engine } from "./engine.ts"
import { repairDrafts } from "./request-preparer.ts"

/** Why the API refused a request, where another one can be sent in its place. */
export type NotedRefusal = "too-long" | "thinking"

export async function noteRefusal(engine: Engine, error: unknown): Promise<NotedRefusal | undefined> {
  engine.mustBeOpen()
  const { limits, model } = engine.window
  if (await limits.noteRefusal(error, model)) return "too-long"
  if (!refusesThinking(error)) return undefined
  return engine.inOrder(async () => ((await dropRefusedThinking(engine)) ? "thinking" : undefined))
}

/** Sends a text in place of images and documents: the unanswered ones, or all. Resolves with how many that changed. */
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

/** Leaves out what came from the API and is sent back: blocks that this version does not know, and a signed summary. Resolves with how many. */
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

/** Leaves out the thinking of all answers so far, because the server does not take it. Resolves with whether there was any. */
export async function dropRefusedThinking({ record, views, isOff }: Engine): Promise<boolean> {
  const thinking = views.context
    .storedMessages()
    .flatMap((message) => (message.type === "assistant" && contentOf(message).some(isThinking) ? message : []))
  if (thinking.length === 0 || isOff) return false
  await record.append([{ type: "strata", subtype: "thinking-dropped", why: "the server refused it" }])
  const answers = new Set(thinking.map(({ uuid, message }) => message.id ?? uuid)).size // an answer may be in pieces
  record.events.emit("notice", { message: refusedSentence(answers) })
  return true
}

const refusedSentence = (answers: number): string =>
  `The server does not accept the thinking of ${answers === 1 ? "1 earlier answer" : `${answers} earlier answers`}, so it is left out from now on; the journal keeps it.`
