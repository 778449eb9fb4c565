/**
 * The requests of a recorded conversation: for each response, everything before it since the last boundary, the time it was sent,
 * and the recorded reads and writes of the prompt cache.
 *
 * Parts of one response share an API id and count once, with the usage of the last part. System prompt and tools are not recorded,
 * so they are not part of a request here.
 */
import {
  type AssistantMessage,
  type Block,
  contentOf,
  findModel,
  isFromUser,
  isText,
  isToolResult,
  type Message,
  type Usage,
} from "@strata/core"
import type { Ttl } from "@strata/sim"
import { renderAttachment } from "../../../packages/core/src/messages/attachment-texts.ts"
import { isMedia, isThinking, resultBlocks } from "../../../packages/core/src/messages/blocks.ts"
import { isBoundary, isSentToModel } from "../../../packages/core/src/messages/messages.ts"
import { createEstimator, type Estimator } from "../../../packages/core/src/tokens/estimate.ts"

export interface RecordedRequest {
  /** Start in milliseconds. Recordings lack it, so this is the time of the last message sent with the request. */
  readonly startedAt: number
  readonly model: string
  readonly blocks: readonly RecordedBlock[]
  readonly usage: RecordedUsage
  /** Lifetime of the cache entries that the request wrote. If it wrote none, the lifetime of the previous usage. */
  readonly ttl: Ttl
  readonly circumstances: Circumstances
}

/** The API's token counts. The first three add up to the input. */
export interface RecordedUsage {
  readonly read: number
  readonly write: number
  readonly uncached: number
  readonly output: number
}

export interface RecordedBlock {
  readonly id: string
  readonly role: "user" | "assistant" | "system"
  readonly estimate: number
  readonly isThinking: boolean
  readonly holdsImage: boolean
  /** Whether the block opens a new turn: it is in a user message and is neither a tool result nor a reminder. */
  readonly opensTurn: boolean
}

/** Circumstances of the request that the recording shows, as evidence for the causes of misses. */
export interface Circumstances {
  /** Number of the context. A new context begins at the start and after each boundary. */
  readonly context: number
  readonly opensContext: boolean
  /** Whether the user wrote something since the last response. */
  readonly newTurn: boolean
  readonly interrupted: boolean
  /** Whether tools, skills or the instructions of a tool server changed, as recorded. */
  readonly toolsChanged: boolean
  /** Whether the first response of the turn has thinking. It shows the setting only on models with a thinking budget. */
  readonly thinking: boolean
}

const INTERRUPTED = /^\[Request interrupted by user/
const TOOL_CHANGES = new Set(["tool_delta", "mcp_instructions", "mcp_instructions_delta"])

export const inputOf = ({ read, write, uncached }: RecordedUsage) => read + write + uncached

export function recordedRequests(messages: readonly Message[], model: string): RecordedRequest[] {
  const recorder = new Recorder(createEstimator(findModel(model).facts.family))
  for (const message of messages) recorder.add(message)
  return recorder.requests
}

class Recorder {
  readonly requests: RecordedRequest[] = []
  readonly #estimator: Estimator
  #blocks: RecordedBlock[] = []
  /** Index of the request of each response. */
  readonly #indexes = new Map<string, number>()
  #startedAt = 0
  #ttl: Ttl = "5m"
  #turnThinks = false
  #since = nothingYet(0)

  constructor(estimator: Estimator) {
    this.#estimator = estimator
  }

  add(message: Message): void {
    if (isBoundary(message)) this.#openContext(message.compactMetadata?.preservedMessages?.uuids ?? [])
    else if (message.type === "assistant" && isSentToModel(message)) this.#answer(message)
    else if (isSentToModel(message)) this.#send(message)
    if (message.type !== "assistant") this.#startedAt = Math.max(this.#startedAt, Date.parse(message.timestamp))
  }

  /**
   * Preserved messages of a boundary come after the summary. The summary is not recorded yet at this point, so they stay and it follows.
   */
  #openContext(tail: readonly string[]): void {
    const isKept = new Set(tail)
    this.#blocks = this.#blocks.filter(({ id }) => isKept.has(id.split(":")[0] as string))
    this.#since = nothingYet(this.#since.context + 1)
  }

  #send(message: Message): void {
    if (message.type === "attachment") {
      const { attachment } = message
      const kind = attachment.type === "foreign" ? attachment.kind : attachment.type
      this.#since.toolsChanged ||= TOOL_CHANGES.has(kind)
      this.#push(renderAttachment(attachment), { uuid: message.uuid, kind: "reminder" })
    } else if (message.type === "user") {
      const blocks = contentOf(message)
      this.#since.newTurn ||= isFromUser(message)
      this.#since.interrupted ||= blocks.some((block) => isText(block) && INTERRUPTED.test(block.text))
      this.#since.toolsChanged ||= blocks.some(loadsTools)
      this.#push(blocks, { uuid: message.uuid, kind: "words" })
    }
  }

  #answer(message: AssistantMessage): void {
    const { id = message.uuid, model, usage } = message.message
    const blocks = contentOf(message)
    const index = this.#indexes.get(id)
    if (usage && model !== undefined && inputOf(countsOf(usage)) > 0) {
      if (index === undefined) {
        this.#indexes.set(id, this.requests.length)
        this.#request({ model, usage, at: Date.parse(message.timestamp) })
      } else this.#change(index, { usage: countsOf(usage) })
      if (blocks.some(isThinking)) this.#learnThinking(this.#indexes.get(id) as number)
    }
    this.#push(blocks, { uuid: message.uuid, kind: "answer" })
  }

  #request({ model, usage, at }: { model: string; usage: Usage; at: number }): void {
    this.#ttl = ttlOf(usage) ?? this.#ttl
    if (this.#since.newTurn || this.requests.length === 0) this.#turnThinks = false
    this.requests.push({
      startedAt: this.#startedAt || at,
      model,
      blocks: [...this.#blocks],
      usage: countsOf(usage),
      ttl: this.#ttl,
      circumstances: { ...this.#since, thinking: this.#turnThinks },
    })
    this.#since = { ...nothingYet(this.#since.context), opensContext: false }
  }

  /** Thinking in any part of the first response shows the setting of the entire turn. */
  #learnThinking(index: number): void {
    const { circumstances } = this.requests[index] as RecordedRequest
    if (!circumstances.newTurn && index > 0) return
    this.#turnThinks = true
    this.#change(index, { circumstances: { ...circumstances, thinking: true } })
  }

  #change(index: number, changes: Partial<RecordedRequest>): void {
    this.requests[index] = { ...(this.requests[index] as RecordedRequest), ...changes }
  }

  #push(blocks: readonly Block[], { uuid, kind }: { uuid: string; kind: "words" | "reminder" | "answer" }): void {
    blocks.forEach((block, index) => {
      this.#blocks.push({
        id: `${uuid}:${index}`,
        role: kind === "answer" ? "assistant" : "user",
        estimate: this.#estimator.block(block),
        isThinking: isThinking(block),
        holdsImage: holdsImage(block),
        opensTurn: kind === "words" && !isToolResult(block),
      })
    })
  }
}

function nothingYet(context: number) {
  return { context, opensContext: true, newTurn: false, interrupted: false, toolsChanged: false }
}

function countsOf(usage: Usage): RecordedUsage {
  return {
    read: usage.cache_read_input_tokens ?? 0,
    write: usage.cache_creation_input_tokens ?? 0,
    uncached: usage.input_tokens,
    output: usage.output_tokens,
  }
}

function ttlOf({ cache_creation }: Usage): Ttl | undefined {
  if ((cache_creation?.ephemeral_1h_input_tokens ?? 0) > 0) return "1h"
  return (cache_creation?.ephemeral_5m_input_tokens ?? 0) > 0 ? "5m" : undefined
}

const holdsImage = (block: Block): boolean =>
  isMedia(block) || (isToolResult(block) && resultBlocks(block).some((inner) => isMedia(inner as Block)))

const loadsTools = (block: Block) =>
  isToolResult(block) && resultBlocks(block).some(({ type }) => (type as string) === "tool_reference")
