/** The tools of this folder in the order in which they are offered. The order is part of the cached prefix: it never depends on anything. */
import { askUser } from "./ask-user.ts"
import { bashOutputTool, killShellTool } from "./background-shells.ts"
import { bashTool } from "./bash.ts"
import { enterPlanMode, exitPlanMode } from "./plan-mode.ts"
import { type ShellOptions, ShellSession } from "./shell-session.ts"
import { skillTool } from "./skill.ts"
import type { Skill } from "./skills.ts"
import { todoWrite } from "./todo-write.ts"
import type { Tool } from "./tool.ts"
import { type WebFetchOptions, webFetchTool } from "./web-fetch.ts"

export interface ShellTools {
  readonly tools: readonly Tool[]
  /** Ends every command that still runs. */
  close(): Promise<void>
}

/** Bash and what belongs to it, for one conversation: its background commands end with `close`. */
export function openShellTools(options: ShellOptions = {}): ShellTools {
  const session = new ShellSession(options)
  return {
    tools: [bashTool(session), bashOutputTool(session), killShellTool(session)],
    close: () => session.close(),
  }
}

export const webTools = (options: WebFetchOptions = {}): readonly Tool[] => [webFetchTool(options)]

/** Tools about the conversation itself. Without skills there is no Skill tool. */
export function sessionTools({ skills = [] }: { readonly skills?: readonly Skill[] } = {}): readonly Tool[] {
  return [todoWrite, ...(skills.length > 0 ? [skillTool(skills)] : []), enterPlanMode, exitPlanMode, askUser]
}
