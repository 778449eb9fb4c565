/**
 * What tools say about themselves: the list of skills, instructions of tool servers. It is attached at the start. After a resume only
 * what has changed is attached, so nothing before it changes.
 */
import { isDeepStrictEqual } from "node:util"
import type { Attachment } from "../../messages/attachments.ts"
import type { Message } from "../../messages/messages.ts"
import type { LaterTools } from "../../tools/tool.ts"
import type { ContextView } from "../../views/context/context.ts"

export interface Known {
  /** Those in view. */
  readonly messages: readonly Message[]
  /** Whether there was a boundary: the list of skills is not sent again after one. */
  readonly isCompacted: boolean
}

export function introductionsDue(
  introductions: readonly Attachment[],
  { messages, isCompacted }: Known,
): readonly Attachment[] {
  const attached = messages.flatMap((message) => (message.type === "attachment" ? [message.attachment] : []))
  return introductions.filter((introduction) => {
    const last = attached.findLast((earlier) => isAboutTheSame(earlier, introduction))
    if (last === undefined) return !(isCompacted && introduction.type === "skill_listing")
    return !isDeepStrictEqual(asJournaled(last), asJournaled(introduction))
  })
}

/** What is due of tools that came after the opening. While none came, nothing is computed. */
export function introductionsOfLater({ revision, introductions }: LaterTools) {
  let known = 0
  return (context: Pick<ContextView, "storedMessages">): readonly Attachment[] => {
    if (revision() === known) return []
    known = revision()
    return introductionsDue(introductions(), { messages: context.storedMessages(), isCompacted: false })
  }
}

const isAboutTheSame = (a: Attachment, b: Attachment): boolean => a.type === b.type && serverOf(a) === serverOf(b)

const serverOf = (attachment: Attachment) => (attachment.type === "mcp_instructions" ? attachment.server : undefined)

/** Without fields that are undefined. */
const asJournaled = (attachment: Attachment): unknown => JSON.parse(JSON.stringify(attachment))
