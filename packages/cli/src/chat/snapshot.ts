/** What of an agent's conversation is shown beside what was said: where it stands, what waits, what it is called. */

import type { Agent } from "@strata/core/agent"
import { summarise, textOf } from "@strata/core/parts"
import type { Item, QueuedInput, Status } from "./state.ts"

export function statusOf({ chat, model, mode }: Agent): Status {
  const { percentLeft, state } = chat.fill()
  const { dollars, unpriced, requests } = summarise(chat.views.ledger)
  return {
    model: model.name,
    mode,
    percentLeft,
    isContextLow: state !== "fine",
    dollars,
    isPriceIncomplete: unpriced.length > 0,
    turns: requests,
  }
}

/** LOOP-7: what was typed while the agent worked and has not been delivered yet. */
export function queuedOf({ chat }: Agent): readonly QueuedInput[] {
  return chat.views.context.queued.flatMap((message) =>
    message.type === "user" ? [{ uuid: message.uuid, text: textOf(message.message.content) }] : [],
  )
}

export function headingOf({ chat }: Agent, cwd: string): Item {
  if (chat.views.words.messages.length === 0)
    return { kind: "heading", text: `Strata in ${cwd}. /help lists what you can do.` }
  const title = chat.views.context.session?.title ?? "A conversation without a title"
  return { kind: "heading", text: `${title} (${chat.id.slice(0, 8)})` }
}
