/** A request to the Messages API, as the official SDK takes it. */
import type { MessageCreateParamsNonStreaming } from "@anthropic-ai/sdk/resources/messages"

export type ModelRequest = MessageCreateParamsNonStreaming
export type SystemPrompt = NonNullable<ModelRequest["system"]>
export type ToolDefinition = NonNullable<ModelRequest["tools"]>[number]
