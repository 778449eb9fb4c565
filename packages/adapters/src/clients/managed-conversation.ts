/**
 * One conversation of a client. The client's list is followed, the replacing request is prepared, and the response is recorded. If Strata
 * fails, the client still gets its response: from the last good view or, as a last resort, from its own list.
 */
import { setTimeout } from "node:timers/promises"
import type { Conversation, IncomingResponse, ModelRequest, Usage } from "@strata/core"
import { NO_TOKENS } from "@strata/core/base"
import { internalsOf, type MessageReader } from "@strata/core/conversation"
import type { ToolUse } from "@strata/core/messages"
import { refusesThinking, summarizedThinking } from "@strata/core/model"
import { RECALL_TOOL } from "@strata/core/recall"
import { isBoundaryEntry, isDecision } from "@strata/core/store"
import { costOf, type ModelFacts } from "@strata/core/tokens"
import { BaselineCost, LIFETIMES_MS } from "./baseline-cost.ts"
import { bodyWith, promptIn, summarizeBreakpoints, withoutThinking } from "./body.ts"
import { plus, priceOf } from "./other-requests.ts"
import type { ApiBody, ClientInfo, ConversationRequest, ConversationStatus, PauseNotice, RequestPlan } from "./plan.ts"
import {
  hasRecall,
  type RecallRound,
  recallCalls,
  recallResults,
  runRecallRound,
  withOwnIds,
  withRecall,
} from "./recall.ts"
import { withSourceOf } from "./source-text.ts"

export interface ManagedConversationOptions {
  readonly chat: Conversation
  readonly caller: ClientInfo
  readonly owner?: string
  readonly facts: ModelFacts
  /** Whether requests pass unchanged: the journal is written, and savings are only reported. */
  readonly observes: boolean
  /** Whether the model gets the tool Recall: once something has left the context, or always. */
  readonly recalls: boolean | "always"
  readonly read: MessageReader
  readonly earlier?: ConversationStatus | undefined
  readonly now: () => Date
  readonly onRequest: (request: ConversationRequest) => void
  readonly log: (line: string) => void
  readonly onPause?: ((notice: PauseNotice) => Promise<boolean>) | undefined
}

type Messages = ModelRequest["messages"]

const REMOVING: ReadonlySet<string> = new Set(["tool-results-cleared", "folded", "snipped"])

const MAX_FAILURES = 3 // consecutive failures that switch it off
const RETRY_AFTER_MS = 5 * 60_000 // time after which it is tried again, for example when a full disk may have space

interface GoodRequest {
  readonly messages: Messages
  readonly listed: number
  readonly key: string
  answer?: ApiBody
}

export class ManagedConversation {
  readonly #parts: ManagedConversationOptions
  readonly #baseline: BaselineCost
  #answeredAt: number | undefined
  #good: GoodRequest | undefined
  #failures = 0
  #off: string | undefined
  #offAt = 0
  #requests = 0
  #sent = 0
  #read = 0
  #input = 0
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** Whether content has left the context since this process opened the conversation. */
  #hasLeft = false
  /** Cost of the journal before this process, and costs of this process that the journal lacks. */
  readonly #before: number
  #unrecorded: number | undefined = 0
  #passed: NonNullable<ConversationStatus["passedThrough"]> = { requests: 0, cost: 0 }

  constructor(parts: ManagedConversationOptions) {
    this.#parts = parts
    this.#before = parts.chat.ledger().dollars
    this.#passed = parts.earlier?.passedThrough ?? this.#passed
    this.#baseline = new BaselineCost(parts.facts)
    parts.chat.on("entry", ({ entry }) => {
      if (isBoundaryEntry(entry) || (isDecision(entry) && REMOVING.has(entry.subtype))) this.#hasLeft = true
    })
  }

  /** Whether requests have the tool Recall. The journal's prompt records it, for later processes too. */
  get offersRecall(): boolean {
    const { recalls, observes, chat } = this.#parts
    if (!recalls || observes) return false
    return recalls === "always" || internalsOf(chat).views.context.toolNames.includes(RECALL_TOOL)
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  get status(): ConversationStatus {
    const { chat, caller, owner, observes, earlier } = this.#parts
    const { dollars, unpriced, saved } = chat.ledger()
    const spent = unpriced.length === 0 ? plus(dollars - this.#before, this.#unrecorded) : undefined
    const direct = observes ? spent : this.#baseline.dollars
    return {
      id: chat.id,
      ...(caller.id === undefined ? {} : { conversation: caller.id }),
      ...(owner === undefined ? {} : { owner }),
      title: chat.userMessages().messages[0]?.text.slice(0, 80) ?? "",
      client: caller.name,
      requests: this.#requests + (earlier?.requests ?? 0),
      sent: this.#sent,
      direct: this.#baseline.tokens,
      decisions: saved.layers.map(({ layer, actions }) => `${layer}: ${actions}`),
      cacheRead: this.#input === 0 ? 0 : this.#read / this.#input,
      cost: earlier ? plus(spent, earlier.cost) : spent,
      directCost: earlier ? plus(direct, earlier.directCost) : direct,
      isObserved: observes,
      ...(this.#passed.requests === 0 ? {} : { passedThrough: this.#passed }),
      ...(this.#off === undefined ? {} : { off: this.#off }),
    }
  }

  async take(given: ConversationRequest): Promise<RequestPlan> {
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
    if (!(await endsSoon(before))) {
      void before.finally(end) // the next one waits for both
      return this.#planUnmanaged(given)
    }
    this.#requests++
    const body = this.#withVisibleThinking(this.offersRecall ? withRecall(given.body) : given.body)
    const request = body === given.body ? given : { ...given, body }
    this.#parts.onRequest(request)
    try {
      const decided = await this.#body(request).catch((error: unknown) => this.#fallBack(request, error))
      return this.#plan(decided.request ?? request, { ...decided, own: given.body, end })
    } catch (error) {
      end() // the next one must not wait for it
      throw error
    }
  }

  /** Requests the text of thinking if the settings enable it. Otherwise the client's parameters stay unchanged. */
  #withVisibleThinking(body: ApiBody): ApiBody {
    const { chat, facts, observes } = this.#parts
    if (observes || !internalsOf(chat).flags.on["summarized-thinking"]) return body
    const given = body.thinking as ModelRequest["thinking"]
    const thinking = summarizedThinking(given, facts.accepts)
    return thinking === given ? body : withSourceOf(body, { ...body, thinking })
  }

  /** Plans a second request while another one is running: it is sent unchanged, and its cost is counted. */
  #planUnmanaged({ body }: ConversationRequest): RequestPlan {
    this.#parts.log(`${this.#parts.chat.id}: another request of it is running, so a request was sent unchanged`)
    const count = async (message: ApiBody | undefined) => {
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
      // thinking in the client's list was signed for Strata's requests
      refused: async ({ status, error, isFinal = false }) => {
        const isThinking = status === 400 && refusesThinking(asRefusal(status, error))
        return isThinking && !isFinal && !this.#parts.observes ? ownMessages(body).body : undefined
      },
    }
  }

  async #body(given: ConversationRequest): Promise<RequestDecision> {
    const { chat, observes } = this.#parts
    if (this.#isOff) return observes ? {} : { ...ownMessages(given.body), passedThrough: "switched-off" }
    const { how, unasked } = await this.#follow(given)
    if (unasked) this.#parts.log(`${chat.id}: results without an open call were omitted: ${unasked.join(", ")}`)
    if (observes) return {}
    const first = await chat.prepare()
    const isAside = how === "aside"
    const request = isAside ? given : await this.#offerRecall(given)
    const { messages } = request === given ? first : await chat.prepare()
    const { body } = request
    // without the client's last message, the model would continue its own response: the server has to judge the list
    if (lastRole(body.messages as Messages) === "user" && lastRole(messages) !== "user") return ownMessages(given.body)
    if (!isAside) this.#keepGood(body.messages as Messages, messages)
    if (!(await this.#confirmAfterPause(body))) return { refusal: NOT_SENT }
    return { request, body: bodyWith(body, { messages, writesCache: !isAside }), isAside }
  }

  #follow({ body }: ConversationRequest) {
    const { chat, observes, read, recalls } = this.#parts
    const answers = (calls: readonly ToolUse[]) => recallResults(calls, internalsOf(chat).past)
    const willRecall = recalls !== false && !observes && hasRecall(withRecall(body))
    return chat.syncMessages(body.messages as Messages, { ...promptIn(body), read, answers, willRecall })
  }

  /**
   * Adds the tool Recall. Tools come before everything that the server has cached, and a conversation from which nothing has left does not
   * need it. So it is added with the request in which something leaves, which misses most of the cache anyway. The journal records it as
   * another prompt.
   */
  async #offerRecall(request: ConversationRequest): Promise<ConversationRequest> {
    if (!this.#hasLeft || !this.#parts.recalls || this.offersRecall) return request
    const body = withRecall(request.body)
    if (body === request.body) return request
    const offered = { ...request, body }
    this.#parts.onRequest(offered)
    await this.#follow(offered)
    return offered
  }

  get #isOff(): boolean {
    if (this.#off !== undefined && this.#parts.now().getTime() - this.#offAt >= RETRY_AFTER_MS) this.#off = undefined
    return this.#off !== undefined
  }

  #keepGood(list: Messages, messages: Messages): void {
    this.#good = { messages, listed: list.length, key: this.#parts.read(list.at(-1)!).key }
  }

  /** After a pause in which the server's cache expired, shows the user what this request costs and lets them cancel it. */
  async #confirmAfterPause(body: ApiBody): Promise<boolean> {
    const { chat, facts, now, onPause } = this.#parts
    const idle = this.#answeredAt === undefined ? 0 : now().getTime() - this.#answeredAt
    const { lifetime } = summarizeBreakpoints(body)
    if (!onPause || idle <= LIFETIMES_MS[lifetime]) return true
    const writes = (tokens: number) => {
      const cost = costOf(facts, { ...NO_TOKENS, [lifetime === "1h" ? "cacheWrite1h" : "cacheWrite5m"]: tokens })
      return cost.known ? cost.dollars : undefined
    }
    const [cost, direct] = [writes(chat.windowUsage().used), writes(this.#baseline.tokens)]
    if (cost === undefined || direct === undefined) return true
    return onPause({ conversation: chat.id, minutes: idle / 60_000, cost, direct })
  }

  /** Handles a failure of Strata: sends the last good view with the messages that the client added since. */
  #fallBack({ body }: Pick<ConversationRequest, "body">, error: unknown): RequestDecision {
    const why = error instanceof Error ? error.message : String(error)
    this.#failures++
    if (this.#failures >= MAX_FAILURES) {
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

  #plan(
    request: ConversationRequest,
    { body, own, isAside = false, passedThrough, refusal, end }: TakenDecision,
  ): RequestPlan {
    const { chat, now } = this.#parts
    const sentAt = now().getTime()
    let isEnded = false
    const endOnce = () => {
      if (!isEnded) end()
      isEnded = true
    }
    let sent = body ?? request.body
    const rounds: RecallRound[] = []
    const before = { failures: this.#failures, off: this.#off }
    const missed = (message: ApiBody | undefined) => {
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
        const round = hasRecall(sent)
          ? await runRecallRound(withOwnIds(answer), internalsOf(chat).past, rounds.length)
          : undefined
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
            await chat.record(asRecorded(answer))
            await chat.add({ role: "user", content: results, isMeta: true })
          }
          await chat.record(asRecorded(withOwnIds(message)))
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
        if (isFinal) this.#resetFailures(before)
        const isOurs = body !== undefined && !isFinal
        const other = isOurs ? await this.#retryBody(request.body, { status, error, isAside }) : undefined
        if (other === undefined) endOnce()
        else sent = other
        return other
      },
      brokeOff: async (partial) => {
        const all = [...rounds.map(({ answer }) => answer), partial]
        await Promise.all(all.map((answer) => this.#recordCost(answer))).catch(() => missed(partial))
        endOnce()
      },
    }
  }

  /** Resets the failure count: if the server refuses the client's own request too, Strata did not cause it. */
  #resetFailures({ failures, off }: { readonly failures: number; readonly off: string | undefined }): void {
    this.#failures = failures
    this.#off = off
  }

  /** Handles a refusal of Strata's request: thinking that was signed for other messages, or a request that is too long. */
  async #retryBody(body: ApiBody, { status, error, isAside }: RefusedRequest) {
    const { chat } = this.#parts
    if (status !== 400 && status !== 413) return undefined
    const why = JSON.stringify(error) ?? ""
    try {
      const refusal = await chat.handleModelError(asRefusal(status, error))
      if (refusal === undefined)
        return this.#fallBack({ body }, new Error(`the server refused the request: ${why.slice(0, 300)}`)).body
      if (refusal === "too-long") await chat.compact({ overflowed: true })
      const { messages } = await chat.prepare()
      if (!isAside) this.#keepGood(body.messages as Messages, messages)
      return bodyWith(body, { messages, writesCache: !isAside })
    } catch (failure) {
      return this.#fallBack({ body }, failure).body
    }
  }

  /** Records the cost of a response that was cut off. The client repeats the request itself. */
  async #recordCost(partial: ApiBody | undefined): Promise<void> {
    const { id, model, usage } = (partial ?? {}) as { id?: string; model?: string; usage?: never }
    if (typeof id !== "string" || typeof model !== "string" || !usage) return
    await internalsOf(this.#parts.chat).note([
      { type: "strata", subtype: "spent", purpose: "main", model, responseId: id, usage, estimated: true },
    ])
  }

  /** `own`: the body that the client would have sent. */
  #count(message: ApiBody, { own, at, sent }: { readonly own: ApiBody; readonly at: number; readonly sent: ApiBody }) {
    const { usage } = message as { usage?: Record<string, number | null | undefined> }
    if (!usage) return
    const read = usage.cache_read_input_tokens ?? 0
    const input = (usage.input_tokens ?? 0) + read + (usage.cache_creation_input_tokens ?? 0)
    this.#sent = input
    this.#read += read
    this.#input += input
    // the client need not wait for this
    setImmediate(() => this.#baseline.add(own, { at, usage: countable(usage), sent }))
  }
}

const countable = ({ input_tokens, output_tokens, ...usage }: Record<string, unknown>): Usage =>
  ({ ...usage, input_tokens: Number(input_tokens ?? 0), output_tokens: Number(output_tokens ?? 0) }) as Usage

interface RefusedRequest {
  readonly status: number
  readonly error: unknown
  readonly isAside: boolean
}

interface RequestDecision {
  readonly body?: ApiBody
  /** The request that `body` was built from, if it is not the given one. */
  readonly request?: ConversationRequest
  /** Whether the client asks about the conversation, without being part of it. */
  readonly isAside?: boolean
  readonly refusal?: string
  readonly passedThrough?: string
}

interface TakenDecision extends RequestDecision {
  readonly own: ApiBody
  readonly end: () => void
}

function asRecorded(answer: ApiBody): IncomingResponse {
  const hidden = recallCalls(answer).map(({ id }) => id)
  return { ...answer, ...(hidden.length > 0 ? { hiddenCalls: hidden } : {}) } as unknown as IncomingResponse
}

const inRequest = ({ answer, results }: RecallRound) =>
  [
    { role: "assistant", content: answer.content },
    { role: "user", content: results },
  ] as unknown as Messages

const lastRole = (messages: Messages) => messages.at(-1)?.role

/** The last resort: the client's own list, without thinking, which was signed for Strata's requests and may not match the list. */
const ownMessages = (body: ApiBody) => ({
  body: bodyWith(body, { messages: (body.messages as Messages).map(withoutThinking) }),
  passedThrough: "own-messages",
})

const NOT_SENT =
  "The request was not sent, because you declined it after the pause. The conversation is unchanged. Ask again to send it."

const REPEAT_WAIT_MS = 1_500

/** Whether the running request ends soon: a client that repeats a request has given up the first. */
async function endsSoon(before: Promise<unknown>): Promise<boolean> {
  const soon = new AbortController()
  const patience = setTimeout(REPEAT_WAIT_MS, false, { signal: soon.signal, ref: false }).catch(() => false)
  const isOver = await Promise.race([before.then(() => true), patience])
  soon.abort()
  return isOver
}

function asRefusal(status: number, error: unknown): Error {
  const message = (error as { error?: { message?: string } } | null)?.error?.message ?? JSON.stringify(error)
  return Object.assign(new Error(`${status} ${message}`), { status, error })
}
