/**
 * What the model must know and the messages in view do not say: the mode and the date, which tools wait to be loaded, what tools say about
 * themselves. Each is said in a message where it is due, so nothing before that message changes and the server's cache still fits.
 */

import { isDeepStrictEqual } from "node:util"
import { dayOf } from "../../base/clock.ts"
import type { PermissionMode } from "../../base/vocabulary.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { nameOf } from "../../messages/blocks.ts"
import { isRequest, type Message } from "../../messages/messages.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import { SEARCH_TOOL } from "../../tools/deferred/deferrable.ts"
import type { DeferredTools, ToolsInView } from "../../tools/deferred/deferred-tools.ts"
import { deferredListing } from "../../tools/deferred/listing.ts"
import { toolDefinition } from "../../tools/definition/definition.ts"
import type { DeferredToolAccess, Tool } from "../../tools/tool.ts"
import type { ContextView } from "../../views/context/context.ts"
import { loadedTools } from "../../views/context/request.ts"
import { judge, type PermissionPolicy } from "../permissions/permissions.ts"

/** The mode that a model assumes where nothing is said. */
const UNSAID_MODE: PermissionMode = "ask"

interface ChangingFacts {
  readonly mode: PermissionMode
  /** The time now. Absent where the caller's own system prompt decides what the model knows. */
  readonly now?: Date
}

/** What the messages in view do not say yet, or no longer. */
export function factsDue(context: ContextView, { mode, now }: ChangingFacts): readonly Attachment[] {
  return [...(now ? dateDue(context, dayOf(now)) : []), ...modeDue(context, mode)]
}

function modeDue({ said }: ContextView, mode: PermissionMode): readonly Attachment[] {
  const before = said.mode
  if ((before ?? UNSAID_MODE) === mode) return []
  return [{ type: "permission_mode", mode, ...(before === undefined ? {} : { before }) }]
}

/** A new day is said with a message of the person, so that work that goes on over midnight is not interrupted. */
function dateDue(context: ContextView, date: string): readonly Attachment[] {
  const { said } = context
  if (said.date === date) return []
  return said.date === undefined || context.sinceResponse().some(isRequest) ? [{ type: "date", date }] : []
}

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
export function introductionsOfLater({ revision, introductions }: DeferredToolAccess) {
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

export function toolsInView(context: ContextView): ToolsInView {
  const { tools } = context.prompt ?? {}
  return {
    offered: Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : [],
    loaded: () => loadedTools(context.storedMessages()),
  }
}

/** Where a rule denies ToolSearch, nothing could load a tool, so none may wait. */
export function maySearchTools(policy: PermissionPolicy): boolean {
  const question = { kind: "other" as const, summary: "search for tools" }
  return judge({ tool: SEARCH_TOOL, isReadOnly: true, needsApproval: false, question }, policy).verdict !== "deny"
}

/** About how many tokens the definition of a tool takes that may wait, by name. */
export async function definitionSizes(
  tools: readonly Tool[],
  { deferrable, growth, family }: Pick<DeferredTools, "deferrable" | "growth"> & Pick<ContextView, "family">,
): Promise<(name: string) => number> {
  const estimate = createEstimator(family).text // not what is learnt later: the same list must always say the same
  const sizeOf = (definition: ToolDefinition) => estimate(JSON.stringify(definition))
  const sized = tools
    .filter(({ name }) => deferrable.has(name))
    .map(async (tool) => [tool.name, sizeOf(await toolDefinition(tool))] as const)
  const atOpening = new Map(await Promise.all(sized))
  return (name) => {
    const known = atOpening.get(name)
    if (known !== undefined) return known
    const late = growth?.known().find((definition) => nameOf(definition) === name)
    return late ? sizeOf(late) : 0
  }
}

/** What is due before a request. While the prompt and the last list are the same, nothing is computed. */
export function listingDue(deferred: DeferredTools, sizeOf: (name: string) => number) {
  let settled: { readonly prompt: unknown; readonly said: unknown; readonly revision: unknown } | undefined
  return ({ prompt, said }: Pick<ContextView, "prompt" | "said">): readonly Attachment[] => {
    const revision = deferred.growth?.revision()
    if (settled?.revision === revision && settled?.prompt === prompt && settled?.said === said.deferred) return []
    const names = deferred.waiting().map(({ name }) => name)
    const tokens = Math.round(names.reduce((sum, name) => sum + sizeOf(name), 0))
    const listing = deferredListing(names, tokens)
    if (said.deferred ? isSame(said.deferred, listing) : names.length === 0) {
      settled = { prompt, said: said.deferred, revision }
      return []
    }
    return [listing]
  }
}

function isSame({ belongsTo: _, ...known }: Attachment, listing: Attachment): boolean {
  return isDeepStrictEqual(known, asJournaled(listing))
}
