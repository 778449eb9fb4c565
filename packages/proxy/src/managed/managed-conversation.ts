/**
 * One conversation of a client. A client's list is followed, the request in its place is prepared, and the answer is recorded. Where
 * something of ours fails, the client gets its answer all the same: from the last good view, or, as the last resort, from its own list.
 */
import type { Conversation, ModelFacts, ModelRequest } from "@strata/core"
import type { Reader } from "@strata/core/internal/conversation/follow/match"
import type { ClientRequest, ConversationStatus, Plan } from "../manager.ts"
import type { LastRequest } from "./as-client.ts"
import { type Body, bodyWith } from "./body.ts"
import type { Client } from "./client-identity.ts"
import { DirectBill } from "./direct-bill.ts"

export interface ManagedParts {
  readonly chat: Conversation
  readonly client: Client
  readonly facts: ModelFacts
  /** Nothing is changed: the journal is kept, and what would have been done is said. */
  readonly observes: boolean
  /** Reads the client's messages, which never change. */
  readonly read: Reader
  readonly now: () => Date
  /** Keeps the newest request for requests of our own. */
  readonly onRequest: (request: LastRequest) => void
  readonly log: (line: string) => void
}

type Messages = ModelRequest["messages"]
type Message = Readonly<Record<string, unknown>>

const FAILURES = 3 // in a row switch it off

/** What was sent last, for the next request if something fails. */
interface Good {
  readonly messages: Messages
  /** How many messages the client's list had. */
  readonly listed: number
  answer?: Message
}

export class ManagedConversation {
  readonly #parts: ManagedParts
  readonly #direct: DirectBill
  #good: Good | undefined
  #failures = 0
  #off: string | undefined
  #requests = 0
  #sent = 0
  #read = 0
  #input = 0
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(parts: ManagedParts) {
    this.#parts = parts
    this.#direct = new DirectBill(parts.facts)
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  get status(): ConversationStatus {
    const { chat, client, observes } = this.#parts
    const { dollars, unpriced } = chat.ledger()
    const isPriced = unpriced.length === 0
    const direct = this.#direct.dollars
    return {
      id: chat.id,
      title: chat.words().messages[0]?.text.slice(0, 80) ?? "",
      client: client.name,
      requests: this.#requests,
      sent: this.#sent,
      direct: this.#direct.tokens,
      decisions: decisionsOf(chat),
      cacheRead: this.#input === 0 ? 0 : this.#read / this.#input,
      cost: isPriced ? dollars : undefined,
      directCost: isPriced ? (observes ? dollars : direct) : undefined,
      isObserved: observes,
      ...(this.#off === undefined ? {} : { off: this.#off }),
    }
  }

  /** One request after another: the answer of one is part of the next. */
  async take(request: ClientRequest): Promise<Plan> {
    const before = this.#last
    let done = () => {}
    this.#last = new Promise<void>((resolve) => {
      done = resolve
    })
    this.#waiting++
    const end = () => {
      this.#waiting--
      done()
    }
    await before
    this.#requests++
    this.#parts.onRequest(request)
    const body = await this.#body(request).catch((error: unknown) => this.#instead(request, error))
    return this.#plan(request, { ...body, end })
  }

  async #body({ body }: ClientRequest): Promise<{ readonly text?: string }> {
    if (this.#off !== undefined) return {}
    const { chat, observes, read } = this.#parts
    const list = body.messages as Messages
    const { how } = await chat.follow(list, { ...promptIn(body), read })
    if (observes) return {}
    const { messages } = await chat.prepare()
    const isAside = how === "aside"
    if (!isAside) this.#good = { messages, listed: list.length }
    return { text: bodyWith(body, { messages, writesCache: !isAside }) }
  }

  /** Something of ours failed. What was sent last is still good, and so is what the client added since. */
  #instead({ body }: ClientRequest, error: unknown): Instead {
    const why = error instanceof Error ? error.message : String(error)
    this.#failures++
    if (this.#failures >= FAILURES) this.#off = why
    this.#parts.log(`${this.#parts.chat.id}: ${why}`)
    const list = body.messages as Messages
    const good = this.#good
    if (good?.answer && list.length > good.listed) {
      const messages = [...good.messages, ...list.slice(good.listed)]
      return { text: bodyWith(body, { messages }), passedThrough: "last-good-view" }
    }
    const messages = list.map(withoutThinking)
    return { text: bodyWith(body, { messages }), passedThrough: "own-messages" }
  }

  #plan(request: ClientRequest, { text, passedThrough, end }: Taken): Plan {
    const { chat, now } = this.#parts
    const sentAt = now().getTime()
    let isEnded = false
    const endOnce = () => {
      if (!isEnded) end()
      isEnded = true
    }
    let sentCharacters = text?.length ?? request.raw.length
    return {
      body: text,
      ...(passedThrough ? { passedThrough } : this.#off === undefined ? {} : { passedThrough: "switched-off" }),
      answered: async (message) => {
        try {
          this.#count(message, { body: request.body, at: sentAt, characters: sentCharacters })
          if (this.#good) this.#good.answer = message
          if (this.#off !== undefined) return
          await chat.record(message as never)
          if (!passedThrough) this.#failures = 0
        } catch (error) {
          this.#parts.log(`${chat.id}: ${error instanceof Error ? error.message : error}`)
        } finally {
          endOnce()
        }
      },
      refused: async ({ status, error }) => {
        const again = text === undefined ? undefined : await this.#again(request.body, { status, error })
        if (again === undefined) endOnce()
        else sentCharacters = again.length
        return again
      },
      brokeOff: async (partial) => {
        await this.#spent(partial).catch(() => undefined)
        endOnce()
      },
    }
  }

  /** The server refused what we sent: thinking that was signed for other messages, or a request that is too long. */
  async #again(body: Body, { status, error }: { readonly status: number; readonly error: unknown }) {
    const { chat } = this.#parts
    if (status !== 400 && status !== 413) return undefined
    const why = JSON.stringify(error) ?? ""
    try {
      if (/signature|thinking/i.test(why)) await chat.dropThinking("the server refused it")
      else if (await chat.noteRefusal(asRefusal(status, error))) await chat.compact({ overflowed: true })
      else
        return this.#instead(
          { body } as ClientRequest,
          new Error(`the server refused the request: ${why.slice(0, 300)}`),
        ).text
      const { messages } = await chat.prepare()
      this.#good = { messages, listed: (body.messages as Messages).length }
      return bodyWith(body, { messages })
    } catch (failure) {
      return this.#instead({ body } as ClientRequest, failure).text
    }
  }

  /** An answer that never ended is the client's to repeat. What it cost is not. */
  async #spent(partial: Message | undefined): Promise<void> {
    const { id, model, usage } = (partial ?? {}) as { id?: string; model?: string; usage?: never }
    if (typeof id !== "string" || typeof model !== "string" || !usage) return
    await this.#parts.chat.note([
      { type: "strata", subtype: "spent", purpose: "main", model, responseId: id, usage, estimated: true },
    ])
  }

  #count(
    message: Message,
    { body, at, characters }: { readonly body: Body; readonly at: number; readonly characters: number },
  ) {
    const { usage } = message as { usage?: Record<string, number | null | undefined> }
    if (!usage) return
    const read = usage.cache_read_input_tokens ?? 0
    const input = (usage.input_tokens ?? 0) + read + (usage.cache_creation_input_tokens ?? 0)
    this.#sent = input
    this.#read += read
    this.#input += input
    const output = usage.output_tokens ?? 0
    // the client need not wait for this
    setImmediate(() => {
      this.#direct.learn(characters, input)
      this.#direct.add(body, { at, output })
    })
  }
}

interface Instead {
  readonly text: string
  readonly passedThrough: string
}

interface Taken {
  readonly text?: string
  readonly passedThrough?: string
  readonly end: () => void
}

/** The block before the prompt changes with every request of some versions. It is the server's, not the conversation's. */
function promptIn({ system, tools }: Body) {
  const blocks = Array.isArray(system)
    ? system.filter((block: { text?: unknown }) => !/^x-anthropic-billing-header:/.test(String(block?.text ?? "")))
    : system
  return {
    ...(blocks === undefined ? {} : { system: bare(blocks) as never }),
    ...(Array.isArray(tools) ? { tools: bare(tools) as never } : {}),
  }
}

/** Without marks, which move. */
function bare(items: unknown): unknown {
  if (!Array.isArray(items)) return items
  return items.map((item: Record<string, unknown>) => {
    const { cache_control: _, ...rest } = item
    return rest
  })
}

function withoutThinking(message: Messages[number]): Messages[number] {
  if (message.role !== "assistant" || typeof message.content === "string") return message
  const content = message.content.filter(({ type }) => type !== "thinking" && type !== "redacted_thinking")
  return content.length === message.content.length || content.length === 0 ? message : { ...message, content }
}

/** As the SDK would have thrown it. */
function asRefusal(status: number, error: unknown): Error {
  const message = (error as { error?: { message?: string } } | null)?.error?.message ?? JSON.stringify(error)
  return Object.assign(new Error(`${status} ${message}`), { status, error })
}

function decisionsOf(chat: Conversation): readonly string[] {
  return chat.ledger().saved.layers.map(({ layer, actions }) => `${layer}: ${actions}`)
}
