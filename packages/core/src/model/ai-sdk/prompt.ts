/**
 * A request as the AI SDK takes it. Text, media, calls, results and reasoning have counterparts; results go into messages of their own.
 * Everything else (search results, calls of server tools) is passed on as text, so that the model knows about it. Tool inputs lose the
 * model's spelling here, because the AI SDK takes them as values.
 */
import {
  asServerResult,
  asServerUse,
  type Block,
  isToolUse,
  resultBlocks,
  type ToolResult,
  textOf,
  toBlocks,
} from "../../messages/blocks.ts"
import type { ModelRequest, ToolDefinition } from "../../messages/request.ts"
import { InvalidModelRequestError } from "../errors.ts"
import type { CallOptions, FilePart, PromptMessage, ProviderOptions, ToolOutput, ToolResultPart } from "./interface.ts"
import { readThinking } from "./provider-notes.ts"

type Message = ModelRequest["messages"][number]
type UserPart = Extract<PromptMessage, { role: "user" }>["content"][number]
type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number]
type FunctionTool = Extract<NonNullable<CallOptions["tools"]>[number], { type: "function" }>
interface TextPart {
  type: "text"
  text: string
  providerOptions?: ProviderOptions
}

export function toCallOptions(request: ModelRequest, provider: string): CallOptions {
  const { messages, system = [], tools = [], tool_choice, stop_sequences } = request
  const carrying = { nameOfCall: callNames(messages), mediaInResults: MEDIA_IN_RESULTS.test(provider) }
  const reasoning = reasoningOf(request)
  return {
    prompt: [
      ...toBlocks(system).map((block) => systemMessage(block)),
      ...messages.flatMap((message) => promptMessages(message, carrying)),
    ],
    maxOutputTokens: request.max_tokens,
    ...(tools.length > 0 ? { tools: tools.map((tool) => functionTool(tool, provider)) } : {}),
    ...(tool_choice ? { toolChoice: toolChoice(tool_choice) } : {}),
    ...(stop_sequences?.length ? { stopSequences: stop_sequences } : {}),
    ...(reasoning ? { reasoning } : {}),
  }
}

function reasoningOf({ thinking, output_config }: ModelRequest): CallOptions["reasoning"] {
  return thinking?.type === "disabled" ? "none" : (output_config?.effort ?? undefined)
}

function systemMessage(block: Block): PromptMessage {
  return { role: "system", content: textOf([block]), ...breakpoint(block) }
}

/** Results must name the tool, and only the call has the name. */
function callNames(messages: readonly Message[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap(({ content }) => toBlocks(content).filter(isToolUse))
  return new Map(calls.map(({ id, name }) => [id, name]))
}

/** Providers whose results can hold images. The packages of others write the bytes out as text, in every later request. */
const MEDIA_IN_RESULTS = /anthropic|bedrock|google|vertex|\bresponses\b/i

interface Carrying {
  readonly nameOfCall: ReadonlyMap<string, string>
  /** Whether images stay in the results. If not, they follow in a message of the user's role. */
  readonly mediaInResults: boolean
}

function promptMessages({ role, content }: Message, carrying: Carrying): PromptMessage[] {
  const blocks = toBlocks(content)
  if (role === "system") return blocks.map((block) => systemMessage(block))
  if (role === "assistant") return nonEmpty({ role, content: assistantParts(blocks) })
  const results = blocks.filter((block) => block.type === "tool_result")
  const rest = blocks.filter((block) => block.type !== "tool_result")
  const following = carrying.mediaInResults ? [] : results.flatMap((result) => mediaAfter(result, carrying))
  return [
    ...nonEmpty({ role: "tool", content: results.map((result) => resultPart(result, carrying)) }),
    ...nonEmpty({ role, content: [...following, ...rest.map(userPart)] }),
  ]
}

/** The images and documents of a result, with a line that says where they belong. */
function mediaAfter(result: ToolResult, { nameOfCall }: Carrying): UserPart[] {
  const files = resultBlocks(result).flatMap((block) => filePart(block) ?? [])
  if (files.length === 0) return []
  const tool = nameOfCall.get(result.tool_use_id) ?? "a tool"
  return [{ type: "text", text: `[From the result of ${tool}, call ${result.tool_use_id}:]` }, ...files]
}

const nonEmpty = (message: PromptMessage): PromptMessage[] => (message.content.length > 0 ? [message] : [])

function userPart(block: Block): UserPart {
  return filePart(block) ?? textPart(block)
}

function assistantParts(blocks: readonly Block[]): AssistantPart[] {
  const parts: AssistantPart[] = []
  let notes: ProviderOptions | undefined
  for (const block of blocks) {
    if (block.type === "thinking" || block.type === "redacted_thinking") {
      const meaning = readThinking(block)
      if (meaning.kind === "carrier") notes = meaning.notes
      else parts.push({ type: "reasoning", text: meaning.text, providerOptions: meaning.notes })
      continue
    }
    const providerOptions = { ...notes, ...breakpoint(block).providerOptions }
    const extra = Object.keys(providerOptions).length > 0 ? { providerOptions } : {}
    notes = undefined
    parts.push(
      isToolUse(block)
        ? { type: "tool-call", toolCallId: block.id, toolName: block.name, input: block.input, ...extra }
        : { ...textPart(block), ...extra },
    )
  }
  return parts
}

function textPart(block: Block): TextPart {
  return { type: "text", text: asText(block), ...breakpoint(block) }
}

function asText(block: Block): string {
  if (block.type === "text") return block.text
  if (block.type === "search_result") return `${block.title} (${block.source})\n${textOf(block.content)}`
  const use = asServerUse(block)
  if (use) return `[${use.name} was called with ${JSON.stringify(use.input)}]`
  const result = asServerResult(block)
  if (result) return `[${result.type}: ${JSON.stringify(result.content)}]`
  const { content } = block as { content?: unknown } // a compaction block is its summary
  return typeof content === "string" ? content : JSON.stringify(block)
}

/** Images and documents. Text documents stay files, so that they keep their names. */
function filePart(block: Block): FilePart | undefined {
  if (block.type !== "image" && block.type !== "document") return undefined
  const { source } = block
  const title = block.type === "document" ? block.title : undefined
  const file = { type: "file" as const, ...(title ? { filename: title } : {}), ...breakpoint(block) }
  switch (source.type) {
    case "base64":
      return { ...file, mediaType: source.media_type, data: { type: "data", data: source.data } }
    case "text":
      return { ...file, mediaType: source.media_type, data: { type: "text", text: source.data } }
    case "url": {
      const mediaType = block.type === "image" ? "image" : "application/pdf"
      return { ...file, mediaType, data: { type: "url", url: new URL(source.url) } }
    }
    case "content":
      return {
        ...file,
        mediaType: "text/plain",
        data: { type: "text", text: textOf(source.content as string | Block[]) },
      }
    default:
      return undefined // a file stored at Anthropic: no other provider can read it
  }
}

function resultPart(result: ToolResult, { nameOfCall, mediaInResults }: Carrying): ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: result.tool_use_id,
    toolName: nameOfCall.get(result.tool_use_id) ?? "unknown",
    output: resultOutput(result, mediaInResults),
    ...breakpoint(result),
  }
}

function resultOutput(result: ToolResult, mediaInResults: boolean): ToolOutput {
  const blocks = resultBlocks(result)
  if (mediaInResults && blocks.some((block) => filePart(block))) {
    return { type: "content", value: blocks.map((block) => filePart(block) ?? { type: "text", text: asText(block) }) }
  }
  const value = blocks
    .map((block) => (filePart(block) ? `[${block.type}: in the next message]` : asText(block)))
    .join("\n")
  return { type: result.is_error ? "error-text" : "text", value }
}

function functionTool(tool: ToolDefinition, provider: string): FunctionTool {
  if (!("input_schema" in tool)) {
    throw new InvalidModelRequestError({
      provider,
      said: `a tool of type "${tool.type}" runs on Anthropic's servers only`,
    })
  }
  const { name, description, input_schema } = tool
  return {
    type: "function",
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: input_schema as FunctionTool["inputSchema"],
    ...breakpoint(tool),
  }
}

function toolChoice(choice: NonNullable<ModelRequest["tool_choice"]>): NonNullable<CallOptions["toolChoice"]> {
  switch (choice.type) {
    case "tool":
      return { type: "tool", toolName: choice.name }
    case "any":
      return { type: "required" }
    default:
      return { type: choice.type }
  }
}

/** Claude's breakpoints, for Claude through the AI SDK. Other providers ignore them. */
function breakpoint(item: object): { providerOptions?: ProviderOptions } {
  const mark = "cache_control" in item && item.cache_control
  return mark ? { providerOptions: { anthropic: { cacheControl: mark as { type: string } } } } : {}
}
