/** Tools to work on a project. Their order is fixed, because it is part of the cached prefix. */
import { join } from "node:path"
import { projectName } from "../../base/clock.ts"
import { errorMessage } from "../../base/errors.ts"
import { repositoryRoot } from "../../base/git.ts"
import { escapeInvisible } from "../../base/text.ts"
import { projectDirectory } from "../../journal/file/layout.ts"
import { projectSkillFolders } from "../../settings/skill-files.ts"
import { edit } from "../../tools/files/edit.ts"
import { glob } from "../../tools/files/glob.ts"
import { grep } from "../../tools/files/grep.ts"
import { notebookEdit } from "../../tools/files/notebook-edit.ts"
import { read } from "../../tools/files/read.ts"
import { ripgrepProgram } from "../../tools/files/ripgrep.ts"
import { write } from "../../tools/files/write.ts"
import { askUser } from "../../tools/session/ask-user.ts"
import { enterPlanMode, exitPlanMode } from "../../tools/session/plan-mode.ts"
import { skillTool } from "../../tools/session/skill.ts"
import { loadSkills, type Skill, type SkillDirectory, skillListing } from "../../tools/session/skills.ts"
import { todoWrite } from "../../tools/session/todo-write.ts"
import type { OpenToolset, Tool, ToolsetContext } from "../../tools/tool.ts"
import { bashOutputTool, killShellTool } from "./shell/background-shells.ts"
import { bashTool } from "./shell/bash.ts"
import { type ShellOptions, ShellSession } from "./shell/shell-session.ts"
import { type WebFetchOptions, webFetchTool } from "./web/web-fetch.ts"
import { webSearchTool } from "./web/web-search.ts"

export const fileTools: readonly Tool[] = [read, write, edit, glob, grep]

/** Opens Bash, BashOutput and KillShell for one conversation. `close` ends all running commands. */
export function openShellTools(options: ShellOptions = {}): OpenToolset {
  const session = new ShellSession(options)
  return {
    tools: [bashTool(session), bashOutputTool(session), killShellTool(session)],
    shells: () => session.runningInBackground(),
    close: () => session.close(),
  }
}

export const webTools = (options: WebFetchOptions = {}): readonly Tool[] => [webFetchTool(options)]

/** Tools about the conversation itself. The Skill tool is included only if there are skills. */
export function sessionTools({ skills = [] }: { readonly skills?: readonly Skill[] } = {}): readonly Tool[] {
  return [todoWrite, ...(skills.length > 0 ? [skillTool(skills)] : []), enterPlanMode, exitPlanMode, askUser]
}

/** Options of `codingTools`. */
export interface CodingToolsOptions {
  readonly shell?: ShellOptions
  readonly web?: WebFetchOptions
  /**
   * Directories with skills. If two skills have the same name, the first one is used. Default: `~/.strata/skills` and `~/.claude/skills`,
   * then the same directories of the project.
   */
  readonly skillDirectories?: readonly string[]
}

export async function openCodingTools(
  { shell: shellOptions, web, skillDirectories }: CodingToolsOptions,
  context: ToolsetContext,
): Promise<OpenToolset> {
  const { skills, problems } = await loadSkills(skillDirectories ?? defaultSkillDirectories(context))
  const missing = await ripgrepProgram().then(
    () => [],
    (error) => [`${errorMessage(error)}. The agent has no Grep until then.`],
  )
  const files = missing.length > 0 ? fileTools.filter((tool) => tool !== grep) : fileTools
  const open = (): OpenToolset => {
    const shell = openShellTools({
      outputDirectory: outputDirectory(context),
      ignoredDirectories: [context.root],
      ...shellOptions,
    })
    const { sampling } = context
    const search = sampling?.search ? [webSearchTool((...asked) => sampling.search!(...asked))] : []
    return {
      tools: [...files, notebookEdit, ...shell.tools, ...webTools(web), ...search, ...sessionTools({ skills })],
      introductions: skills.length === 0 ? [] : [skillListing(skills)],
      problems: [
        ...missing,
        ...problems.map(({ path, why }) => escapeInvisible(`The skill ${path} cannot be used: ${why}`)),
      ],
      readable: skills.flatMap(({ directory, isOwn }) => (isOwn ? [directory] : [])),
      shells: () => shell.shells?.() ?? [],
      fork: async () => open(),
      close: () => shell.close(),
    }
  }
  return open()
}

/** Default skill directories. The user's come first, so that a project cannot replace a skill that the user relies on. */
export function defaultSkillDirectories(context: ToolsetContext): readonly SkillDirectory[] {
  const { root, cwd, env = process.env } = context
  const home = env.HOME
  const links = home ? [home] : []
  const within = repositoryRoot(cwd, { home })
  const own = [join(root, "skills"), ...(home ? [join(home, ".claude", "skills")] : [])]
  const trusted = context.trustedSkills ?? new Map()
  const ofProject = projectSkillFolders(cwd, home)
  return [...own.map((path) => ({ path, links })), ...ofProject.map((path) => ({ path, within, links, trusted }))]
}

/** Directory for shell output, next to offloaded results, which the agent can read without permission. */
function outputDirectory({ root, cwd, results }: ToolsetContext): string {
  return join(results ?? join(projectDirectory(root, projectName(cwd)), "tool-results"), "shell")
}
