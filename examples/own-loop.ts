/** Your own loop, your own SDK, your own tools: the library manages the conversation. */
import type Anthropic from "@anthropic-ai/sdk"
import { type Conversation, openConversation, type SettingsInput, type ToolResult } from "@strata/core"

export interface Agent {
  readonly client: Anthropic
  readonly model: string
  readonly system: string
  readonly tools: Anthropic.Messages.Tool[]
  /** Runs a tool call. An exception becomes an error result. */
  readonly run: (name: string, input: unknown) => Promise<string>
}

export interface Where {
  /** The conversation to continue, or the id of a new one. */
  readonly id?: string
  readonly dir?: string
  readonly settings?: SettingsInput
  /** Called with the conversation before it starts, to listen to its events. */
  readonly watch?: (chat: Conversation) => void
}

/** Answers a question. The conversation stays open, so that you can inspect or continue it. */
export async function ask(agent: Agent, question: string, { watch, ...where }: Where = {}): Promise<Conversation> {
  const { client, model, system, tools } = agent
  const chat = await openConversation({ model, client, system, tools, ...where })
  watch?.(chat)
  await chat.add(question)
  for (;;) {
    const request = await chat.prepare() // valid, within the window, cached, and byte-identical after a crash
    const response = await client.messages.stream(request).finalMessage()
    await chat.record(response) // journaled before anything else happens
    const calls = response.content.filter((block) => block.type === "tool_use")
    if (calls.length === 0) return chat
    await chat.add(await Promise.all(calls.map((call) => answer(agent, call))))
  }
}

async function answer(agent: Agent, { id, name, input }: Anthropic.Messages.ToolUseBlock): Promise<ToolResult> {
  try {
    return { type: "tool_result", tool_use_id: id, content: await agent.run(name, input) }
  } catch (error) {
    return { type: "tool_result", tool_use_id: id, content: String(error), is_error: true }
  }
}
