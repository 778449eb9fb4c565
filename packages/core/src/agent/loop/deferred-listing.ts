/**
 * Tells the model which tools wait to be loaded: in a message, once, and again where the list has changed or a boundary took it away. So a
 * server that comes or goes changes nothing before that message.
 */
import { isDeepStrictEqual } from "node:util"
import type { Attachment } from "../../messages/attachments.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import { nameOf } from "../../messages/tool-references.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import { SEARCH_TOOL } from "../../tools/deferred/deferrable.ts"
import type { DeferredTools, ToolsInView } from "../../tools/deferred/deferred-tools.ts"
import { deferredListing } from "../../tools/deferred/listing.ts"
import { toolDefinition } from "../../tools/definition/definition.ts"
import type { Tool } from "../../tools/tool.ts"
import type { ContextView } from "../../views/context/context.ts"
import { loadedTools } from "../../views/context/loaded-tools.ts"
import { judge, type PermissionPolicy } from "../permissions/permissions.ts"

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

/** An attachment of a journal has no fields that are undefined. */
function isSame({ belongsTo: _, ...known }: Attachment, listing: Attachment): boolean {
  return isDeepStrictEqual(known, JSON.parse(JSON.stringify(listing)))
}
