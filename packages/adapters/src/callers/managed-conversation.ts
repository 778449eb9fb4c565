/**
 * One conversation of a caller. A caller's list is followed, the request in its place is prepared, and the answer is recorded. Where
 * something of ours fails, the caller gets its answer all the same: from the last good view, or, as the last resort, from its own list.
 */
import { setTimeout } from "node:timers/promises"
import type { Conversation, IncomingResponse, ModelRequest, Usage } from "@strata/core"
import { RECALL_TOOL } from "@strata/core/agent"
import { NO_TOKENS } from "@strata/core/base"
import type { Reader } from "@strata/core/conversation"
import type { ToolUse } from "@strata/core/messages"
import { refusesThinking, summarizedThinking } from "@strata/core/model"
import { isBoundaryEntry, isDecision } from "@strata/core/store"
import { costOf, type ModelFacts } from "@strata/core/tokens"
import { bodyWith, marksIn, promptIn, withoutThinking } from "./body.ts"
import { DirectBill, LIVES } from "./direct-bill.ts"
import { plus, priceOf } from "./other-requests.ts"
import type { Body, Caller, CallerRequest, ConversationStatus, PauseNotice, Plan } from "./plan.ts"
import { hasRecall, type Round, recallCalls, recallResults, roundOf, withOwnIds, withRecall } from "./recall.ts"
import { writtenLike } from "./source-text.ts"

export interface ManagedParts {
  readonly chat: Conversation
  readonly caller: Caller
  readonly owner?: string
  readonly facts: ModelFacts
  /** Nothing is changed: the journal is kept, and what would have been done is said. */
  readonly observes: boolean
  /** Whether the model gets the tool Recall: once something has left the context, or always. */
  readonly recalls: boolean | "always"
  /** Reads the caller's messages, which never change. */
  readonly read: Reader
  /** What this process knew of it when it was closed. */
  readonly earlier?: ConversationStatus | undefined
  readonly now: () => Date
  /** Keeps the newest request for requests of our own. */
  readonly onRequest: (request: CallerRequest) => void
  readonly log: (line: string) => void
  readonly onPause?: ((notice: PauseNotice) => Promise<boolean>) | undefined
}

type Messages = ModelRequest["messages"]

/** Decisions by which something leaves the context, besides a boundary. */
const LEAVES: ReadonlySet<string> = new Set(["tool-results-cleared", "folded", "snipped"])

const FAILURES = 3 // in a row switch it off
const REST_MS = 5 * 60_000 // then it is tried again: a full disk may have room by then

/** What was sent last, for the next request if something fails. */
interface Good {
  readonly messages: Messages
  /** How many messages the client's list had, and the key of the last one. */
  readonly listed: number
  readonly key: string
  answer?: Body
}

export class ManagedConversation {
  readonly #parts: ManagedParts
  readonly #direct: DirectBill
  #answeredAt: number | undefined
  #good: Good | undefined
  #failures = 0
  #off: string | undefined
  #offAt = 0
  #requests = 0
  #sent = 0
  #read = 0
  #input = 0
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** Something has left the context since this process opened it. */
  #hasLeft = false
  /** What the journal had cost before this process, and what of this process is not in it. */
  readonly #before: number
  #unrecorded: number | undefined = 0
  #passed: NonNullable<ConversationStatus["passedThrough"]> = { requests: 0, cost: 0 }

  constructor(parts: ManagedParts) {
    this.#parts = parts
    this.#before = parts.chat.ledger().dollars
    this.#passed = parts.earlier?.passedThrough ?? this.#passed
    this.#direct = new DirectBill(parts.facts)
    parts.chat.on("entry", ({ entry }) => {
      if (isBoundaryEntry(entry) || (isDecision(entry) && LEAVES.has(entry.subtype))) this.#hasLeft = true
    })
  }

  /** Whether requests have the tool Recall. The journal's prompt says so, also in the next process. */
  get offersRecall(): boolean {
    const { recalls, observes, chat } = this.#parts
    if (!recalls || observes) return false
    return recalls === "always" || chat.views.context.toolNames.includes(RECALL_TOOL)
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  get status(): ConversationStatus {
    const { chat, caller, owner, observes, earlier } = this.#parts
    const { dollars, unpriced, saved } = chat.ledger()
    const spent = unpriced.length === 0 ? plus(dollars - this.#before, this.#unrecorded) : undefined
    const direct = observes ? spent : this.#direct.dollars
    return {
      id: chat.id,
      ...(caller.id === undefined ? {} : { conversation: caller.id }),
      ...(owner === undefined ? {} : { owner }),
      title: chat.userMessages().messages[0]?.text.slice(0, 80) ?? "",
      client: caller.name,
      requests: this.#requests + (earlier?.requests ?? 0),
      sent: this.#sent,
      direct: this.#direct.tokens,
      decisions: saved.layers.map(({ layer, actions }) => `${layer}: ${actions}`),
      cacheRead: this.#input === 0 ? 0 : this.#read / this.#input,
      cost: earlier ? plus(spent, earlier.cost) : spent,
      directCost: earlier ? plus(direct, earlier.directCost) : direct,
      isObserved: observes,
      ...(this.#passed.requests === 0 ? {} : { passedThrough: this.#passed }),
      ...(this.#off === undefined ? {} : { off: this.#off }),
    }
  }

  /** One request after another: the answer of one is part of the next. */
  async take(given: CallerRequest): Promise<Plan> {
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
      return this.#beside(given)
    }
    this.#requests++
    const body = this.#asShown(this.offersRecall ? withRecall(given.body) : given.body)
    const request = body === given.body ? given : { ...given, body }
    this.#parts.onRequest(request)
    try {
      const decided = await this.#body(request).catch((error: unknown) => this.#instead(request, error))
      return this.#plan(decided.request ?? request, { ...decided, own: given.body, end })
    } catch (error) {
      end() // the next one must not wait for it
      throw error
    }
  }

  /** With the text of thinking, where the settings ask for it. Without them a caller's parameters stay as they are. */
  #asShown(body: Body): Body {
    const { chat, facts, observes } = this.#parts
    if (observes || !chat.flags.on["summarized-thinking"]) return body
    const given = body.thinking as ModelRequest["thinking"]
    const thinking = summarizedThinking(given, facts.accepts)
    return thinking === given ? body : writtenLike(body, { ...body, thinking })
  }

  /** Two requests of one conversation at once: the second is sent as it is. What it costs is counted. */
  #beside({ body }: CallerRequest): Plan {
    this.#parts.log(`${this.#parts.chat.id}: another request of it is running, so a request was sent unchanged`)
    const count = async (message: Body | undefined) => {
      const cost = priceOf(message, body)
      this.#unrecorded = plus(this.#unrecorded, cost)
      this.#passed = { requests: this.#passed.requests + 1, cost: plus(this.#passed.cost, cost) }
    }
    return {
      body: undefined,
      passedThrough: "another-request-is-running",
      again: async () => undefined,
      answered: count,
      brokeOff: count,
      // its thinking was signed for what we sent
      refused: async ({ status, error, isFinal = false }) => {
        const isThinking = status === 400 && refusesThinking(asRefusal(status, error))
        return isThinking && !isFinal && !this.#parts.observes ? ownMessages(body).body : undefined
      },
    }
  }

  async #body(given: CallerRequest): Promise<Decided> {
    const { chat, observes } = this.#parts
    if (this.#isOff) return observes ? {} : { ...ownMessages(given.body), passedThrough: "switched-off" }
    const { how, unasked } = await this.#follow(given)
    if (unasked) this.#parts.log(`${chat.id}: results that no call waits for are left out: ${unasked.join(", ")}`)
    if (observes) return {}
    const first = await chat.prepare()
    const isAside = how === "aside"
    const request = isAside ? given : await this.#offerRecall(given)
    const { messages } = request === given ? first : await chat.prepare()
    const { body } = request
    // without the caller's last message, the model would go on with its own answer: the server is to judge the list
    if (lastRole(body.messages as Messages) === "user" && lastRole(messages) !== "user") return ownMessages(given.body)
    if (!isAside) this.#keepGood(body.messages as Messages, messages)
    if (!(await this.#mayGoOn(body))) return { refusal: NOT_SENT }
    return { request, body: bodyWith(body, { messages, writesCache: !isAside }), isAside }
  }

  #follow({ body }: CallerRequest) {
    const { chat, observes, read, recalls } = this.#parts
    const answers = (calls: readonly ToolUse[]) => recallResults(calls, chat.past)
    const willRecall = recalls !== false && !observes && hasRecall(withRecall(body))
    return chat.syncMessages(body.messages as Messages, { ...promptIn(body), read, answers, willRecall })
  }

  /**
   * The tool is in front of everything that the server has cached, and a conversation from which nothing has left does not need it. So it
   * comes with the request in which something leaves: that one finds little in the cache anyway. The journal has it as another prompt.
   */
  async #offerRecall(request: CallerRequest): Promise<CallerRequest> {
    if (!this.#hasLeft || !this.#parts.recalls || this.offersRecall) return request
    const body = withRecall(request.body)
    if (body === request.body) return request
    const offered = { ...request, body }
    this.#parts.onRequest(offered)
    await this.#follow(offered)
    return offered
  }

  /** A failure after the rest switches it off again. */
  get #isOff(): boolean {
    if (this.#off !== undefined && this.#parts.now().getTime() - this.#offAt >= REST_MS) this.#off = undefined
    return this.#off !== undefined
  }

  #keepGood(list: Messages, messages: Messages): void {
    this.#good = { messages, listed: list.length, key: this.#parts.read(list.at(-1)!).key }
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
    const [cost, direct] = [writes(chat.windowUsage().used), writes(this.#direct.tokens)]
    if (cost === undefined || direct === undefined) return true
    return onPause({ conversation: chat.id, minutes: idle / 60_000, cost, direct })
  }

  /** Something of ours failed. What was sent last is still good, and so is what the client added since. */
  #instead({ body }: Pick<CallerRequest, "body">, error: unknown): Decided {
    const why = error instanceof Error ? error.message : String(error)
    this.#failures++
    if (this.#failures >= FAILURES) {
      this.#off = why
      this.#offAt = this.#parts.now().getTime()
    }
    this.#parts.log(`${this.#parts.chat.id}: ${why}`)
    if (this.#parts.observes) return {}
    const list = body.messages as Messages
    const good = this.#good
    const goesOn = good?.answer && list.length > good.listed
    if (goesOn && this.#parts.read(list[good.listed - 1]!).key === good.key) {
      const messages = [...good.messages, ...list.slice(good.listed)]
      return { body: bodyWith(body, { messages }), passedThrough: "last-good-view" }
    }
    return ownMessages(body)
  }

  #plan(request: CallerRequest, { body, own, isAside = false, passedThrough, refusal, end }: Taken): Plan {
    const { chat, now } = this.#parts
    const sentAt = now().getTime()
    let isEnded = false
    const endOnce = () => {
      if (!isEnded) end()
      isEnded = true
    }
    let sent = body ?? request.body
    const rounds: Round[] = []
    const before = { failures: this.#failures, off: this.#off }
    const missed = (message: Body | undefined) => {
      for (const answer of [...rounds.map((round) => round.answer), message])
        this.#unrecorded = plus(this.#unrecorded, priceOf(answer, request.body))
    }
    if (refusal !== undefined) endOnce()
    return {
      body,
      ...(body && hasRecall(body) ? { hiddenTool: RECALL_TOOL } : {}),
      ...(refusal === undefined ? {} : { refusal }),
      ...(passedThrough === undefined ? {} : { passedThrough }),
      again: async (answer) => {
        const round = hasRecall(sent) ? await roundOf(withOwnIds(answer), chat.past, rounds.length) : undefined
        if (!round) return undefined
        rounds.push(round)
        const messages = [...(sent.messages as Messages), ...inRequest(round)]
        sent = bodyWith(request.body, { messages, writesCache: !isAside })
        return sent
      },
      answered: async (message) => {
        if (passedThrough !== undefined)
          this.#passed = {
            requests: this.#passed.requests + 1,
            cost: plus(this.#passed.cost, priceOf(message, request.body)),
          }
        try {
          this.#answeredAt = now().getTime()
          if (this.#good && !isAside) this.#good.answer = message
          if (this.#off !== undefined) return missed(message)
          for (const { answer, results } of rounds) {
            await chat.record(recorded(answer))
            await chat.add({ role: "user", content: results, isMeta: true })
          }
          await chat.record(recorded(withOwnIds(message)))
          if (!passedThrough) this.#failures = 0
        } catch (error) {
          missed(message)
          this.#parts.log(`${chat.id}: ${error instanceof Error ? error.message : error}`)
        } finally {
          this.#count(message, { own, at: sentAt, sent })
          endOnce()
        }
      },
      refused: async ({ status, error, isFinal = false }) => {
        if (isFinal) this.#acquit(before)
        const isOurs = body !== undefined && !isFinal
        const other = isOurs ? await this.#again(request.body, { status, error, isAside }) : undefined
        if (other === undefined) endOnce()
        else sent = other
        return other
      },
      brokeOff: async (partial) => {
        const all = [...rounds.map(({ answer }) => answer), partial]
        await Promise.all(all.map((answer) => this.#spent(answer))).catch(() => missed(partial))
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
  async #again(body: Body, { status, error, isAside }: Refused) {
    const { chat } = this.#parts
    if (status !== 400 && status !== 413) return undefined
    const why = JSON.stringify(error) ?? ""
    try {
      const refusal = await chat.handleModelError(asRefusal(status, error))
      if (refusal === undefined)
        return this.#instead({ body }, new Error(`the server refused the request: ${why.slice(0, 300)}`)).body
      if (refusal === "too-long") await chat.compact({ overflowed: true })
      const { messages } = await chat.prepare()
      if (!isAside) this.#keepGood(body.messages as Messages, messages)
      return bodyWith(body, { messages, writesCache: !isAside })
    } catch (failure) {
      return this.#instead({ body }, failure).body
    }
  }

  /** An answer that never ended is the client's to repeat. What it cost is not. */
  async #spent(partial: Body | undefined): Promise<void> {
    const { id, model, usage } = (partial ?? {}) as { id?: string; model?: string; usage?: never }
    if (typeof id !== "string" || typeof model !== "string" || !usage) return
    await this.#parts.chat.note([
      { type: "strata", subtype: "spent", purpose: "main", model, responseId: id, usage, estimated: true },
    ])
  }

  /** `own`: what the caller would have sent. */
  #count(message: Body, { own, at, sent }: { readonly own: Body; readonly at: number; readonly sent: Body }) {
    const { usage } = message as { usage?: Record<string, number | null | undefined> }
    if (!usage) return
    const read = usage.cache_read_input_tokens ?? 0
    const input = (usage.input_tokens ?? 0) + read + (usage.cache_creation_input_tokens ?? 0)
    this.#sent = input
    this.#read += read
    this.#input += input
    // the caller need not wait for this
    setImmediate(() => this.#direct.add(own, { at, usage: countable(usage), sent }))
  }
}

/** Servers leave out what they do not count. */
const countable = ({ input_tokens, output_tokens, ...usage }: Record<string, unknown>): Usage =>
  ({ ...usage, input_tokens: Number(input_tokens ?? 0), output_tokens: Number(output_tokens ?? 0) }) as Usage

interface Refused {
  readonly status: number
  readonly error: unknown
  readonly isAside: boolean
}

interface Decided {
  readonly body?: Body
  /** What `body` was made of, where that is not what was given. */
  readonly request?: CallerRequest
  /** The caller asks about the conversation: it is no part of it. */
  readonly isAside?: boolean
  readonly refusal?: string
  readonly passedThrough?: string
}

interface Taken extends Decided {
  /** What the caller sent. */
  readonly own: Body
  readonly end: () => void
}

/** With the calls that its caller does not see. */
function recorded(answer: Body): IncomingResponse {
  const hidden = recallCalls(answer).map(({ id }) => id)
  return { ...answer, ...(hidden.length > 0 ? { hiddenCalls: hidden } : {}) } as unknown as IncomingResponse
}

const inRequest = ({ answer, results }: Round) =>
  [
    { role: "assistant", content: answer.content },
    { role: "user", content: results },
  ] as unknown as Messages

const lastRole = (messages: Messages) => messages.at(-1)?.role

/** The last resort: the caller's own list. Its thinking was signed for what we sent, which its list may not be. */
const ownMessages = (body: Body) => ({
  body: bodyWith(body, { messages: (body.messages as Messages).map(withoutThinking) }),
  passedThrough: "own-messages",
})

const NOT_SENT =
  "The request was not sent, because you said no after the pause. The conversation is as it was. Ask again to send it."

const PATIENCE_MS = 1_500

/** Whether the request before ends soon: a client that repeats one has given up the first. */
async function withinReach(before: Promise<unknown>): Promise<boolean> {
  const soon = new AbortController()
  const patience = setTimeout(PATIENCE_MS, false, { signal: soon.signal, ref: false }).catch(() => false)
  const isOver = await Promise.race([before.then(() => true), patience])
  soon.abort()
  return isOver
}

/** As the SDK would have thrown it. */
function asRefusal(status: number, error: unknown): Error {
  const message = (error as { error?: { message?: string } } | null)?.error?.message ?? JSON.stringify(error)
  return Object.assign(new Error(`${status} ${message}`), { status, error })
}
