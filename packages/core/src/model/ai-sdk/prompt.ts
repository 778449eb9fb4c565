/**
 * Converts a request to the AI SDK. Text, media, calls, results and reasoning have counterparts; results go into separate messages.
 * Everything else (search results, calls of server tools) becomes text, so that the model knows about it. Tool inputs lose the model's
 * spelling, because the AI SDK takes them as values. What a program of the AI SDK sent is restored exactly (`provider-metadata.ts`).
 */
import {
  asServerResult,
  asServerUse,
  type Block,
  isThinking,
  isToolResult,
  isToolUse,
  resultBlocks,
  type Thinking,
  type ToolResult,
  type ToolUse,
  textOf,
  toBlocks,
} from "../../messages/blocks.ts"
import type { ModelRequest, ToolDefinition } from "../../messages/request.ts"
import { InvalidModelRequestError } from "../errors.ts"
import type {
  AiSdkToolOutput,
  CallOptions,
  FilePart,
  PromptMessage,
  ProviderOptions,
  ToolResultPart,
} from "./interface.ts"
import {
  type NamedCall,
  namedCall,
  optionsOn,
  originalPart,
  providerMetadataOf,
  restoreOutput,
  withMessageFields,
  withSilentParts,
} from "./provider-metadata.ts"
import { readThinking } from "./reasoning-signatures.ts"

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
  const carrying = { calls: callsIn(messages), mediaInResults: MEDIA_IN_RESULTS.test(provider) }
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
  return withMessageFields({ role: "system", content: textOf([block]), ...optionsOn(block) }, [block])
}

/** Calls by id: results must name the tool, and only the call has the name. */
function callsIn(messages: readonly Message[]): ReadonlyMap<string, NamedCall> {
  const calls = messages.flatMap(({ content }) => toBlocks(content).filter(isToolUse))
  return new Map(calls.map((call) => [call.id, namedCall(call)]))
}

/** Providers whose results can contain images. Other packages write the bytes as text, in every later request. */
const MEDIA_IN_RESULTS = /anthropic|bedrock|google|vertex|\bresponses\b/i

interface PromptContext {
  readonly calls: ReadonlyMap<string, NamedCall>
  /** Whether images stay in the results. If not, they follow in a user message. */
  readonly mediaInResults: boolean
}

function promptMessages({ role, content }: Message, carrying: PromptContext): PromptMessage[] {
  const blocks = toBlocks(content)
  if (role === "system") return blocks.map((block) => systemMessage(block))
  if (role === "assistant") {
    const parts = withSilentParts(assistantParts(blocks), blocks) as AssistantPart[]
    return nonEmpty(withMessageFields({ role, content: parts }, blocks))
  }
  const [results, rest] = [blocks.filter(isToolBlock), blocks.filter((block) => !isToolBlock(block))]
  const following = carrying.mediaInResults ? [] : results.flatMap((result) => mediaAfter(result, carrying))
  const answers = results.map((block) => (isToolResult(block) ? resultPart(block, carrying) : originalPart(block)!))
  return [
    ...nonEmpty(withMessageFields({ role: "tool", content: answers } as PromptMessage, results)),
    ...nonEmpty(withMessageFields({ role, content: [...following, ...rest.map(userPart)] }, rest)),
  ]
}

const isToolBlock = (block: Block): boolean =>
  isToolResult(block) || originalPart(block)?.type === "tool-approval-response"

/** The images and documents of a result, after a line that says where they belong. */
function mediaAfter(result: Block, { calls }: PromptContext): UserPart[] {
  if (!isToolResult(result) || providerMetadataOf(result).output) return []
  const files = resultBlocks(result).flatMap((block) => filePart(block) ?? [])
  if (files.length === 0) return []
  const tool = calls.get(result.tool_use_id)?.toolName ?? "a tool"
  return [{ type: "text", text: `[From the result of ${tool}, call ${result.tool_use_id}:]` }, ...files]
}

const nonEmpty = (message: PromptMessage): PromptMessage[] => (message.content.length > 0 ? [message] : [])

function userPart(block: Block): UserPart {
  return (originalPart(block) as UserPart | undefined) ?? filePart(block) ?? textPart(block)
}

function assistantParts(blocks: readonly Block[]): AssistantPart[] {
  const parts: AssistantPart[] = []
  let notes: ProviderOptions | undefined
  for (const block of blocks) {
    const sent = originalPart(block) as AssistantPart | undefined
    if (sent) parts.push(sent)
    else if (isThinking(block)) {
      const meaning = readThinking(block)
      if (meaning.kind === "carrier") notes = meaning.notes
      else parts.push(reasoningPart(block))
    } else {
      parts.push(isToolUse(block) ? callPart(block, notes) : (filePart(block) ?? textPart(block, notes)))
      notes = undefined
    }
  }
  return parts
}

/** Reasoning without the program's own metadata. */
export function plainReasoning(block: Thinking): AssistantPart {
  const { text = "", notes } = readThinking(block) as { text?: string; notes: ProviderOptions }
  return { type: "reasoning", text, ...(Object.keys(notes).length > 0 ? { providerOptions: notes } : {}) }
}

const reasoningPart = (block: Thinking): AssistantPart =>
  ({ ...plainReasoning(block), ...providerMetadataOf(block).part }) as AssistantPart

function callPart(block: ToolUse, notes?: ProviderOptions): AssistantPart {
  const { providerOptions: _, ...part } = providerMetadataOf(block).part ?? {}
  const { id: toolCallId, name: toolName, input } = block
  return { type: "tool-call", toolCallId, toolName, input, ...part, ...optionsOn(block, notes) } as AssistantPart
}

function textPart(block: Block, notes?: ProviderOptions): TextPart {
  const { providerOptions: _, ...part } = providerMetadataOf(block).part ?? {}
  return { type: "text", text: asText(block), ...part, ...optionsOn(block, notes) }
}

function asText(block: Block): string {
  if (block.type === "text") return block.text
  if (block.type === "search_result") return `${block.title} (${block.source})\n${textOf(block.content)}`
  const use = asServerUse(block)
  if (use) return `[${use.name} was called with ${JSON.stringify(use.input)}]`
  const result = asServerResult(block)
  if (result) return `[${result.type}: ${JSON.stringify(result.content)}]`
  const { content } = block as { content?: unknown } // the content of a compaction block is its summary
  return typeof content === "string" ? content : JSON.stringify(block)
}

function filePart(block: Block): FilePart | undefined {
  const plain = plainFile(block)
  if (!plain) return undefined
  const { providerOptions: _, ...part } = providerMetadataOf(block).part ?? {}
  return { ...plain, ...part, ...optionsOn(block) } as FilePart
}

/** Images and documents. Text documents stay files, so that they keep their file names. */
export function plainFile(block: Block): FilePart | undefined {
  if (block.type !== "image" && block.type !== "document") return undefined
  const { source } = block
  const title = block.type === "document" ? block.title : undefined
  const file = { type: "file" as const, ...(title ? { filename: title } : {}) }
  switch (source.type) {
    case "base64":
      return { ...file, mediaType: source.media_type, data: { type: "data", data: source.data } }
    case "text":
      return { ...file, mediaType: source.media_type, data: textData(source.data, providerMetadataOf(block).bytes) }
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
      return undefined // a file stored at Anthropic, which no other provider can read
  }
}

const textData = (text: string, asBytes = false): FilePart["data"] =>
  asBytes ? { type: "data", data: Buffer.from(text).toString("base64") } : { type: "text", text }

function resultPart(result: ToolResult, { calls, mediaInResults }: PromptContext): ToolResultPart {
  const { toolCallId, toolName } = calls.get(result.tool_use_id) ?? {
    toolCallId: result.tool_use_id,
    toolName: "unknown",
  }
  const { providerOptions: _, ...part } = providerMetadataOf(result).part ?? {}
  const output = restoreOutput(result, resultItemPart) ?? resultOutput(result, mediaInResults)
  return { type: "tool-result", toolCallId, toolName, ...part, output, ...optionsOn(result) }
}

/** An item of a result: the original part, a file or a text. */
const resultItemPart = (block: Block): object => originalPart(block) ?? filePart(block) ?? textPart(block)

function resultOutput(result: ToolResult, mediaInResults: boolean): AiSdkToolOutput {
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
      providerMessage: `a tool of type "${tool.type}" runs on Anthropic's servers only`,
    })
  }
  const { name, description, input_schema } = tool
  return {
    type: "function",
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: input_schema as FunctionTool["inputSchema"],
    ...optionsOn(tool),
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
