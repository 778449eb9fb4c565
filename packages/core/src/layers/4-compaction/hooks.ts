/** What the person and hooks want of a summary before it is written, and what hooks say to the model after it. */
import type { Attachment } from "../../messages/attachments.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import { cutText, type Estimate } from "./cut-text.ts"
import { sizeOf } from "./restore/files.ts"
import type { Begun } from "./situation.ts"

interface Wishes {
  /** The user's first, then those of hooks. */
  readonly instructions: readonly string[]
  /** The same in one text, where hooks have changed it. */
  readonly wishes: string | undefined
  /** Why a hook does not allow it. */
  readonly blocked: string | undefined
}

export async function askHooks({ context, order, around: { hooks, guidance } }: Begun): Promise<Wishes> {
  const { trigger, instructions = "" } = order
  const own = [instructions, ...(guidance?.() ?? [])].filter((text) => text.trim() !== "")
  if (!hooks) return { instructions: own, wishes: undefined, blocked: undefined }
  const { signal, progress } = context
  const about = { trigger, instructions: own.join("\n\n"), signal, progress }
  const asked = await unlessInterrupted(signal, hooks.before(about))
  if (asked.state === "interrupted") throw context.signal.reason
  const answer = asked.value
  for (const message of answer.messages) context.progress({ phase: "message", message })
  return {
    instructions: [answer.instructions].filter((text) => text !== ""),
    wishes: answer.instructions.trim() === about.instructions.trim() ? undefined : answer.instructions,
    blocked: answer.blocked,
  }
}

interface HookWords {
  readonly hook: string
  readonly text: string
}

interface HookRoom {
  /** Tokens for all together. */
  readonly room: number
  readonly estimate: Estimate
}

interface HookOutput {
  readonly attachments: readonly Attachment[]
  readonly tokens: number
}

const CUT = "\n[Cut here: the hook said more than there is room for.]"

/**
 * What hooks say to the model after a compaction, within the room that is left: a hook that prints a whole file must not fill the context
 * that was just emptied. In the order they spoke. What does not fit is cut; it is left out where not even its beginning fits.
 */
export function hookOutput(said: readonly HookWords[], { room, estimate }: HookRoom): HookOutput {
  const attachments: Attachment[] = []
  let tokens = 0
  for (const { hook, text } of said) {
    const attachment = (content: string): Attachment => ({ type: "hook_output", hook, content })
    const size = (content: string) => sizeOf(attachment(content), estimate)
    const left = room - tokens
    const content = size(text) <= left ? text : beginning(text, { room: left - size(CUT), estimate })
    if (content === "") continue
    attachments.push(attachment(content))
    tokens += size(content)
  }
  return { attachments, tokens }
}

function beginning(text: string, { room, estimate }: HookRoom): string {
  const kept = room > 0 ? cutText({ text, limit: room, estimate }) : ""
  return kept.trim() === "" ? "" : `${kept}${CUT}`
}
