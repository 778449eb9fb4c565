/** The `AgentChanges` tool: shows what a sub-agent changed in its own working tree, and merges or drops it. */
import { join } from "node:path"
import { z } from "zod/v4"
import { StrataError } from "../base/errors.ts"
import type { Tool, ToolOutput } from "../tools/tool.ts"
import type { Worktree } from "./worktree.ts"

const NAMED_FILES = 20 // in a sentence; the diff has all of them

export interface ChangesSource {
  /** The working tree of an agent, by its name or id. `undefined` where it has none. */
  worktreeOf(agent: string): Promise<Worktree | undefined>
}

const inputSchema = z.object({
  agent: z.string().describe("The agent's name or id"),
  action: z
    .enum(["show", "merge", "drop"])
    .describe("show: the diff. merge: take all of it into the project. drop: remove the working tree"),
})

type Input = z.infer<typeof inputSchema>

export function changesTool(source: ChangesSource): Tool<Input> {
  const find = async (agent: string): Promise<Worktree> => {
    const found = await source.worktreeOf(agent)
    if (found) return found
    throw new StrataError(
      `The agent ${agent} has no working tree of its own. Only agents started with isolation "worktree" have one, until it is merged or dropped.`,
    )
  }
  return {
    name: "AgentChanges",
    description:
      "Shows, merges or drops what an agent changed in its own working tree (an agent started with isolation: worktree). Look at the diff before you merge it. A merge takes all changes or none, and commits nothing.",
    inputSchema,
    readOnly: ({ action }) => action === "show",
    async question({ agent, action }) {
      const summary = `${action} the changes of agent ${agent}`
      if (action !== "merge") return { kind: action === "show" ? "read" : "other", summary }
      const worktree = await find(agent)
      const { diff, files } = await worktree.changes()
      return { kind: "write", summary, paths: files.map((file) => join(worktree.top, file)), preview: diff }
    },
    async execute({ agent, action }) {
      const worktree = await find(agent)
      if (action === "merge") return merged(agent, worktree)
      const { diff, files } = await worktree.changes()
      if (action === "show") return diff === "" ? `The agent ${agent} changed nothing.` : diff
      await worktree.drop()
      return files.length === 0
        ? `The working tree of ${agent} is removed. It had no changes.`
        : `The working tree of ${agent} is removed. These changes were in it:\n${diff}`
    },
  }
}

async function merged(agent: string, worktree: Worktree): Promise<ToolOutput> {
  const outcome = await worktree.merge()
  if (outcome.state === "nothing")
    return { content: `The agent ${agent} changed nothing, so there is nothing to merge.` }
  if (outcome.state === "conflict")
    return {
      isError: true,
      content: `Nothing was merged: the project has other changes at the same places. Git says: ${outcome.why}\nThe agent's files are in ${worktree.directory}: read them, and edit the project yourself, or drop the changes.`,
    }
  const { files } = outcome
  await worktree.drop()
  const named = files.slice(0, NAMED_FILES).join(", ")
  const more = files.length > NAMED_FILES ? ` and ${files.length - NAMED_FILES} more` : ""
  return {
    content: `Merged into the project, uncommitted: ${named}${more}. The agent's working tree is removed.`,
    touched: files.map((file) => join(worktree.top, file)),
  }
}
