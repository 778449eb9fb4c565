/**
 * Pending notices: facts that the model must know and that the messages in view do not contain: mode, date, deferred tools, introductions
 * of tools. Each is attached to the next message, so that nothing earlier changes and the server's cache still matches.
 */

import { isDeepStrictEqual } from "node:util"
import { utcDay } from "../../base/clock.ts"
import type { PermissionMode } from "../../base/enums.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { toolName } from "../../messages/blocks.ts"
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

/** The mode that a model assumes without a notice. */
const ASSUMED_MODE: PermissionMode = "ask"

interface ChangingFacts {
  readonly mode: PermissionMode
  /** The current time. Absent if a custom system prompt decides what the model knows. */
  readonly now?: Date
}

/** Notices about mode and date that the messages in view lack. */
export function pendingFacts(context: ContextView, { mode, now }: ChangingFacts): readonly Attachment[] {
  return [...(now ? pendingDate(context, utcDay(now)) : []), ...pendingMode(context, mode)]
}

function pendingMode({ announced }: ContextView, mode: PermissionMode): readonly Attachment[] {
  const before = announced.mode
  if ((before ?? ASSUMED_MODE) === mode) return []
  return [{ type: "permission_mode", mode, ...(before === undefined ? {} : { before }) }]
}

/** A notice about a new date. It accompanies a message of the user, so that work over midnight is not interrupted. */
function pendingDate(context: ContextView, date: string): readonly Attachment[] {
  const { announced } = context
  if (announced.date === date) return []
  return announced.date === undefined || context.sinceResponse().some(isRequest) ? [{ type: "date", date }] : []
}

export interface SeenIntroductions {
  /** Messages in view. */
  readonly messages: readonly Message[]
  /** Whether there was a boundary, after which the list of skills is not sent again. */
  readonly isCompacted: boolean
}

export function pendingIntroductions(
  introductions: readonly Attachment[],
  { messages, isCompacted }: SeenIntroductions,
): readonly Attachment[] {
  const attached = messages.flatMap((message) => (message.type === "attachment" ? [message.attachment] : []))
  return introductions.filter((introduction) => {
    const last = attached.findLast((earlier) => hasSameSubject(earlier, introduction))
    if (last === undefined) return !(isCompacted && introduction.type === "skill_listing")
    return !isDeepStrictEqual(asJournaled(last), asJournaled(introduction))
  })
}

/** Introductions of tools that arrived after opening. Nothing is computed while the list is unchanged. */
export function createLateIntroductions({ revision, introductions }: DeferredToolAccess) {
  let known = 0
  return (context: Pick<ContextView, "storedMessages">): readonly Attachment[] => {
    if (revision() === known) return []
    known = revision()
    return pendingIntroductions(introductions(), { messages: context.storedMessages(), isCompacted: false })
  }
}

const hasSameSubject = (a: Attachment, b: Attachment): boolean => a.type === b.type && serverOf(a) === serverOf(b)

const serverOf = (attachment: Attachment) => (attachment.type === "mcp_instructions" ? attachment.server : undefined)

/** The attachment as journaled, without undefined fields. */
const asJournaled = (attachment: Attachment): unknown => JSON.parse(JSON.stringify(attachment))

export function toolsInView(context: ContextView): ToolsInView {
  const { tools } = context.prompt ?? {}
  return {
    offered: Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : [],
    loaded: () => loadedTools(context.storedMessages()),
  }
}

/** Whether tools can be deferred: not if a rule denies ToolSearch, because nothing could load them. */
export function maySearchTools(policy: PermissionPolicy): boolean {
  const question = { kind: "other" as const, summary: "search for tools" }
  return judge({ tool: SEARCH_TOOL, isReadOnly: true, needsApproval: false, question }, policy).verdict !== "deny"
}

/** Estimates the tokens of the definitions of deferrable tools, by name. */
export async function definitionSizes(
  tools: readonly Tool[],
  { deferrable, growth, family }: Pick<DeferredTools, "deferrable" | "growth"> & Pick<ContextView, "family">,
): Promise<(name: string) => number> {
  const estimate = createEstimator(family).text // not the calibrated estimator, because the same list must always give the same text
  const sizeOf = (definition: ToolDefinition) => estimate(JSON.stringify(definition))
  const sized = tools
    .filter(({ name }) => deferrable.has(name))
    .map(async (tool) => [tool.name, sizeOf(await toolDefinition(tool))] as const)
  const atOpening = new Map(await Promise.all(sized))
  return (name) => {
    const known = atOpening.get(name)
    if (known !== undefined) return known
    const late = growth?.known().find((definition) => toolName(definition) === name)
    return late ? sizeOf(late) : 0
  }
}

/** The list of deferred tools if it changed. Nothing is computed while the prompt and the last list are the same. */
export function createToolListing(deferred: DeferredTools, sizeOf: (name: string) => number) {
  let lastListed: { readonly prompt: unknown; readonly announced: unknown; readonly revision: unknown } | undefined
  return ({ prompt, announced }: Pick<ContextView, "prompt" | "announced">): readonly Attachment[] => {
    const revision = deferred.growth?.revision()
    if (
      lastListed?.revision === revision &&
      lastListed?.prompt === prompt &&
      lastListed?.announced === announced.deferred
    )
      return []
    const names = deferred.waiting().map(({ name }) => name)
    const tokens = Math.round(names.reduce((sum, name) => sum + sizeOf(name), 0))
    const listing = deferredListing(names, tokens)
    if (announced.deferred ? isSame(announced.deferred, listing) : names.length === 0) {
      lastListed = { prompt, announced: announced.deferred, revision }
      return []
    }
    return [listing]
  }
}

function isSame({ belongsTo: _, ...known }: Attachment, listing: Attachment): boolean {
  return isDeepStrictEqual(known, asJournaled(listing))
}
