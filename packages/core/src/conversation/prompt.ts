/** What surrounds the messages of every request, rendered once and then sent unchanged. */

import { reasonOf } from "../base/errors.ts"
import { describe, InvalidOptionError } from "../base/options.ts"
import type { DecisionOf } from "../journal/entries.ts"
import { renderPreamble } from "../messages/preamble.ts"
import type { SystemPrompt, ToolDefinition } from "../messages/request.ts"
import { isDeferred, nameOf } from "../messages/tool-references.ts"
import { promptProblem } from "../messages/validate/prompt-problem.ts"
import { wellFormed } from "../messages/well-formed.ts"
import { checkTool, isToolset, refuseDuplicates } from "../tools/define-tool.ts"
import type { Tool } from "../tools/tool.ts"

/** The part of a request before the messages. */
export interface Prompt {
  readonly system?: SystemPrompt
  readonly tools?: readonly ToolDefinition[]
  /** Titled texts sent before the conversation: project instructions, a memory index. */
  readonly context?: Readonly<Record<string, string>>
}

/** A prompt as a caller gives it. */
interface GivenPrompt extends Omit<Prompt, "tools"> {
  readonly tools?: readonly (Tool | ToolDefinition)[]
}

export async function promptOf({ system, tools, context }: GivenPrompt): Promise<Prompt> {
  return {
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools: await toolDefinitions(tools) }),
    ...(context === undefined ? {} : { context }),
  }
}

/** A definition as the API takes it has no `execute`. */
function toolDefinitions(tools: NonNullable<GivenPrompt["tools"]>): Promise<ToolDefinition[]> {
  for (const [index, tool] of tools.entries()) checkItem(tool, index)
  refuseDuplicates(tools.map((tool) => ("name" in tool ? tool.name : undefined)))
  return Promise.all(tools.map((tool) => ("execute" in tool ? definitionOf(tool) : tool)))
}

/** Server tools have a `type`, and some of them no name. */
function checkItem(item: unknown, index: number): void {
  const { name, type, execute } = (item ?? {}) as Readonly<Record<string, unknown>>
  if (isToolset(item))
    throw new InvalidOptionError(
      "tools",
      `tools[${index}] is a toolset. openConversation() runs no tools, so it takes tools and definitions only; openAgent() opens toolsets.`,
    )
  if (execute !== undefined) checkTool(item as Tool)
  else if (typeof name !== "string" && typeof type !== "string")
    throw new InvalidOptionError(
      "tools",
      `tools[${index}] must be a tool from defineTool(), or a definition with a name, not ${describe(item)}.`,
    )
}

export async function definitionOf(tool: Tool): Promise<ToolDefinition> {
  const { toolDefinition } = await import("../tools/definition/definition.ts") // loads schema libraries
  return toolDefinition(tool)
}

export type RenderedParts = Pick<DecisionOf<"prompt-rendered">, "system" | "tools" | "context">

export interface PromptInput {
  readonly prompt: Prompt
  /** The prompt in the journal. Anything left out of the new one continues from it. */
  readonly current: RenderedParts | undefined
  readonly estimate: (text: string) => number
  /** In tokens, for all context texts together. */
  readonly contextLimit: number
}

export function renderPrompt({ prompt, current, estimate, contextLimit }: PromptInput): RenderedParts {
  const context =
    prompt.context === undefined
      ? (current?.context ?? "")
      : renderPreamble({ texts: prompt.context, estimate, limit: contextLimit })
  return asSent({
    system: prompt.system ?? current?.system ?? "",
    tools: prompt.tools ?? current?.tools ?? [],
    context,
  })
}

/** Throws if no request could carry the system prompt or the tools. */
export function checkPrompt({ system = "", tools = [] }: Prompt): void {
  const flaw = promptProblem(readable({ system, tools }))
  if (flaw) throw refused(flaw.path.startsWith("system") ? "system" : "tools", `${flaw.path}: ${flaw.message}`)
}

function readable(prompt: { readonly system: SystemPrompt; readonly tools: readonly ToolDefinition[] }) {
  try {
    return asSent(prompt)
  } catch (error) {
    throw refused("tools", `it is not plain JSON (${reasonOf(error)})`)
  }
}

const refused = (option: "system" | "tools", why: string) =>
  new InvalidOptionError(option, `The option "${option}" cannot be used. ${why}. Nothing was changed.`)

export function isSamePrompt(a: RenderedParts, b: RenderedParts): boolean {
  return bytesOf(a) === bytesOf(b)
}

/** What thinking is bound to: all but the tools that are deferred and that no message refers to. */
export function boundParts({ system, tools, context }: RenderedParts, referenced: ReadonlySet<string>): string {
  const offered = Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : []
  const seen = offered.filter((tool) => !isDeferred(tool) || referenced.has(nameOf(tool) ?? ""))
  return bytesOf({ system, tools: seen, context })
}

const bytesOf = ({ system, tools, context }: RenderedParts) => JSON.stringify({ system, tools, context })

/** White space alone is no prompt. Half a character, where a text was cut in the middle of one, is replaced: the API refuses it. */
function asSent<T extends { readonly system?: unknown }>(parts: T): T {
  const { system } = parts
  const isBlank = typeof system === "string" && system.trim() === ""
  return wellFormed(asJournaled(isBlank ? { ...parts, system: "" } : parts))
}

/** A copy, as the journal would return it. Later changes to the caller's objects do not reach a request. */
const asJournaled = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
