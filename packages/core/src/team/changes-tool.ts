/** The `AgentChanges` tool: shows what a sub-agent changed in its own working tree, and merges or drops it. */
import { join } from "node:path"
import * as z from "zod/v4"
import { StrataError } from "../base/errors.ts"
import { forkedFork } from "../forks/fork.ts"
import type { Tool, ToolOutput } from "../tools/tool.ts"
import type { Worktree } from "./worktree.ts"

const NAMED_FILES = 20 // maximum in a sentence; the diff lists all of them

/** Finds the working tree of an agent by its name or id. Resolves with `undefined` if it has none. */
export type FindWorktree = (agent: string) => Promise<AgentWorktree | undefined>

export interface AgentWorktree {
  readonly worktree: Worktree
  /** `idle`: the agent waits for messages and will continue in its working tree. */
  readonly agent: "running" | "idle" | "ended"
}

export const CHANGES_TOOL = "AgentChanges"

const inputSchema = z.object({
  agent: z.string().describe("The agent's name or id"),
  action: z
    .enum(["show", "merge", "drop"])
    .describe("show: the diff. merge: take all of it into the project. drop: remove the working tree"),
})

type Input = z.infer<typeof inputSchema>

/** Creates the tool. Without `worktreeOf` it has the same definition, which a fork must share with its lead, and every call fails. */
export function changesTool(worktreeOf?: FindWorktree): Tool<Input> {
  /** Git tree that the user was shown, by call and agent. Later changes are not merged. */
  const judged = new Map<string, string>()
  const find = async (agent: string): Promise<AgentWorktree> => {
    if (!worktreeOf) throw forkedFork()
    const found = await worktreeOf(agent)
    if (found) return found
    throw new StrataError(
      `The agent ${agent} has no working tree of its own. Only agents started with isolation "worktree" have one, until it is merged or dropped.`,
    )
  }
  return {
    name: CHANGES_TOOL,
    description:
      "Shows, merges or drops what an agent changed in its own working tree (an agent started with isolation: worktree). Look at the diff before you merge it. A merge takes all changes or none, and commits nothing.",
    inputSchema,
    readOnly: ({ action }) => action === "show",
    async question({ agent, action }, { toolUseId }) {
      const summary = `${action} the changes of agent ${agent}`
      if (action !== "merge") return { kind: "read", summary } // the result contains the dropped diff, so nothing is lost
      const { worktree } = await find(agent)
      const { diff, files, tree } = await worktree.changes()
      const call = `${toolUseId}:${agent}`
      if (!judged.has(call)) judged.set(call, tree)
      return { kind: "write", summary, paths: files.map((file) => join(worktree.top, file)), preview: diff }
    },
    async execute({ agent, action }, { toolUseId }) {
      const found = await find(agent)
      const { worktree } = found
      if (action !== "show" && found.agent === "running")
        throw new StrataError(
          `The agent ${agent} is still working in its working tree. Wait for its report, or stop it first.`,
        )
      if (action === "merge") return merged(agent, found, judged.get(`${toolUseId}:${agent}`))
      const { diff, files } = await worktree.changes()
      if (action === "show") return diff === "" ? `The agent ${agent} changed nothing.` : diff
      if (found.agent === "idle")
        throw new StrataError(`The agent ${agent} waits for messages and still needs its working tree. Stop it first.`)
      await worktree.drop()
      return files.length === 0
        ? `The working tree of ${agent} is removed. It had no changes.`
        : `The working tree of ${agent} is removed. These changes were in it:\n${diff}`
    },
  }
}

async function merged(name: string, { worktree, agent }: AgentWorktree, tree?: string): Promise<ToolOutput> {
  const outcome = await worktree.merge(tree)
  if (outcome.state === "other")
    return {
      isError: true,
      content: `Nothing was merged: the files of ${name} changed while the merge was being decided. Look at the changes again.`,
    }
  if (outcome.state === "nothing")
    return { content: `The agent ${name} changed nothing, so there is nothing to merge.` }
  if (outcome.state === "conflict")
    return {
      isError: true,
      content: `Nothing was merged: the project has other changes at the same places. Git says: ${outcome.reason}\nThe agent's files are in ${worktree.directory}: read them, and edit the project yourself, or drop the changes.`,
    }
  const { files } = outcome
  if (agent === "ended") await worktree.drop()
  const named = files.slice(0, NAMED_FILES).join(", ")
  const more = files.length > NAMED_FILES ? ` and ${files.length - NAMED_FILES} more` : ""
  return {
    content: `Merged into the project, uncommitted: ${named}${more}.`,
    touched: files.map((file) => join(worktree.top, file)),
  }
}
