/**
 * Deferred tools of a conversation, with the two tools that load and call them. The journal records which tools are loaded, so a resumed
 * conversation knows them too.
 */

import * as z from "zod/v4"
import { promptText } from "../../base/text.ts"
import { isDeferred, toolName } from "../../messages/blocks.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import { toolDefinition } from "../definition/definition.ts"
import type { DeferredToolAccess, ForwardedCall, Tool } from "../tool.ts"
import type { LoadedNames } from "./declare.ts"
import { CALL_TOOL, isDeferrable, SEARCH_TOOL } from "./deferrable.ts"
import { type Offer, type ToolOffers, toolSearch } from "./tool-search.ts"

/** The tools of a conversation according to its journal. */
export interface ToolsInView {
  /** Tool definitions of the current prompt. */
  readonly offered: readonly ToolDefinition[]
  readonly loaded: () => LoadedNames
}

export interface DeferredTools {
  /** Names of the tools that can be deferred. */
  readonly deferrable: ReadonlySet<string>
  readonly search: Tool
  readonly call: Tool
  /** Tools that are currently not declared, in order. */
  waiting(): readonly Tool[]
  /** Absent if no tools arrive after opening. */
  readonly growth?: ToolGrowth
}

export interface ToolGrowth extends Pick<DeferredToolAccess, "isExpected" | "revision"> {
  definitions(): Promise<readonly ToolDefinition[]>
  /** The last result of `definitions`. */
  known(): readonly ToolDefinition[]
}

/** `undefined` if no tool can be deferred, or if a custom tool has the name of one of the two. */
export function deferredTools(
  tools: readonly Tool[],
  inView: () => ToolsInView,
  later?: DeferredToolAccess,
): DeferredTools | undefined {
  const isTaken = tools.some(({ name }) => name === SEARCH_TOOL || name === CALL_TOOL)
  const opening = tools.filter(isDeferrable)
  if ((opening.length === 0 && !later?.isExpected) || isTaken) return undefined
  const late = () => later?.tools().filter(isDeferrable) ?? []
  const names = new Set<string>()
  const deferrable = () => {
    const all = [...opening, ...late()]
    for (const { name } of all) names.add(name)
    return all
  }
  deferrable()
  const isDeferring = () => inView().offered.some((tool) => toolName(tool) === SEARCH_TOOL)
  const offers = () => offersIn(inView())
  const waiting = () => {
    const { offerOf } = offers()
    return isDeferring() ? deferrable().filter(({ name }) => offerOf(name) !== "declared") : []
  }
  const unseen = () => {
    const { isLoaded } = offers()
    return isDeferring() ? new Set(waiting().flatMap(({ name }) => (isLoaded(name) ? [] : name))) : undefined
  }
  const search: Tool = { ...toolSearch({ tools: deferrable, offered: offers }), unseen }
  const parts = { deferrable: names, search, call: callTool(names), waiting }
  if (!later) return parts
  const { isExpected, revision } = later
  let known: readonly ToolDefinition[] = []
  const definitions = async () => {
    deferrable() // registers the names, so that the tools can be deferred and called by name
    known = (await Promise.all(late().map(toolDefinition))) as readonly ToolDefinition[]
    return known
  }
  return { ...parts, growth: { isExpected, revision, definitions, known: () => known } }
}

function offersIn({ offered, loaded }: ToolsInView): ToolOffers {
  const byName = new Map(offered.map((tool) => [toolName(tool), tool]))
  let known: LoadedNames | undefined // computed on demand, because it reads all messages
  const offerOf = (name: string): Offer => {
    const tool = byName.get(name)
    return tool === undefined ? "by-name" : isDeferred(tool) ? "by-reference" : "declared"
  }
  const isLoaded = (name: string) => {
    known ??= loaded()
    return known.referenced.has(name) || (known.announced.has(name) && offerOf(name) === "by-name")
  }
  return { offerOf, isLoaded }
}

/** CallTool: calls an undeclared tool by name. The schema, permissions and hooks of that tool apply. */
const inputSchema = z.object({
  name: z.string().describe("The full name of the tool."),
  input: z.union([z.record(z.string(), z.unknown()), z.string()]).describe("The input of the tool, as an object."),
})

/** `names`: the tools that it may call. */
export function callTool(names: ReadonlySet<string>): Tool<z.infer<typeof inputSchema>> {
  return {
    name: CALL_TOOL,
    description: promptText(new URL("./call-tool.md", import.meta.url)).trim(),
    inputSchema,
    forwards: ({ name, input }) => forwardCall(name, input, names),
    execute() {
      throw new Error(`${CALL_TOOL} was not run: nothing forwards its calls here.`)
    },
  }
}

function forwardCall(name: string, input: unknown, names: ReadonlySet<string>): ForwardedCall {
  const shown = JSON.stringify(name.slice(0, 128))
  if (!names.has(name))
    return {
      state: "refused",
      why: `${CALL_TOOL} cannot call ${shown}. Call a declared tool directly; find others with ${SEARCH_TOOL}.`,
    }
  if (typeof input !== "string") return { state: "forwarded", name, input }
  try {
    return { state: "forwarded", name, input: JSON.parse(input) } // models sometimes pass the object as a string
  } catch {
    return { state: "refused", why: `The input for ${shown} is a text that is not JSON. Pass an object.` }
  }
}
