/** The tools of one conversation: ours, those of MCP servers, skills from their directories. What runs behind them ends with it. */
import { join } from "node:path"
import { type Attachment, projectDirectory, projectName, type Settings } from "@strata/core"
import {
  connectMcpServers,
  fileTools,
  loadSkills,
  type McpServers,
  openShellTools,
  type Skill,
  sessionTools,
  skillListing,
  type Tool,
  webTools,
} from "@strata/core/tools"

export interface Toolbox {
  readonly tools: readonly Tool[]
  close(): Promise<void>
}

/** Tools for files and commands: all that work on a directory needs. */
export function openToolbox({ outputDirectory }: { readonly outputDirectory?: string } = {}): Toolbox {
  const shell = openShellTools(outputDirectory === undefined ? {} : { outputDirectory })
  return { tools: [...fileTools, ...shell.tools], close: () => shell.close() }
}

export interface ProjectToolbox extends Toolbox {
  /** What the model is told about them at the start of a conversation. */
  readonly introductions: readonly Attachment[]
  /** What could not be had, for the person. */
  readonly problems: readonly string[]
}

export interface ProjectTools {
  readonly root: string
  readonly cwd: string
  readonly servers: Settings["mcpServers"]
}

/** All tools, with what the project and the settings bring along. */
export async function openProjectToolbox({ root, cwd, servers }: ProjectTools): Promise<ProjectToolbox> {
  const [{ skills, problems }, mcp] = await Promise.all([
    loadSkills(skillDirectories(root, cwd)),
    connectMcpServers(servers),
  ])
  // beside the results that are put aside, which the agent may read without asking
  const outputDirectory = join(projectDirectory(root, projectName(cwd)), "tool-results", "shell")
  const own = openToolbox({ outputDirectory })
  return {
    tools: [...own.tools, ...webTools(), ...sessionTools({ skills }), ...mcp.tools],
    introductions: introductionsOf(skills, mcp),
    problems: [...problems.map(({ path, why }) => `The skill ${path} cannot be used: ${why}`), ...failuresOf(mcp)],
    close: async () => {
      await Promise.all([own.close(), mcp.close()])
    },
  }
}

/** The project's own come first: of two skills with one name, the nearer counts. */
function skillDirectories(root: string, cwd: string): readonly string[] {
  return [join(cwd, ".strata", "skills"), join(cwd, ".claude", "skills"), join(root, "skills")]
}

function introductionsOf(skills: readonly Skill[], { instructions }: McpServers): readonly Attachment[] {
  return [...(skills.length === 0 ? [] : [skillListing(skills)]), ...instructions]
}

function failuresOf(mcp: McpServers): readonly string[] {
  return mcp
    .status()
    .flatMap((status) =>
      status.state === "failed" ? [`The MCP server ${status.server} is not available: ${status.why}`] : [],
    )
}
