/**
 * One conversation of a client. A client's list is followed, the request in its place is prepared, and the answer is recorded. Where
 * something of ours fails, the client gets its answer all the same: from the last good view, or, as the last resort, from its own list.
 */
import { setTimeout } from "node:timers/promises"
import type { Conversation, ModelFacts, ModelRequest } from "@strata/core"
import { NO_TOKENS } from "@strata/core/internal/base/token-counts"
import type { Reader } from "@strata/core/internal/conversation/follow/match"
import { costOf } from "@strata/core/internal/tokens/price"
import type { ClientRequest, ConversationStatus, Plan } from "../manager.ts"
import type { LastRequest } from "./as-client.ts"
import { type Body, bodyWith, marksIn } from "./body.ts"
import type { Client } from "./client-identity.ts"
import { DirectBill, LIVES } from "./direct-bill.ts"
import { plus, priceOf } from "./other-requests.ts"

export interface ManagedParts {
  readonly chat: Conversation
  readonly client: Client
  readonly facts: ModelFacts
  /** Nothing is changed: the journal is kept, and what would have been done is said. */
  readonly observes: boolean
  /** Reads the client's messages, which never change. */
  readonly read: Reader
  /** What this process knew of it when it was closed. */
  readonly earlier?: ConversationStatus | undefined
  readonly now: () => Date
  /** Keeps the newest request for requests of our own. */
  readonly onRequest: (request: LastRequest) => void
  readonly log: (line: string) => void
  readonly onPause?: ((notice: PauseNotice) => Promise<boolean>) | undefined
}

/** The server has forgotten the conversation: what the next request costs, in dollars. */
export interface PauseNotice {
  readonly conversation: string
  readonly minutes: number
  readonly cost: number
  /** Without us. */
  readonly direct: number
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
  #answeredAt: number | undefined
  #good: Good | undefined
  #failures = 0
  #off: string | undefined
  #requests = 0
  #sent = 0
  #read = 0
  #input = 0
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** What the journal had cost before this process, and what of this process is not in it. */
  readonly #before: number
  #unrecorded: number | undefined = 0
  #passed: NonNullable<ConversationStatus["passedThrough"]> = { requests: 0, cost: 0 }

  constructor(parts: ManagedParts) {
    this.#parts = parts
    this.#before = parts.chat.ledger().dollars
    this.#passed = parts.earlier?.passedThrough ?? this.#passed
    this.#direct = new DirectBill(parts.facts)
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  get status(): ConversationStatus {
    const { chat, client, observes, earlier } = this.#parts
    const { dollars, unpriced } = chat.ledger()
    const spent = unpriced.length === 0 ? plus(dollars - this.#before, this.#unrecorded) : undefined
    const direct = observes ? spent : this.#direct.dollars
    return {
      id: chat.id,
      title: chat.words().messages[0]?.text.slice(0, 80) ?? "",
      client: client.name,
      requests: this.#requests + (earlier?.requests ?? 0),
      sent: this.#sent,
      direct: this.#direct.tokens,
      decisions: decisionsOf(chat),
      cacheRead: this.#input === 0 ? 0 : this.#read / this.#input,
      cost: earlier ? plus(spent, earlier.cost) : spent,
      directCost: earlier ? plus(direct, earlier.directCost) : direct,
      isObserved: observes,
      ...(this.#passed.requests === 0 ? {} : { passedThrough: this.#passed }),
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
    if (!(await withinReach(before))) {
      void before.finally(end) // the next one waits for both
      return this.#beside(request)
    }
    this.#requests++
    this.#parts.onRequest(request)
    try {
      const body = await this.#body(request).catch((error: unknown) => this.#instead(request, error))
      return this.#plan(request, { ...body, end })
    } catch (error) {
      end() // the next one must not wait for it
      throw error
    }
  }

  /** Two requests of one conversation at once: the second is sent as it is. What it costs is counted. */
  #beside({ body }: ClientRequest): Plan {
    const count = async (message: Message | undefined) => {
      const cost = priceOf(message, body)
      this.#unrecorded = plus(this.#unrecorded, cost)
      this.#passed = { requests: this.#passed.requests + 1, cost: plus(this.#passed.cost, cost) }
    }
    return {
      body: undefined,
      passedThrough: "another-request-is-running",
      answered: count,
      brokeOff: count,
      // its thinking was signed for what we sent
      refused: async ({ status, error, isFinal = false }) => {
        const isThinking = status === 400 && REFUSED_THINKING.test(JSON.stringify(error) ?? "")
        return isThinking && !isFinal && !this.#parts.observes ? ownMessages(body).bytes : undefined
      },
    }
  }

  async #body({ body }: ClientRequest): Promise<Omit<Taken, "end">> {
    const { chat, observes, read } = this.#parts
    if (this.#off !== undefined) return observes ? {} : { ...ownMessages(body), passedThrough: "switched-off" }
    const list = body.messages as Messages
    const { how } = await chat.follow(list, { ...promptIn(body), read })
    if (observes) return {}
    const { messages } = await chat.prepare()
    const isAside = how === "aside"
    if (!isAside) this.#good = { messages, listed: list.length }
    if (!(await this.#mayGoOn(body))) return { refusal: NOT_SENT }
    return { bytes: bodyWith(body, { messages, writesCache: !isAside }) }
  }

  /** After a pause in which the server forgot the conversation, the person learns what this request costs, and may say no. */
  async #mayGoOn(body: Body): Promise<boolean> {
    const { chat, facts, now, onPause } = this.#parts
    const idle = this.#answeredAt === undefined ? 0 : now().getTime() - this.#answeredAt
    const { lifetime } = marksIn(body)
    if (!onPause || idle <= LIVES[lifetime]) return true
    const writes = (tokens: number) => {
      const cost = costOf(facts, { ...NO_TOKENS, [lifetime === "1h" ? "cacheWrite1h" : "cacheWrite5m"]: tokens })
      return cost.known ? cost.dollars : undefined
    }
    const [cost, direct] = [writes(chat.fill().used), writes(this.#direct.tokens)]
    if (cost === undefined || direct === undefined) return true
    return onPause({ conversation: chat.id, minutes: idle / 60_000, cost, direct })
  }

  /** Something of ours failed. What was sent last is still good, and so is what the client added since. */
  #instead({ body }: Pick<ClientRequest, "body">, error: unknown): Omit<Taken, "end"> {
    const why = error instanceof Error ? error.message : String(error)
    this.#failures++
    if (this.#failures >= FAILURES) this.#off = why
    this.#parts.log(`${this.#parts.chat.id}: ${why}`)
    if (this.#parts.observes) return {}
    const list = body.messages as Messages
    const good = this.#good
    if (good?.answer && list.length > good.listed) {
      const messages = [...good.messages, ...list.slice(good.listed)]
      return { bytes: bodyWith(body, { messages }), passedThrough: "last-good-view" }
    }
    return ownMessages(body)
  }

  #plan(request: ClientRequest, { bytes, passedThrough, refusal, end }: Taken): Plan {
    const { chat, now } = this.#parts
    const sentAt = now().getTime()
    let isEnded = false
    const endOnce = () => {
      if (!isEnded) end()
      isEnded = true
    }
    let sentBytes = bytes?.length ?? request.raw.length
    const before = { failures: this.#failures, off: this.#off }
    const missed = (message: Message | undefined) => {
      this.#unrecorded = plus(this.#unrecorded, priceOf(message, request.body))
    }
    if (refusal !== undefined) endOnce()
    return {
      body: bytes,
      ...(refusal === undefined ? {} : { refusal }),
      ...(passedThrough === undefined ? {} : { passedThrough }),
      answered: async (message) => {
        if (passedThrough !== undefined)
          this.#passed = {
            requests: this.#passed.requests + 1,
            cost: plus(this.#passed.cost, priceOf(message, request.body)),
          }
        try {
          this.#answeredAt = now().getTime()
          if (this.#good) this.#good.answer = message
          if (this.#off !== undefined) return missed(message)
          await chat.record(message as never)
          if (!passedThrough) this.#failures = 0
        } catch (error) {
          missed(message)
          this.#parts.log(`${chat.id}: ${error instanceof Error ? error.message : error}`)
        } finally {
          this.#count(message, { body: request.body, at: sentAt, bytes: sentBytes })
          endOnce()
        }
      },
      refused: async ({ status, error, isFinal = false }) => {
        if (isFinal) this.#acquit(before)
        const isOurs = bytes !== undefined && !isFinal
        const again = isOurs ? await this.#again(request.body, { status, error }) : undefined
        if (again === undefined) endOnce()
        else sentBytes = again.length
        return again
      },
      brokeOff: async (partial) => {
        await this.#spent(partial).catch(() => missed(partial))
        endOnce()
      },
    }
  }

  /** The server refuses what the client sends by itself as well: that is no failure of ours. */
  #acquit({ failures, off }: { readonly failures: number; readonly off: string | undefined }): void {
    this.#failures = failures
    this.#off = off
  }

  /** The server refused what we sent: thinking that was signed for other messages, or a request that is too long. */
  async #again(body: Body, { status, error }: { readonly status: number; readonly error: unknown }) {
    const { chat } = this.#parts
    if (status !== 400 && status !== 413) return undefined
    const why = JSON.stringify(error) ?? ""
    try {
      if (REFUSED_THINKING.test(why)) await chat.dropThinking("the server refused it")
      else if (await chat.noteRefusal(asRefusal(status, error))) await chat.compact({ overflowed: true })
      else
        return this.#instead(
          { body } as ClientRequest,
          new Error(`the server refused the request: ${why.slice(0, 300)}`),
        ).bytes
      const { messages } = await chat.prepare()
      this.#good = { messages, listed: (body.messages as Messages).length }
      return bodyWith(body, { messages })
    } catch (failure) {
      return this.#instead({ body }, failure).bytes
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

  #count(message: Message, { body, at, bytes }: { readonly body: Body; readonly at: number; readonly bytes: number }) {
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
      this.#direct.learn(bytes, input)
      this.#direct.add(body, { at, output, readShare: input === 0 ? 0 : read / input })
    })
  }
}

interface Taken {
  readonly bytes?: Buffer
  readonly refusal?: string
  readonly passedThrough?: string
  readonly end: () => void
}

/** The last resort: the client's own list. Its thinking was signed for what we sent, which its list may not be. */
const ownMessages = (body: Body) => ({
  bytes: bodyWith(body, { messages: (body.messages as Messages).map(withoutThinking) }),
  passedThrough: "own-messages",
})

const NOT_SENT =
  "The request was not sent, because you said no after the pause. The conversation is as it was. Ask again to send it."

/** Blocks of messages. A parameter about thinking is the client's own. */
const REFUSED_THINKING = /\bsignature\b|\bmessages\.\d+\.[^"]*thinking/i

const PATIENCE_MS = 1_500

/** Whether the request before ends soon: a client that repeats one has given up the first. */
async function withinReach(before: Promise<unknown>): Promise<boolean> {
  const soon = new AbortController()
  const patience = setTimeout(PATIENCE_MS, false, { signal: soon.signal, ref: false }).catch(() => false)
  const isOver = await Promise.race([before.then(() => true), patience])
  soon.abort()
  return isOver
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

const THINKING: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"])

function withoutThinking(message: Messages[number]): Messages[number] {
  if (message.role !== "assistant" || !Array.isArray(message.content)) return message
  const content = message.content.filter((block) => !THINKING.has(block?.type))
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
