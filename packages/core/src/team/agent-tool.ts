/** The Agent tool: starts a sub-agent and waits for its report, or lets it work in the background. */
import * as z from "zod/v4"
import { promptText } from "../base/text.ts"
import { forkedFork } from "../forks/fork.ts"
import type { AgentKind } from "../journal/entries.ts"
import type { Tool, ToolContext } from "../tools/tool.ts"
import type { AgentTask } from "./agent-task.ts"
import type { AgentDefinition } from "./definitions/definition.ts"
import { usageLine } from "./result.ts"
import type { SubAgent } from "./sub-agent.ts"
import type { Team } from "./team.ts"

export const AGENT_TOOL = "Agent"

const inputSchema = z.object({
  description: z.string().min(1).describe("The task in 3 to 5 words, for lists"),
  prompt: z.string().min(1).describe("The task. For a fork: the directive"),
  agent_type: z.string().optional().describe("The name of an agent definition. Default: a general agent"),
  name: z.string().optional().describe("Makes it a teammate with this name"),
  run_in_background: z.boolean().optional().describe("Continue at once; the report arrives later"),
  fork: z.boolean().optional().describe("A copy of you that knows this conversation. It works in the background"),
  model: z.string().optional().describe("Another model for this agent"),
  isolation: z.enum(["worktree"]).optional().describe("It works on a copy of the repository"),
})
type AgentInput = z.infer<typeof inputSchema>

export interface AgentToolDependencies {
  readonly team: Team
  readonly definitions: () => readonly AgentDefinition[]
}

export function agentTool({ team, definitions }: AgentToolDependencies): Tool<AgentInput> {
  return {
    ...declaration(),
    async execute(input, context) {
      const task = toAgentTask(input, { definitions: definitions(), callId: context.toolUseId })
      const agent = await team.start(task)
      return task.kind === "wait" ? waitForResult(agent, { team, context }) : startedText(agent)
    },
  }
}

/** For a fork: the same definition, because forks share the bytes of the lead's request, but every call fails. */
export function refusedAgentTool(): Tool<AgentInput> {
  return {
    ...declaration(),
    async execute() {
      throw forkedFork()
    },
  }
}

const declaration = () => ({
  name: AGENT_TOOL,
  description: promptText(new URL("./agent-tool.md", import.meta.url)).trim(),
  inputSchema,
  limitsItself: true,
  readOnly: true, // several run in parallel; each call of the agent itself is authorized separately
  question: ({ description }: AgentInput) => ({ kind: "other" as const, summary: `start an agent: ${description}` }),
})

interface TaskContext {
  readonly definitions: readonly AgentDefinition[]
  readonly callId: string
}

function toAgentTask(input: AgentInput, { definitions, callId }: TaskContext): AgentTask {
  const { description, prompt, agent_type: type, name, model, isolation, fork } = input
  const definition = type === undefined ? undefined : definitions.find((one) => one.name === type)
  if (type !== undefined && !definition) throw new Error(unknownTypeMessage(type, definitions))
  const isolated = isolation ?? definition?.isolation
  if (fork && isolated) throw new Error("A fork works where you work. Start it without isolation.")
  return {
    ...{ description, prompt, callId, kind: kindOf(input, definition) },
    ...(definition === undefined ? {} : { definition }),
    ...(name === undefined ? {} : { name }),
    ...(model === undefined ? {} : { model }),
    ...(isolated === undefined ? {} : { isolation: isolated }),
  }
}

function kindOf({ fork, name, run_in_background }: AgentInput, definition: AgentDefinition | undefined): AgentKind {
  if (fork) return "fork"
  if (name !== undefined) return "teammate"
  return (run_in_background ?? definition?.background) ? "background" : "wait"
}

function unknownTypeMessage(type: string, definitions: readonly AgentDefinition[]): string {
  const known = definitions.map(({ name }) => name).join(", ")
  return `There is no agent definition named ${JSON.stringify(type)}. ${known === "" ? "None is defined: leave agent_type out." : `There are: ${known}.`}`
}

interface WaitContext {
  readonly team: Team
  readonly context: ToolContext
}

/** Waits for the agent's result. Interrupting the call stops the agent. */
async function waitForResult(agent: SubAgent, { team, context }: WaitContext) {
  const onAbort = () => agent.stop("The call that waited for it was interrupted.")
  context.signal.addEventListener("abort", onAbort)
  const unwatch = team.watch(agent.id, (event) => {
    if (event.type === "tool-start") context.progress(`${agent.name}: ${event.summary}`)
  })
  if (context.signal.aborted) onAbort()
  try {
    const { outcome, content, handle } = await team.result(agent)
    const view = team.view(agent.id)
    const sections = [content, handle === undefined ? "" : `All of it: ${handle}`, view ? `[${usageLine(view)}]` : ""]
    return {
      content: sections.filter((part) => part !== "").join("\n\n"),
      ...(outcome.status === "completed" ? {} : { isError: true }),
    }
  } finally {
    unwatch()
    context.signal.removeEventListener("abort", onAbort)
  }
}

function startedText({ id, name, start: { kind } }: SubAgent): string {
  const who = name === id ? id : `${name} (${id})`
  const rest =
    kind === "teammate"
      ? "Its reports arrive by themselves, and it waits for messages in between."
      : "Its report arrives by itself."
  return `${who} works in the background. ${rest} Continue with other work, and do not start the same work again.`
}
