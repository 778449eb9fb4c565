/** The tools of this folder in the order in which they are offered. The order is part of the cached prefix: it never depends on anything. */
import { askUser } from "./session/ask-user.ts"
import { enterPlanMode, exitPlanMode } from "./session/plan-mode.ts"
import { skillTool } from "./session/skill.ts"
import type { Skill } from "./session/skills.ts"
import { todoWrite } from "./session/todo-write.ts"
import { bashOutputTool, killShellTool } from "./shell/background-shells.ts"
import { bashTool } from "./shell/bash.ts"
import { type ShellOptions, ShellSession } from "./shell/shell-session.ts"
import type { Tool } from "./tool.ts"
import { type WebFetchOptions, webFetchTool } from "./web/web-fetch.ts"

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
