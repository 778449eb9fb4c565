/**
 * The tools of a conversation that may wait to be loaded, with the two tools that load and call them. What is loaded comes from the journal,
 * so a resumed conversation knows it too.
 */

import type { ToolDefinition } from "../../messages/request.ts"
import { isDeferred, nameOf } from "../../messages/tool-references.ts"
import type { Tool } from "../tool.ts"
import { callTool } from "./call-tool.ts"
import type { LoadedNames } from "./declare.ts"
import { CALL_TOOL, isDeferrable, SEARCH_TOOL } from "./deferrable.ts"
import { type Offer, type ToolsOffered, toolSearch } from "./tool-search.ts"

/** What the journal says about tools. */
export interface ToolsInView {
  /** Those of the prompt in force. */
  readonly offered: readonly ToolDefinition[]
  readonly loaded: () => LoadedNames
}

export interface DeferredTools {
  /** Names of the tools that may wait. */
  readonly deferrable: ReadonlySet<string>
  readonly search: Tool
  readonly call: Tool
  /** Those that the model does not see now, in order. */
  waiting(): readonly Tool[]
}

/** Absent where no tool may wait, or where a tool of yours has the name of one of the two. */
export function deferredTools(tools: readonly Tool[], inView: () => ToolsInView): DeferredTools | undefined {
  const deferrable = tools.filter(isDeferrable)
  const isTaken = tools.some(({ name }) => name === SEARCH_TOOL || name === CALL_TOOL)
  if (deferrable.length === 0 || isTaken) return undefined
  const names = new Set(deferrable.map(({ name }) => name))
  const isDeferring = () => inView().offered.some((tool) => nameOf(tool) === SEARCH_TOOL)
  const offers = () => offersIn(inView())
  const waiting = () => {
    const { offerOf } = offers()
    return isDeferring() ? deferrable.filter(({ name }) => offerOf(name) !== "declared") : []
  }
  const unseen = () => {
    const { isLoaded } = offers()
    return isDeferring() ? new Set(waiting().flatMap(({ name }) => (isLoaded(name) ? [] : name))) : undefined
  }
  const search: Tool = { ...toolSearch({ tools: deferrable, offered: offers }), unseen }
  return { deferrable: names, search, call: callTool(names), waiting }
}

function offersIn({ offered, loaded }: ToolsInView): ToolsOffered {
  const byName = new Map(offered.map((tool) => [nameOf(tool), tool]))
  let known: LoadedNames | undefined // looks at all messages, so only where it is asked for
  const offerOf = (name: string): Offer => {
    const tool = byName.get(name)
    return tool === undefined ? "by-name" : isDeferred(tool) ? "by-reference" : "declared"
  }
  const isLoaded = (name: string) => {
    known ??= loaded()
    return known.referenced.has(name) || (known.said.has(name) && offerOf(name) === "by-name")
  }
  return { offerOf, isLoaded }
}
