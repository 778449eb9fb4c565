/** The tools that a definition lists. */
import type { AgentDefinition } from "./definition.ts"

export type ToolLists = Pick<AgentDefinition, "tools" | "disallowedTools">

/** The names, and a remark about each that was left out. */
export interface ToolNames {
  readonly names: readonly string[]
  readonly remarks: readonly string[]
}

/** Without its pattern a tool would be allowed for more than the definition says. As something forbidden, it forbids more. */
export function toolNames(items: readonly string[], key: keyof ToolLists): ToolNames {
  const names = new Set<string>()
  const remarks: string[] = []
  for (const item of items) {
    const [, name = item, pattern] = /^([^()]*)\((.*)\)$/s.exec(item.trim()) ?? []
    if (pattern === undefined || key === "disallowedTools" || name === "Agent" || name === "Task")
      names.add(name.trim())
    else remarks.push(`${item.slice(0, 80)} in tools is left out: patterns belong in permission rules`)
  }
  return { names: [...names], remarks }
}
