/**
 * Decides which tools a prompt declares. Small sets are declared whole. Where the definitions would take more than their share of the window or their limit,
 * those that may wait are left to ToolSearch. Pure: the same tools, model and settings give the same bytes.
 */

import { isDeferred, nameOf } from "../../messages/blocks.ts"
import type { ToolDefinition } from "../../messages/request.ts"

export interface DeferralPlan {
  /** Names of the tools that may wait. */
  readonly deferrable: ReadonlySet<string>
  readonly search: ToolDefinition
  readonly call: ToolDefinition
}

export interface Declaring {
  readonly tools: readonly ToolDefinition[]
  readonly plan: DeferralPlan
  readonly isOn: boolean
  /** The model knows references to tools. */
  readonly byReference: boolean
  /** Tokens that definitions may take. */
  readonly limit: number
  readonly estimate: (text: string) => number
  /** The tools of the prompt until now. */
  readonly current: readonly ToolDefinition[]
  readonly loaded: LoadedNames
  /** Absent where all tools are known at the opening. */
  readonly growth?: Growth | undefined
}

export interface Growth {
  /** Tools that came after the opening. */
  readonly late: readonly ToolDefinition[]
  /** More may come, so ToolSearch is declared from the start. */
  readonly isExpected: boolean
  /** The first prompt, or one at a boundary: nothing of it is cached. */
  readonly isFresh: boolean
}

const NO_GROWTH: Growth = { late: [], isExpected: false, isFresh: false }

/** Tools that messages in view have loaded. */
export interface LoadedNames {
  /** By a reference, which the request must be able to resolve. */
  readonly referenced: ReadonlySet<string>
  /** By saying so: before a boundary, or for a model without references. */
  readonly said: ReadonlySet<string>
}

export function declareTools(given: Declaring): readonly ToolDefinition[] {
  const { tools: opening, plan, byReference, loaded, growth = NO_GROWTH } = given
  const tools = [...opening, ...growth.late]
  const gone = byReference ? referencedAndGone({ ...given, tools }) : []
  if (!defers({ ...given, tools: growth.isFresh ? tools : opening })) return [...growing(given, growth), ...gone]
  const waits = (tool: ToolDefinition) => plan.deferrable.has(nameOf(tool) ?? "")
  const always = tools.filter((tool) => !waits(tool))
  if (!byReference) return [...always, plan.search, plan.call]
  const isDeclared = (tool: ToolDefinition) => {
    const name = nameOf(tool) ?? ""
    return loaded.said.has(name) && !loaded.referenced.has(name)
  }
  const waiting = tools.filter(waits)
  return [
    ...always,
    plan.search,
    ...waiting.filter(isDeclared),
    ...waiting.filter((tool) => !isDeclared(tool)).map(deferred),
    ...gone,
  ]
}

/** All tools are declared, as far as that changes nothing that is cached. */
function growing(
  { tools: opening, plan, isOn, byReference, current, loaded }: Declaring,
  { late, isExpected, isFresh }: Growth,
): readonly ToolDefinition[] {
  const declared = new Set(current.filter((tool) => !isDeferred(tool)).map(nameOf))
  if (!isOn || !isExpected) return [...opening, ...late.filter((tool) => isFresh || declared.has(nameOf(tool)))]
  const isDeclared = (tool: ToolDefinition) => {
    const name = nameOf(tool) ?? ""
    return !plan.deferrable.has(name) || (!loaded.referenced.has(name) && (isFresh || declared.has(name)))
  }
  const tools = [...opening, ...late]
  const always = [...tools.filter(isDeclared), plan.search]
  if (!byReference) return [...always, plan.call]
  return [...always, ...tools.filter((tool) => !isDeclared(tool)).map(deferred)]
}

/** Definitions that the caller deferred. One that was loaded before a boundary is declared from there on. */
export function withLoaded(tools: readonly ToolDefinition[], loaded: LoadedNames): readonly ToolDefinition[] {
  return tools.map((tool) => {
    const name = nameOf(tool) ?? ""
    if (!isDeferred(tool) || !loaded.said.has(name) || loaded.referenced.has(name)) return tool
    const { defer_loading: _, ...declared } = tool as ToolDefinition & { readonly defer_loading?: boolean }
    return declared as ToolDefinition
  })
}

function defers({ tools, plan, isOn, limit, estimate }: Declaring): boolean {
  if (!isOn || !tools.some((tool) => plan.deferrable.has(nameOf(tool) ?? ""))) return false
  return estimate(JSON.stringify(tools)) > limit
}

/** The API refuses a reference to a tool that the request does not have. A tool that is gone keeps its last definition while one refers to it. */
function referencedAndGone({ tools, current, loaded }: Declaring): readonly ToolDefinition[] {
  const there = new Set(tools.map(nameOf))
  return current
    .filter((tool) => {
      const name = nameOf(tool)
      return name !== undefined && !there.has(name) && loaded.referenced.has(name)
    })
    .map(deferred)
}

const deferred = (tool: ToolDefinition): ToolDefinition =>
  isDeferred(tool) ? tool : ({ ...tool, defer_loading: true } as ToolDefinition)
