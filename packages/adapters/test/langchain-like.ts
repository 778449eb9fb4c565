/**
 * Objects with the shape of LangChain's: messages, a chat model for Claude, and an agent that calls it. The model sends the same requests
 * as LangChain's own package, with the official SDK. `npm run clients -- --adapters` tests LangChain itself.
 */
import Anthropic from "@anthropic-ai/sdk"
import type { UsageMetadata } from "../src/langchain/shapes.ts"
import type { StrataMiddleware } from "../src/langchain.ts"

type Fields = Record<string, unknown>
type Part = Fields & { readonly type: string }
export interface Call {
  readonly id: string
  readonly name: string
  readonly args: Fields
}

export class Message {
  readonly type: string = "human"
  content: string | readonly Part[] = ""
  id?: string
  name?: string
  tool_calls?: readonly Call[]
  tool_call_id?: string
  usage_metadata?: UsageMetadata
  additional_kwargs: Fields = {}
  response_metadata: Fields = {}

  constructor(fields: Fields) {
    Object.assign(this, fields)
  }

  get text(): string {
    if (typeof this.content === "string") return this.content
    return this.content.map((part) => (part.type === "text" ? String(part.text) : "")).join("")
  }
}

export class AiMessage extends Message {
  override readonly type = "ai"
  override tool_calls: readonly Call[] = []

  constructor(fields: Fields) {
    super(fields)
    Object.assign(this, fields)
  }
}

/** A chunk of a response. Parts with the same index are concatenated. */
export class AiChunk extends AiMessage {
  tool_call_chunks: readonly Fields[] = []

  constructor(fields: Fields) {
    super(fields)
    Object.assign(this, { tool_call_chunks: [], ...defined(fields) })
    if (this.tool_call_chunks.length > 0) this.tool_calls = callsIn(this.tool_call_chunks)
  }

  concat(next: AiChunk): AiChunk {
    return new AiChunk({
      ...({ ...this } as Fields),
      content: grown([...asParts(this.content), ...asParts(next.content)]),
      tool_call_chunks: [...this.tool_call_chunks, ...next.tool_call_chunks],
      additional_kwargs: { ...this.additional_kwargs, ...next.additional_kwargs },
      response_metadata: { ...this.response_metadata, ...next.response_metadata },
      usage_metadata: added(this.usage_metadata, next.usage_metadata),
      id: this.id ?? next.id,
    })
  }
}

const defined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
const asParts = (content: string | readonly Part[]): readonly Part[] =>
  typeof content === "string" ? (content === "" ? [] : [{ type: "text", text: content }]) : content

function grown(parts: readonly Part[]): readonly Part[] {
  const made: Part[] = []
  for (const part of parts) {
    const before = made.find(({ index, type }) => index !== undefined && index === part.index && type === part.type)
    if (!before) made.push({ ...part })
    else
      for (const key of ["text", "thinking", "signature", "input"])
        if (part[key] !== undefined) (before as Fields)[key] = `${before[key] ?? ""}${part[key]}`
  }
  return made
}

function callsIn(chunks: readonly Fields[]): readonly Call[] {
  const places = [...new Set(chunks.map(({ index }) => index))]
  return places.flatMap((place) => {
    const own = chunks.filter(({ index }) => index === place)
    const text = own.map(({ args = "" }) => args).join("")
    const { id, name } = Object.assign({}, ...own.map((each) => defined(each)).reverse()) as Fields
    return typeof name === "string" ? [{ id: String(id), name, args: text === "" ? {} : tried(text) }] : []
  })
}

function tried(text: string): Fields {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function added(one: UsageMetadata | undefined, other: UsageMetadata | undefined): UsageMetadata | undefined {
  if (!one || !other) return one ?? other
  const sum = (key: "input_tokens" | "output_tokens" | "total_tokens") => one[key] + other[key]
  return {
    ...one,
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    total_tokens: sum("total_tokens"),
  }
}

export class GenerationChunk {
  readonly text: string
  readonly message: AiChunk

  constructor({ text, message }: { text: string; message: AiChunk }) {
    this.text = text
    this.message = message
  }
}

export interface Listener {
  readonly name: string
  readonly lc_prefer_streaming?: boolean
  handleChatModelStart?(...words: unknown[]): unknown
  handleLLMNewToken?(...words: unknown[]): unknown
  handleLLMEnd?(...words: unknown[]): unknown
  handleLLMError?(...words: unknown[]): unknown
}

type Options = Fields & {
  readonly tools?: readonly unknown[]
  readonly callbacks?: readonly Listener[]
  readonly signal?: AbortSignal
}

/** A chat model for Claude. */
export class ClaudeLike {
  readonly model: string
  readonly maxTokens = 1_000
  readonly #client: Anthropic
  #runs = 0

  constructor(model: string, baseURL: string) {
    this.model = model
    this.#client = new Anthropic({ baseURL, apiKey: "sk-ant-secret-of-the-person", maxRetries: 0 })
  }

  _llmType(): string {
    return "anthropic"
  }

  invocationParams({ tools, tool_choice }: Options): Fields {
    return { model: this.model, max_tokens: this.maxTokens, tools, tool_choice, stream: false, temperature: undefined }
  }

  bindTools(tools: readonly unknown[], kwargs: Fields = {}) {
    const config = { tools, ...kwargs }
    return {
      config,
      bound: this,
      invoke: (input: unknown, options: Options = {}) => this.invoke(input, { ...config, ...options }),
    }
  }

  async invoke(input: unknown, options: Options = {}): Promise<AiMessage> {
    const { callbacks = [] } = options
    const runId = `run-${++this.#runs}`
    const all = async (name: keyof Listener, ...words: unknown[]) => {
      for (const listener of callbacks)
        await (listener[name] as ((...all: unknown[]) => unknown) | undefined)?.(...words)
    }
    await all("handleChatModelStart", {}, [input], runId)
    try {
      const message = callbacks.some((listener) => listener.lc_prefer_streaming)
        ? await this.#streamed(input, options, (chunk) =>
            all("handleLLMNewToken", chunk.text, {}, runId, undefined, [], { chunk }),
          )
        : await this.#whole(input, options)
      await all("handleLLMEnd", { generations: [[{ text: message.text, message }]] }, runId)
      return message
    } catch (error) {
      await all("handleLLMError", error, runId)
      throw error
    }
  }

  async stream(input: unknown, options: Options = {}): Promise<AsyncIterable<AiChunk>> {
    const pieces: AiChunk[] = []
    await this.#streamed(input, options, async ({ message }) => {
      pieces.push(message)
    })
    return ReadableStream.from(pieces)
  }

  async #whole(input: unknown, options: Options): Promise<AiMessage> {
    const { content, usage, ...rest } = (await this.#client.messages.create(this.#body(input, options) as never, {
      signal: options.signal ?? null,
    })) as Anthropic.Message
    const calls = content.flatMap((block) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, args: block.input as Fields }] : [],
    )
    const only = content.length === 1 && content[0]!.type === "text" ? content[0]!.text : content
    const fields = {
      content: only,
      tool_calls: calls,
      id: rest.id,
      usage_metadata: counted(usage),
      response_metadata: { ...rest, usage },
    }
    return new AiMessage(fields)
  }

  async #streamed(input: unknown, options: Options, emit: (chunk: GenerationChunk) => Promise<void>): Promise<AiChunk> {
    const events = this.#client.messages.stream(this.#body(input, options) as never, { signal: options.signal ?? null })
    let whole: AiChunk | undefined
    for await (const event of events) {
      const fields = fieldsOf(event)
      if (!fields) continue
      const message = new AiChunk(fields)
      whole = whole ? whole.concat(message) : message
      await emit(new GenerationChunk({ text: message.text, message }))
    }
    return whole!
  }

  #body(input: unknown, options: Options): Fields {
    const { stream: _, ...params } = this.invocationParams(options)
    const [first, ...others] = input as readonly (Message & { role?: string })[]
    const isPrompt = kindOf(first!) === "system"
    const system = isPrompt && first!.content !== "" ? { system: first!.content } : {}
    return { ...params, ...system, messages: (isPrompt ? others : [first!, ...others]).map(wired) }
  }
}

const kindOf = ({ role, type }: { role?: string; type?: string }) =>
  ({ user: "human", assistant: "ai" })[role ?? ""] ?? role ?? type

function wired(message: Message & { role?: string }): Fields {
  const { content, tool_calls = [], tool_call_id } = message
  const kind = kindOf(message)
  if (kind === "tool") return { role: "user", content: [{ type: "tool_result", tool_use_id: tool_call_id, content }] }
  if (kind !== "ai") return { role: "user", content }
  const parts = asParts(content).filter(({ type }) => type !== "input_json_delta")
  const blocks = parts.map(({ index: _, ...part }) => {
    const call = tool_calls.find(({ id }) => id === part.id)
    return call ? { ...part, input: call.args } : part
  })
  const missing = tool_calls.filter(({ id }) => !parts.some((part) => part.id === id))
  return {
    role: "assistant",
    content: [...blocks, ...missing.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args }))],
  }
}

const counted = ({
  input_tokens,
  output_tokens,
  cache_read_input_tokens,
  cache_creation_input_tokens,
}: Anthropic.Usage): Fields => {
  const [read, written] = [cache_read_input_tokens ?? 0, cache_creation_input_tokens ?? 0]
  const input = input_tokens + read + written
  return {
    input_tokens: input,
    output_tokens,
    total_tokens: input + output_tokens,
    input_token_details: { cache_read: read, cache_creation: written },
  }
}

function fieldsOf(event: Anthropic.MessageStreamEvent): Fields | undefined {
  if (event.type === "message_start") {
    const { usage, content: _, ...rest } = event.message
    return {
      content: [],
      id: rest.id,
      additional_kwargs: defined({ ...rest }),
      usage_metadata: counted({ ...usage, output_tokens: 0 }),
    }
  }
  if (event.type === "message_delta") {
    const { output_tokens } = event.usage
    return {
      content: [],
      additional_kwargs: { ...event.delta },
      usage_metadata: { input_tokens: 0, output_tokens, total_tokens: output_tokens },
    }
  }
  if (event.type === "content_block_start") {
    const { index, content_block: block } = event
    if (block.type !== "tool_use") return { content: [{ index, ...block }] }
    const { id, name } = block
    return { content: [{ index, ...block, input: "" }], tool_call_chunks: [{ id, name, index, args: "" }] }
  }
  if (event.type !== "content_block_delta") return undefined
  const { index, delta } = event
  if (delta.type === "input_json_delta")
    return {
      content: [{ index, type: delta.type, input: delta.partial_json }],
      tool_call_chunks: [{ index, args: delta.partial_json }],
    }
  return { content: [{ index, ...delta, type: delta.type === "text_delta" ? "text" : "thinking" }] }
}

/** An agent: it calls the model through its middleware until a response has no calls. */
export class Agent {
  readonly messages: Message[] = []
  readonly #parts: AgentParts

  constructor(parts: AgentParts) {
    this.#parts = parts
  }

  async say(text: string, options: Partial<Options> = {}): Promise<string> {
    this.messages.push(new Message({ content: text }))
    for (;;) {
      const answer = await this.ask(options)
      if (answer.tool_calls.length === 0) return answer.text
      for (const { id, name, args } of answer.tool_calls)
        this.messages.push(
          new (class extends Message {
            override readonly type = "tool"
          })({ content: this.#parts.tool(args), tool_call_id: id, name }),
        )
    }
  }

  async ask(options: Partial<Options> = {}): Promise<AiMessage> {
    const { model, middleware, tools, thread } = this.#parts
    const prompt = new (class extends Message {
      override readonly type = "system"
    })({ content: [{ type: "text", text: "You help." }] })
    const config = { configurable: thread === undefined ? {} : { thread_id: thread }, ...options }
    const handler = (request: { readonly model: unknown }) =>
      (request.model as ClaudeLike).bindTools(tools).invoke([prompt, ...this.messages], config)
    const answer = await (middleware ? middleware.wrapModelCall({ model }, handler) : handler({ model }))
    this.messages.push(answer)
    return answer
  }
}

export interface AgentParts {
  readonly model: ClaudeLike
  readonly middleware?: StrataMiddleware
  readonly tools: readonly unknown[]
  readonly tool: (input: Fields) => string
  readonly thread?: string
}
