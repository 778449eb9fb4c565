/** What an agent is: when to use it, its instructions, and what it may use. Given in code or read from a markdown file. */

/** A kind of agent that others can start. */
export interface AgentDefinition {
  readonly name: string
  /** For the model that chooses an agent: when to use it. */
  readonly description: string
  /** Its instructions. */
  readonly prompt: string
  /** The tools it may use. Default: all of its parent's, except starting agents. */
  readonly tools?: readonly string[]
  /** Tools it may not use, whatever `tools` says. */
  readonly disallowedTools?: readonly string[]
  /** `sonnet`, `opus`, `haiku` or a model id. Default: its parent's model. */
  readonly model?: string
  /** A memory of its own: for all projects, in the repository, or for this project on this machine. Default: none. */
  readonly memory?: MemoryScope
  readonly maxTurns?: number
  /** Run it in the background unless the call says otherwise. */
  readonly background?: boolean
  /** Give it a git worktree of its own. */
  readonly isolation?: "worktree"
  /** The file it was read from, for a person. */
  readonly source?: string
}

/** Who shares an agent's own memory. */
export type MemoryScope = (typeof MEMORY_SCOPES)[number]
export const MEMORY_SCOPES = ["user", "project", "local"] as const

/** A name becomes a directory name, so it must be one on every system. Windows reserves the second list. */
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i

export const NAME_RULE = 'only letters, digits, "-" and "_" are allowed, a letter first, at most 64 characters'

export const isAgentName = (name: string): boolean => NAME.test(name) && !RESERVED.test(name)

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
