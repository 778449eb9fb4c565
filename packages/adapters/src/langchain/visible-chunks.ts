/**
 * The chunks of a multi-round response that a listener sees: one message with consecutive indexes, without the calls of Strata's tool. The
 * usage is only known at the end, so the last chunk contains it.
 */
import { isCallPart, newMessage, PartIndexes } from "./merged-message.ts"
import { type Fields, isRecord, type LangChainMessage } from "./shapes.ts"

/** A chunk as a model passes it to listeners. */
export interface Chunk extends Fields {
  readonly message: LangChainMessage & { readonly tool_call_chunks?: readonly Fields[] }
}

interface ChunkRound {
  /** Indexes of the hidden calls among the parts and among the calls: providers number them together or separately. */
  readonly parts: Set<unknown>
  readonly calls: Set<unknown>
  hasBegun: boolean
  /** Chunks that only contain the end of the response. */
  readonly ends: Chunk[]
}

export class VisibleChunks {
  readonly #hidden: string
  readonly #rounds: ChunkRound[] = []
  readonly #places = new PartIndexes()
  readonly #seen = new WeakMap<object, Chunk | undefined>()
  #id: string | undefined

  constructor(hidden: string) {
    this.#hidden = hidden
  }

  /** The visible part of a chunk, the same for every listener. `undefined` if nothing of it is visible now. */
  chunk(chunk: Chunk, at: number): Chunk | undefined {
    if (!this.#seen.has(chunk)) this.#seen.set(chunk, this.#made(chunk, at))
    return this.#seen.get(chunk)
  }

  /** The last chunk: the stop reason and the usage. */
  end({ usage_metadata, id }: LangChainMessage): Chunk | undefined {
    const ends = this.#rounds.at(-1)?.ends ?? []
    const last = ends.at(-1)
    if (!last) return undefined
    const all = (of: (message: Chunk["message"]) => Fields | undefined): Fields =>
      Object.assign({}, ...ends.map(({ message }) => of(message)))
    const fields = {
      content: Array.isArray(last.message.content) ? [] : "",
      additional_kwargs: all(({ additional_kwargs }) => additional_kwargs),
      response_metadata: all(({ response_metadata }) => response_metadata),
      usage_metadata,
      id,
    }
    return withMessage(last, newMessage(last.message, fields))
  }

  /** Converts an event of the newer protocol. `undefined` if it is not visible. */
  event(event: Fields, at: number): Fields | undefined {
    const round = this.#round(at)
    const { content, index } = event
    switch (event.event) {
      case "message-start":
        return at === 0 ? event : undefined
      case "message-finish":
      case "usage":
        return undefined // reported once, at the end
      case "content-block-start":
        if (isRecord(content) && this.#isOurs(content)) round.parts.add(index)
        break
      case "content-block-delta":
      case "content-block-finish":
        break
      default:
        return at === 0 ? event : undefined
    }
    if (round.parts.has(index)) return undefined
    const placed = this.#places.reindex(event, at) as Fields
    return content === undefined ? placed : { ...placed, content: this.#places.reindex(content, at) }
  }

  #made(chunk: Chunk, at: number): Chunk | undefined {
    const { message } = chunk
    const round = this.#round(at)
    this.#learn(message, round)
    this.#id ??= message.id
    const isStart = !round.hasBegun
    round.hasBegun = true
    const content = Array.isArray(message.content) ? this.#seenOf(message.content, round.parts, at) : message.content
    const calls = this.#seenOf(message.tool_call_chunks ?? [], round.calls, at)
    const { tool_calls: raw, ...otherFields } = message.additional_kwargs ?? {}
    const rawCalls = Array.isArray(raw) ? this.#seenOf(raw, round.calls, at) : []
    const isEmpty = isNothing(content) && calls.length === 0
    if (isEmpty && !(isStart && at === 0)) {
      const isOurs = (message.tool_call_chunks?.length ?? 0) > 0
      const isFrame = isStart || isEnd(chunk)
      if (isFrame && !isStart && !isOurs) round.ends.push(chunk)
      if (isFrame || isOurs) return undefined
    }
    const fields = {
      content,
      tool_call_chunks: calls,
      id: message.id === undefined ? undefined : this.#id,
      name: message.name,
      additional_kwargs: rawCalls.length > 0 ? { ...otherFields, tool_calls: rawCalls } : otherFields,
      response_metadata: message.response_metadata,
    }
    return withMessage(chunk, newMessage(message, fields))
  }

  #seenOf(parts: readonly unknown[], hidden: ReadonlySet<unknown>, at: number): readonly unknown[] {
    const isHidden = (part: unknown) =>
      isRecord(part) &&
      (this.#isNamed(part) ||
        (part.index !== undefined &&
          hidden.has(part.index) &&
          (!("type" in part) || isCallPart(part) || "function" in part)))
    return parts.filter((part) => !isHidden(part)).map((part) => this.#places.reindex(part, at))
  }

  #learn({ content, tool_call_chunks = [] }: Chunk["message"], round: ChunkRound): void {
    for (const call of tool_call_chunks) {
      if (call.name === this.#hidden) round.calls.add(call.index)
    }
    for (const part of Array.isArray(content) ? content.filter(isRecord) : []) {
      if (this.#isOurs(part)) round.parts.add(part.index)
    }
  }

  #isOurs(part: Fields): boolean {
    return isCallPart(part) && part.name === this.#hidden
  }

  /** Whether a part is a hidden call by its name, including OpenAI's shape. */
  #isNamed(part: Fields): boolean {
    const { name } = isRecord(part.function) ? part.function : part
    return name === this.#hidden
  }

  #round(at: number): ChunkRound {
    while (this.#rounds.length <= at)
      this.#rounds.push({ parts: new Set(), calls: new Set(), hasBegun: false, ends: [] })
    return this.#rounds[at]!
  }
}

const isNothing = (content: unknown): boolean =>
  content === undefined || content === null || content === "" || (Array.isArray(content) && content.length === 0)

/** Whether a chunk contains the stop reason or the usage. */
const isEnd = ({ message, generationInfo }: Chunk): boolean => {
  const { additional_kwargs = {}, response_metadata = {}, usage_metadata } = message
  const all = { ...additional_kwargs, ...response_metadata, ...(isRecord(generationInfo) ? generationInfo : {}) }
  return usage_metadata !== undefined || ["stop_reason", "finish_reason", "finishReason"].some((key) => all[key])
}

type ChunkClass = new (fields: Fields) => Chunk

const withMessage = (chunk: Chunk, message: LangChainMessage): Chunk =>
  new (chunk.constructor as ChunkClass)({ ...chunk, message })
