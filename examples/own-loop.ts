/** Your own loop, SDK and tools. The library keeps the conversation. */
import type Anthropic from "@anthropic-ai/sdk"
import { type Conversation, openConversation, type SettingsInput, type ToolResult } from "@strata/core"
import { anthropicModel, ownLoopLayers } from "@strata/core/agent"

export interface Agent {
  readonly client: Anthropic
  readonly model: string
  readonly system: string
  readonly tools: Anthropic.Messages.Tool[]
  /** Runs a tool call. An error it throws becomes an error result. */
  readonly run: (name: string, input: unknown) => Promise<string>
}

export interface Where {
  /** Continues this conversation if it exists. */
  readonly id?: string
  readonly dir?: string
  readonly settings?: SettingsInput
  /** Receives the conversation before it begins, to listen to its events. */
  readonly watch?: (chat: Conversation) => void
}

/** Answers a question. The conversation stays open, so you can inspect or continue it. */
export async function ask(agent: Agent, question: string, { watch, ...where }: Where = {}): Promise<Conversation> {
  const { client, model, system, tools } = agent
  const layers = ownLoopLayers({ model: anthropicModel({ model, client }) })
  const chat = await openConversation({ model, system, tools, layers, ...where })
  watch?.(chat)
  await chat.add({ role: "user", content: question })
  for (;;) {
    const request = await chat.prepare() // valid, fits the window, and has the same bytes after a crash
    const response = await agent.client.messages
      .stream({ ...request, cache_control: { type: "ephemeral" } })
      .finalMessage()
    await chat.record(response) // written to the journal before anything else happens
    const calls = response.content.filter((block) => block.type === "tool_use")
    if (calls.length === 0) return chat
    await chat.add({ role: "user", content: await Promise.all(calls.map((call) => answer(agent, call))) })
  }
}

async function answer(agent: Agent, { id, name, input }: Anthropic.Messages.ToolUseBlock): Promise<ToolResult> {
  try {
    return { type: "tool_result", tool_use_id: id, content: await agent.run(name, input) }
  } catch (error) {
    return { type: "tool_result", tool_use_id: id, content: String(error), is_error: true }
  }
}
