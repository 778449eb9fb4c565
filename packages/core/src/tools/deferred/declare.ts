/**
 * Decides which tools a prompt declares. Small sets are declared completely. If the definitions would exceed their share of the window or
 * their limit, deferrable tools are left to ToolSearch. Pure: the same tools, model and settings give the same bytes.
 */

import { isDeferred, toolName } from "../../messages/blocks.ts"
import type { ToolDefinition } from "../../messages/request.ts"

export interface DeferralPlan {
  /** Names of the tools that can be deferred. */
  readonly deferrable: ReadonlySet<string>
  readonly search: ToolDefinition
  readonly call: ToolDefinition
}

export interface DeclarationInput {
  readonly tools: readonly ToolDefinition[]
  readonly plan: DeferralPlan
  readonly isEnabled: boolean
  /** Whether the model supports references to tools. */
  readonly byReference: boolean
  /** Maximum tokens of the definitions. */
  readonly limit: number
  readonly estimate: (text: string) => number
  /** Tool definitions of the current prompt. */
  readonly current: readonly ToolDefinition[]
  readonly loaded: LoadedNames
  /** Absent if all tools are known at opening. */
  readonly growth?: Growth | undefined
}

export interface Growth {
  /** Tools that arrived after opening. */
  readonly late: readonly ToolDefinition[]
  /** Whether more tools may arrive, so that ToolSearch must be declared from the start. */
  readonly isExpected: boolean
  /** Whether the prompt is the first one or follows a boundary, so that none of it is cached. */
  readonly isFresh: boolean
}

const NO_GROWTH: Growth = { late: [], isExpected: false, isFresh: false }

/** Names of tools that messages in the view have loaded. */
export interface LoadedNames {
  /** Loaded by a reference, which the request must be able to resolve. */
  readonly referenced: ReadonlySet<string>
  /** Loaded by text: before a boundary, or for a model without references. */
  readonly announced: ReadonlySet<string>
}

export function declareTools(input: DeclarationInput): readonly ToolDefinition[] {
  const { tools: opening, plan, byReference, loaded, growth = NO_GROWTH } = input
  const tools = [...opening, ...growth.late]
  const removed = byReference ? removedButReferenced({ ...input, tools }) : []
  if (!defers({ ...input, tools: growth.isFresh ? tools : opening })) return [...declareAll(input, growth), ...removed]
  const waits = (tool: ToolDefinition) => plan.deferrable.has(toolName(tool) ?? "")
  const always = tools.filter((tool) => !waits(tool))
  if (!byReference) return [...always, plan.search, plan.call]
  const isDeclared = (tool: ToolDefinition) => {
    const name = toolName(tool) ?? ""
    return loaded.announced.has(name) && !loaded.referenced.has(name)
  }
  const waiting = tools.filter(waits)
  return [
    ...always,
    plan.search,
    ...waiting.filter(isDeclared),
    ...waiting.filter((tool) => !isDeclared(tool)).map(deferred),
    ...removed,
  ]
}

/** Declares all tools, except those whose declaration would change cached bytes. */
function declareAll(
  { tools: opening, plan, isEnabled, byReference, current, loaded }: DeclarationInput,
  { late, isExpected, isFresh }: Growth,
): readonly ToolDefinition[] {
  const declared = new Set(current.filter((tool) => !isDeferred(tool)).map(toolName))
  if (!isEnabled || !isExpected) return [...opening, ...late.filter((tool) => isFresh || declared.has(toolName(tool)))]
  const isDeclared = (tool: ToolDefinition) => {
    const name = toolName(tool) ?? ""
    return !plan.deferrable.has(name) || (!loaded.referenced.has(name) && (isFresh || declared.has(name)))
  }
  const tools = [...opening, ...late]
  const always = [...tools.filter(isDeclared), plan.search]
  if (!byReference) return [...always, plan.call]
  return [...always, ...tools.filter((tool) => !isDeclared(tool)).map(deferred)]
}

/** Tools that a client deferred itself. A tool that was loaded before a boundary is declared after it. */
export function withLoaded(tools: readonly ToolDefinition[], loaded: LoadedNames): readonly ToolDefinition[] {
  return tools.map((tool) => {
    const name = toolName(tool) ?? ""
    if (!isDeferred(tool) || !loaded.announced.has(name) || loaded.referenced.has(name)) return tool
    const { defer_loading: _, ...declared } = tool as ToolDefinition & { readonly defer_loading?: boolean }
    return declared as ToolDefinition
  })
}

function defers({ tools, plan, isEnabled, limit, estimate }: DeclarationInput): boolean {
  if (!isEnabled || !tools.some((tool) => plan.deferrable.has(toolName(tool) ?? ""))) return false
  return estimate(JSON.stringify(tools)) > limit
}

/**
 * Tools that were removed while a message still refers to them. They keep their last definition, because the API refuses unresolved
 * references.
 */
function removedButReferenced({ tools, current, loaded }: DeclarationInput): readonly ToolDefinition[] {
  const there = new Set(tools.map(toolName))
  return current
    .filter((tool) => {
      const name = toolName(tool)
      return name !== undefined && !there.has(name) && loaded.referenced.has(name)
    })
    .map(deferred)
}

const deferred = (tool: ToolDefinition): ToolDefinition =>
  isDeferred(tool) ? tool : ({ ...tool, defer_loading: true } as ToolDefinition)
