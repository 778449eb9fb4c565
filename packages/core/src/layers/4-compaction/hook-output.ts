/**
 * What hooks say to the model after a compaction, within the room that is left: a hook that prints a whole file must not fill the context
 * that was just emptied.
 */
import type { Attachment } from "../../messages/attachments.ts"
import { cutText, type Estimate } from "./cut-text.ts"
import { sizeOf } from "./restore/file-page.ts"

export interface HookWords {
  readonly hook: string
  readonly text: string
}

export interface HookRoom {
  /** Tokens for all together. */
  readonly room: number
  readonly estimate: Estimate
}

export interface HookOutput {
  readonly attachments: readonly Attachment[]
  readonly tokens: number
}

const CUT = "\n[Cut here: the hook said more than there is room for.]"

/** In the order they spoke. What does not fit is cut; it is left out where not even its beginning fits. */
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
