/**
 * Step 5, restore. What attachments said before the boundary and must still apply after it: skills in use, agents, loaded tools, tool
 * servers' instructions. Pure. What a kept message shows is not repeated. The skill listing is not sent again.
 */
import type { AddedTool, Attachment, AttachmentKind } from "../../../messages/attachments.ts"
import { contentOf, type Message, type Uuid } from "../../../messages/messages.ts"
import { referencesIn } from "../../../messages/tool-references.ts"
import type { Agents } from "../../../views/record/agents.ts"
import { cutText, type Estimate } from "../cut-text.ts"
import { sizeOf } from "./files.ts"

export interface AttachedBefore {
  /** Since the last boundary, in order. */
  readonly messages: readonly Message[]
  /** Those of them that stay in view. */
  readonly kept: ReadonlySet<Uuid>
}

interface SkillLimits {
  readonly estimate: Estimate
  /** Tokens of one, and of all together. */
  readonly each: number
  readonly together: number
}

type Of<Kind extends AttachmentKind> = Extract<Attachment, { type: Kind }>

interface Placed<Kind extends AttachmentKind> {
  readonly attachment: Of<Kind>
  /** It is in a message that stays in view. */
  readonly isKept: boolean
}

/** The newest first, each as it was last used, as far as there is room. */
export function skillsInUse(before: AttachedBefore, { estimate, each, together }: SkillLimits): readonly Attachment[] {
  const newestFirst = allOf("skill_content", before).toReversed()
  const byName = new Map<string, Placed<"skill_content">>()
  for (const placed of newestFirst) {
    if (!byName.has(placed.attachment.name)) byName.set(placed.attachment.name, placed)
  }
  let room = together
  return [...byName.values()].flatMap(({ attachment, isKept }) => {
    const shown = isKept ? undefined : withinLimit(attachment, { estimate, limit: Math.min(each, room) })
    if (shown === undefined) return []
    room -= sizeOf(shown, estimate)
    return [shown]
  })
}

/** Empty where not even the beginning fits. */
function withinLimit(
  { name, content }: Of<"skill_content">,
  { estimate, limit }: { readonly estimate: Estimate; readonly limit: number },
): Attachment | undefined {
  const attachment = (text: string): Attachment => ({ type: "skill_content", name, content: text })
  if (sizeOf(attachment(content), estimate) <= limit) return attachment(content)
  const marker = `\n[Cut here: the instructions go on. Use the skill ${JSON.stringify(name)} again to see all of them.]`
  const room = limit - sizeOf(attachment(marker), estimate)
  const beginning = room > 0 ? cutText({ text: content, limit: room, estimate }) : ""
  return beginning.trim() === "" ? undefined : attachment(`${beginning}${marker}`)
}

/**
 * The agents that the journal knows, because no attachment says that one is running. Where it knows none, as in a transcript of another
 * program, the newest attachment about them. An agent that a call waited for is in the call's result.
 */
export function agentStatus(before: AttachedBefore, agents?: Pick<Agents, "roster">): readonly Attachment[] {
  const started = [...(agents?.roster.values() ?? [])].filter(({ isOnPath }) => isOnPath)
  if (started.length === 0) return unlessKept(allOf("agent_status", before).at(-1))
  const shown = started.filter(({ kind }) => kind !== "wait")
  const statuses = shown.map(({ id, name, status, description }) => ({ id, name, status, summary: description }))
  return statuses.length === 0 ? [] : [{ type: "agent_status", agents: statuses }]
}

export function agentListing(before: AttachedBefore): readonly Attachment[] {
  return unlessKept(allOf("agent_listing", before).at(-1))
}

/**
 * Tools that were added or loaded and are still there, and those that are gone although a kept message says they were added. A loaded tool
 * is declared from the boundary on, so its name is enough.
 */
export function toolSet(before: AttachedBefore): readonly Attachment[] {
  const there = new Map<string, { readonly tool: AddedTool; readonly isKept: boolean }>()
  const gone = new Set<string>()
  for (const { change, isKept } of toolChanges(before)) {
    for (const name of change.removed) {
      if (there.get(name)?.isKept && !isKept) gone.add(name)
      there.delete(name)
    }
    for (const tool of change.added) {
      there.set(tool.name, { tool, isKept })
      gone.delete(tool.name)
    }
  }
  const added = [...there.values()].filter(({ isKept }) => !isKept).map(({ tool }) => tool)
  const removed = [...gone]
  return added.length + removed.length === 0 ? [] : [{ type: "tool_delta", added, removed }]
}

interface PlacedChange {
  readonly change: Pick<Of<"tool_delta">, "added" | "removed">
  readonly isKept: boolean
}

/** In the order of the messages: what attachments say, and what references in results have loaded. */
function toolChanges({ messages, kept }: AttachedBefore): readonly PlacedChange[] {
  return messages.flatMap((message): PlacedChange[] => {
    if (message.isSidechain) return []
    const isKept = kept.has(message.uuid)
    if (message.type === "attachment")
      return message.attachment.type === "tool_delta" ? [{ change: message.attachment, isKept }] : []
    if (message.type !== "user") return []
    const added = contentOf(message)
      .flatMap(referencesIn)
      .map((name): AddedTool => ({ name, loaded: true }))
    return added.length > 0 ? [{ change: { added, removed: [] }, isKept }] : []
  })
}

/** The newest of each server, in the order in which the servers appeared. */
export function serverInstructions(before: AttachedBefore): readonly Attachment[] {
  const newest = new Map(allOf("mcp_instructions", before).map((placed) => [placed.attachment.server, placed]))
  return [...newest.values()].flatMap(unlessKept)
}

function allOf<Kind extends AttachmentKind>(kind: Kind, { messages, kept }: AttachedBefore): readonly Placed<Kind>[] {
  return messages.flatMap((message) => {
    if (message.type !== "attachment" || message.isSidechain || message.attachment.type !== kind) return []
    const { belongsTo: _, ...attachment } = message.attachment // what it belonged to is gone
    return [{ attachment: attachment as Of<Kind>, isKept: kept.has(message.uuid) }]
  })
}

function unlessKept(
  placed: { readonly attachment: Attachment; readonly isKept: boolean } | undefined,
): readonly Attachment[] {
  return placed === undefined || placed.isKept ? [] : [placed.attachment]
}
