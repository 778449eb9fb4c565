/** Converts a conversation to the form brains know, and asks the brain for its answer. */
import { chanceOf } from "./answer-chance.ts"
import { ApiError } from "./api-error.ts"
import type { Answer, AnswerBlock, BrainBlock, BrainMessage, BrainRequest, BrainTool } from "./brain.ts"
import { blocksOf, type Turn } from "./conversation.ts"
import { visibleTools } from "./deferred-tools.ts"
import { apiToolInput } from "./server-tools/kinds.ts"
import type { Simulation } from "./simulation.ts"
import type { Block, MessagesBody, Role, ToolParam } from "./wire.ts"

export interface AskBrainInput {
  readonly body: MessagesBody
  readonly turns: readonly Turn[]
  /** Set when the answer must be a summary: the instructions in the last block. */
  readonly summary?: { readonly instructions: string }
}

type Call = Extract<AnswerBlock, { readonly name: string }>

/** A block of an answer, each call with its id. */
export type NamedBlock = Exclude<AnswerBlock, Call> | (Call & { readonly id: string })

export interface NamedAnswer extends Answer {
  readonly content: readonly NamedBlock[]
}

export async function askBrain(simulation: Simulation, { body, turns, summary }: AskBrainInput): Promise<NamedAnswer> {
  const { brain, seed, counter } = simulation
  const chance = chanceOf({ seed, body, turns, counter })
  const request: BrainRequest = {
    model: body.model,
    max_tokens: body.max_tokens,
    messages: toBrainMessages(turns),
    ...(body.system !== undefined && {
      system: blocksOf(body.system).map(({ text = "" }) => ({ type: "text", text })),
    }),
    ...(body.tools && {
      tools: visibleTools(body.tools, turns)
        .filter(({ name }) => name)
        .map(toBrainTool),
    }),
    // a server tool that has run satisfies the choice: what follows is the model's own
    ...(body.tool_choice && turns.at(-1)?.role !== "assistant" && { tool_choice: body.tool_choice }),
    ...formatOf(body),
  }
  try {
    const index = simulation.turnsAnswered++
    const answer = await brain.answer({ request, index, ...chance, ...(summary && { summary }) })
    return { ...answer, content: answer.content.map((block) => named(block, chance.nextToolUseId)) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    // a brain that fails will fail again, so the SDK should not retry
    throw new ApiError(500, `The brain "${brain.name}" failed: ${why}`, { headers: { "x-should-retry": "false" } })
  }
}

function named(block: AnswerBlock, nextToolUseId: () => string): NamedBlock {
  if (block.type !== "tool_use" && block.type !== "server_tool_use") return block
  const { id = `${block.type === "tool_use" ? "" : "srv"}${nextToolUseId()}` } = block
  return { ...block, id }
}

/** Tools of the API come without a schema. A toolset has no name, and brains do not see it. */
function toBrainTool(tool: ToolParam): BrainTool {
  const input_schema = tool.input_schema ?? apiToolInput(tool)
  return { ...tool, ...(input_schema && { input_schema }) }
}

/** The schema of a structured output, also from the deprecated field. */
function formatOf({ output_config, output_format }: MessagesBody): Pick<BrainRequest, "format"> {
  const { schema } = (output_config?.format ?? output_format ?? {}) as { schema?: Record<string, unknown> }
  return schema ? { format: { schema } } : {}
}

/** A compaction block reaches the brain as it reaches a model: as a summary in a user message. */
function toBrainMessages(turns: readonly Turn[]): readonly BrainMessage[] {
  const messages: { role: Role; content: BrainBlock[] }[] = []
  for (const { role, blocks } of turns) {
    for (const { block } of blocks) {
      const isSummary = block.type === "compaction"
      const sender = isSummary ? "user" : role
      const content = isSummary ? { type: "text", text: `${block.content ?? ""}` } : toBrainBlock(block)
      const last = messages.at(-1)
      if (last?.role === sender) last.content.push(content)
      else messages.push({ role: sender, content: [content] })
    }
  }
  return messages
}

function toBrainBlock({ content, cache_control: _, ...block }: Block): BrainBlock {
  return content === undefined || content === null
    ? block
    : { ...block, content: content as string | readonly BrainBlock[] }
}
