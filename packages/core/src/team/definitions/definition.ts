/** Agent definitions: when to use an agent, its instructions, and its tools. Passed in code or read from a Markdown file. */

export interface AgentDefinition {
  readonly name: string
  /** For the model that chooses an agent: when to use it. */
  readonly description: string
  /** System prompt of the agent. */
  readonly prompt: string
  /** Tools that the agent may use. Default: all of its parent's, except starting agents. */
  readonly tools?: readonly string[]
  /** Tools that the agent may not use, even if `tools` lists them. */
  readonly disallowedTools?: readonly string[]
  /** `sonnet`, `opus`, `haiku` or a model id. Default: its parent's model. */
  readonly model?: string
  /** Scope of the agent's own memory: all projects, the repository, or this project on this machine. Default: no memory. */
  readonly memory?: MemoryScope
  readonly maxTurns?: number
  /** Run in the background unless the call specifies otherwise. */
  readonly background?: boolean
  /** Run in a separate git working tree. */
  readonly isolation?: "worktree"
  /** The file that contains the definition, for display. */
  readonly source?: string
}

/** Scope of an agent's own memory. */
export type MemoryScope = (typeof MEMORY_SCOPES)[number]
export const MEMORY_SCOPES = ["user", "project", "local"] as const

/** Names become directory names, so they must be valid on every system. Windows reserves the names in the second pattern. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i

export const NAME_RULE = 'only letters, digits, "-" and "_" are allowed, a letter first, at most 64 characters'

export const isAgentName = (name: string): boolean => NAME.test(name) && !RESERVED.test(name)

export type ToolLists = Pick<AgentDefinition, "tools" | "disallowedTools">

/** Tool names, and a remark about each omitted one. */
export interface ToolNames {
  readonly names: readonly string[]
  readonly remarks: readonly string[]
}

/**
 * Parses a list of tools. In `tools`, an entry with a pattern is omitted, because the tool alone would allow more than the definition
 * states.
 */
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
