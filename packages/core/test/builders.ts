/** Small builders for stored messages: `conversation().user("hi").call("Read", { file_path: "a" }).result("text").say("done").messages`. */
import { seededIds } from "../src/base/clock.ts"
import type { Attachment } from "../src/messages/attachments.ts"
import type { Block } from "../src/messages/blocks.ts"
import type { CompactMetadata, Message, Usage } from "../src/messages/messages.ts"

type Flags = {
  readonly isMeta?: boolean
  readonly isSidechain?: boolean
  readonly isCompactSummary?: boolean
  readonly isVisibleInTranscriptOnly?: boolean
}
type Response = {
  readonly id?: string
  readonly model?: string
  readonly usage?: Usage
  readonly stop_reason?: string
  readonly isApiErrorMessage?: boolean
}

export class ConversationBuilder {
  readonly messages: Message[] = []
  readonly #ids = seededIds("builder")
  #responses = 0
  #calls = 0
  #lastCalls: string[] = []

  user(content: string | readonly Block[], flags: Flags = {}): this {
    return this.#push({ type: "user", message: { role: "user", content }, ...flags })
  }

  /** Adds a response. Without an id it gets a new one. */
  respond(content: string | readonly Block[], { isApiErrorMessage, ...response }: Response = {}): this {
    const message = {
      role: "assistant" as const,
      id: `msg_${this.#responses++}`,
      model: "claude-opus-4-6",
      content,
      ...response,
    }
    return this.#push({ type: "assistant", message, ...(isApiErrorMessage ? { isApiErrorMessage } : {}) })
  }

  say(text: string, response: Response = {}): this {
    return this.respond([{ type: "text", text }], response)
  }

  /** Adds a response that calls one tool. The next `result` answers it. */
  call(name: string, input: unknown = {}, response: Response = {}): this {
    const id = `toolu_${this.#calls++}`
    this.#lastCalls.push(id)
    return this.respond([{ type: "tool_use", id, name, input }], response)
  }

  /** Answers the oldest call that has no result yet. */
  result(content: string | readonly Block[], isError = false): this {
    const id = this.#lastCalls.shift() ?? "toolu_none"
    const result = {
      type: "tool_result" as const,
      tool_use_id: id,
      content: content as string,
      ...(isError ? { is_error: true } : {}),
    }
    return this.user([result])
  }

  attach(attachment: Attachment): this {
    return this.#push({ type: "attachment", attachment })
  }

  boundary(metadata: Partial<CompactMetadata> = {}): this {
    const compactMetadata = { trigger: "auto" as const, preTokens: 1, ...metadata }
    return this.#push({ type: "system", subtype: "compact_boundary", compactMetadata })
  }

  system(content: string): this {
    return this.#push({ type: "system", content })
  }

  progress(): this {
    return this.#push({ type: "progress", data: {} })
  }

  #push(draft: object): this {
    const parentUuid = this.messages.at(-1)?.uuid ?? null
    this.messages.push({
      uuid: this.#ids.uuid(),
      parentUuid,
      timestamp: "2026-01-01T00:00:00.000Z",
      ...draft,
    } as Message)
    return this
  }
}

export const conversation = () => new ConversationBuilder()

/** The messages of a request as short readable lines: `user: text "hi" | result toolu_0 "…"`. */
export function sketch(messages: readonly { readonly role: string; readonly content: readonly Block[] }[]): string[] {
  return messages.map(({ role, content }) => `${role}: ${content.map(sketchBlock).join(" | ")}`)
}

function sketchBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return JSON.stringify(block.text)
    case "thinking":
      return `thinking ${JSON.stringify(block.thinking)}`
    case "tool_use":
      return `call ${block.id} ${block.name}`
    case "tool_result":
      return `result ${block.tool_use_id}${block.is_error ? " failed" : ""} ${JSON.stringify(block.content)}`
    default:
      return block.type
  }
}
