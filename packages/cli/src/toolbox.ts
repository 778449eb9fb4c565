/** The tools of one conversation: built-in ones, MCP servers, skills. Closing it ends their processes. */
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

/** Tools for files and shell commands. */
export function openToolbox({ outputDirectory }: { readonly outputDirectory?: string } = {}): Toolbox {
  const shell = openShellTools(outputDirectory === undefined ? {} : { outputDirectory })
  return { tools: [...fileTools, ...shell.tools], close: () => shell.close() }
}

export interface ProjectToolbox extends Toolbox {
  /** Attached at the start of a conversation, to introduce them to the model. */
  readonly introductions: readonly Attachment[]
  /** What did not load, as sentences for the person. */
  readonly problems: readonly string[]
}

export interface ProjectTools {
  readonly root: string
  readonly cwd: string
  readonly servers: Settings["mcpServers"]
}

/** All tools, with the skills of the project and the servers in the settings. */
export async function openProjectToolbox({ root, cwd, servers }: ProjectTools): Promise<ProjectToolbox> {
  const [{ skills, problems }, mcp] = await Promise.all([
    loadSkills(skillDirectories(root, cwd)),
    connectMcpServers(servers),
  ])
  // next to results put aside: the agent may read both without asking
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

/** The project comes first: of two skills with one name, the first wins. */
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
