/** Your own loop, your own SDK, your own tools: the library keeps the conversation. */
import type Anthropic from "@anthropic-ai/sdk"
import { type Conversation, openConversation, type SettingsInput, type ToolResult } from "@strata/core"
import { anthropicModel, ownLoopLayers } from "@strata/core/agent"

export interface Agent {
  readonly client: Anthropic
  readonly model: string
  readonly system: string
  readonly tools: Anthropic.Messages.Tool[]
  /** Runs a tool call; whatever it throws becomes an error result. */
  readonly run: (name: string, input: unknown) => Promise<string>
}

export interface Where {
  /** Goes on with this conversation where there is one. */
  readonly id?: string
  readonly dir?: string
  readonly settings?: SettingsInput
  /** Gets the conversation before it begins, to listen to its events. */
  readonly watch?: (chat: Conversation) => void
}

/** Answers a question. The conversation is left open, to be looked at or gone on with. */
export async function ask(agent: Agent, question: string, { watch, ...where }: Where = {}): Promise<Conversation> {
  const { client, model, system, tools } = agent
  const layers = ownLoopLayers({ model: anthropicModel({ model, client }) })
  const chat = await openConversation({ model, system, tools, layers, ...where })
  watch?.(chat)
  await chat.add({ role: "user", content: question })
  for (;;) {
    const request = await chat.prepare() // always valid, always fits, and the same bytes again after a crash
    const response = await agent.client.messages
      .stream({ ...request, cache_control: { type: "ephemeral" } })
      .finalMessage()
    await chat.record(response) // in the journal before anything else happens
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
