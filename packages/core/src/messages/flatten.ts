/**
 * Flattening turns stored messages into messages that the API accepts.
 *
 * The flattener takes one message at a time and closes everything but the last exchange, so a new message costs only its own work.
 * `flatten` does the same for a complete list. Every repair is reported under a name; none is silent. `validator.ts` checks the result.
 */

import { renderAttachment } from "./attachment-texts.ts"
import type { ClientSystemMessage } from "./attachments.ts"
import {
  asServerResult,
  asServerUse,
  type Block,
  type Content,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  isWellFormedCall,
  pairServerTools,
  type ToolResult,
  toBlocks,
  trailingServerCalls,
  withoutBreakpoint,
} from "./blocks.ts"
import {
  type AssistantMessage,
  isSentToModel,
  type Message,
  type Repair,
  type RepairRule,
  type UserMessage,
} from "./messages.ts"
import { isAsReceived, isKnownBlock, isUnusable, repairsOf, usable } from "./usable.ts"

export type Role = "user" | "assistant" | "system"

export interface FlatMessage {
  readonly role: Role
  readonly content: readonly Block[]
}

type Extras = Readonly<Record<string, unknown>>

export interface FlattenResult {
  readonly messages: readonly FlatMessage[]
  /** Number of messages, counted from the first, that can no longer change. */
  readonly closed: number
  readonly repairs: readonly Repair[]
}

export interface FlattenOptions {
  /** Ids of calls for which an earlier request contained a synthetic result. It stays, even if a real result arrives later. */
  readonly answeredSynthetically?: ReadonlySet<string>
  /** Whether the messages follow a signed summary, so that the assistant may come first. */
  readonly followsSummary?: boolean
}

const NO_RESULT = "No result: the call was interrupted before it finished."
const NO_BEGINNING = "[the beginning of this conversation is not available]"

export function flatten(messages: readonly Message[], options: FlattenOptions = {}): FlattenResult {
  const flattener = new Flattener(options)
  const read = messages.map(usable)
  for (const message of read) flattener.add(message)
  const { repairs, ...flattened } = flattener.result()
  return { ...flattened, repairs: [...read.flatMap(repairsOf), ...repairs] }
}

interface AssistantTurn {
  readonly content: readonly Block[]
  readonly repairs: readonly Repair[]
}

/** The user's side of an exchange as it can be sent, and the repairs made in it. */
interface UserTurn {
  readonly messages: readonly FlatMessage[]
  readonly repairs: readonly Repair[]
}

/** A message of the user's side: tool results, and all other blocks with the message they came from. */
interface UserPart {
  readonly results: ToolResult[]
  readonly rest: { readonly from: string; readonly blocks: readonly Block[] }[]
  readonly extras: Extras
  /** Whether this is a client's own message, which is not joined with the message before it. */
  readonly isApart: boolean
}

/** The user's side of an exchange. It is one message, unless a client sends several. */
interface Reply {
  readonly parts: UserPart[]
  /** System messages of a client. They come last, because the API accepts only an assistant message after one. */
  readonly system: ClientSystemMessage["message"][]
}

/** An assistant turn that may still grow, and the replies to it so far. */
interface OpenExchange extends Reply {
  readonly apiIds: Set<string>
  readonly assistant: Block[]
  paused: boolean
}

/** A complete assistant turn with the replies to it. Immutable: an addition creates a new exchange. */
interface Exchange extends Reply {
  readonly answer: AssistantTurn
  readonly apiId: string
}

interface FlatSection {
  readonly messages: readonly FlatMessage[]
  readonly repairs: readonly Repair[]
}

/** The messages that are not closed. `answered`: number of synthetic results known when they were computed. */
interface OpenSection extends FlatSection {
  readonly answered: number
}

interface CachedSection extends OpenSection {
  readonly isFirst: boolean
}

const newExchange = (): OpenExchange => ({ apiIds: new Set(), assistant: [], paused: false, parts: [], system: [] })
const newUserPart = (extras?: Extras): UserPart => ({ results: [], rest: [], extras: extras ?? {}, isApart: !!extras })

/**
 * A message is closed when no later message can change it. Closing lags by one exchange, because a response with nothing to
 * send joins the user turns before and after it.
 */
export class Flattener {
  readonly #answeredSynthetically: ReadonlySet<string>
  readonly #followsSummary: boolean
  readonly #closed: FlatMessage[] = []
  readonly #closedRepairs: Repair[] = []
  readonly #usedIds = new Set<string>()
  #previous: Exchange | undefined
  #open = newExchange()
  /** The open exchange as it can be sent. Reset when a message is added. */
  #completed: Exchange | undefined
  /** Caches the messages of each exchange, so that they stay the same objects and readers need not process them again. */
  readonly #sections = new WeakMap<Exchange, CachedSection>()
  /** The last return value of `open()`. */
  #lastOpen: OpenSection | undefined

  constructor({ answeredSynthetically = new Set(), followsSummary = false }: FlattenOptions = {}) {
    this.#answeredSynthetically = answeredSynthetically
    this.#followsSummary = followsSummary
  }

  add(message: Message): void {
    if (!isSentToModel(message)) return
    if (message.type === "assistant") this.#addAssistant(message)
    else if (message.type === "user") this.#addUser(message)
    else if (message.type === "attachment") {
      const { attachment } = message
      if (attachment.type === "system_message") this.#open.system.push(attachment.message)
      else this.#addRest(message.uuid, renderAttachment(attachment), attachment.belongsTo)
    }
    this.#completed = undefined
    this.#lastOpen = undefined
  }

  result(): FlattenResult {
    const open = this.open()
    return {
      messages: [...this.#closed, ...open.messages],
      closed: this.#closed.length,
      repairs: [...this.#closedRepairs, ...open.repairs],
    }
  }

  /** Messages that can no longer change. New ones are appended to the same array. */
  get closed(): readonly FlatMessage[] {
    return this.#closed
  }

  get closedRepairs(): readonly Repair[] {
    return this.#closedRepairs
  }

  /** Whether the server paused its own work and continues when it receives the same messages again. */
  get awaitsServer(): boolean {
    return awaitsServer(this.#open, pairServerTools(this.#open.assistant))
  }

  /** Whether the last message of a request sent now would be on the user's side. A system message is, too. */
  get endsWithUser(): boolean {
    const last = this.open().messages.at(-1) ?? this.#closed.at(-1)
    return last !== undefined && last.role !== "assistant"
  }

  open(): FlatSection {
    const answered = this.#answeredSynthetically.size // the set only grows
    if (this.#lastOpen?.answered === answered) return this.#lastOpen
    const last = withoutTrailingThinking(this.#completedExchange(), (exchange) => this.#userTurn(exchange))
    const exchanges = !this.#previous ? [last] : (joinExchanges(this.#previous, last) ?? [this.#previous, last])
    const messages: FlatMessage[] = []
    const repairs: Repair[] = []
    for (const exchange of exchanges) {
      const settled = this.#section(exchange, this.#closed.length + messages.length === 0)
      messages.push(...settled.messages)
      repairs.push(...settled.repairs)
    }
    this.#lastOpen = { messages, repairs, answered }
    return this.#lastOpen
  }

  #addAssistant(message: AssistantMessage): void {
    const { id, content, stop_reason } = message.message
    if (!this.#continuesOpenTurn(id)) this.#startExchange()
    if (id !== undefined) this.#open.apiIds.add(id)
    this.#open.assistant.push(...toBlocks(content).map(withoutBreakpoint))
    this.#open.paused = stop_reason === "pause_turn"
  }

  /**
   * Whether an assistant message continues the open turn. Parts of one response belong together, even with results between them, and
   * adjacent responses are merged.
   */
  #continuesOpenTurn(apiId: string | undefined): boolean {
    if (apiId !== undefined && this.#open.apiIds.has(apiId)) return true
    return this.#open.assistant.length > 0 && !this.#userHasSpoken()
  }

  /** Whether the open exchange has anything from the user. A synthetic result counts only if it was sent. */
  #userHasSpoken(): boolean {
    const { parts, system } = this.#open
    if (parts.length + system.length + this.#answeredSynthetically.size === 0) return false
    const { messages, repairs } = this.#userTurn(this.#completedExchange())
    const unsent = repairs.filter(
      ({ rule, id }) => rule === "unanswered-tool-use" && !this.#answeredSynthetically.has(id),
    )
    return messages.reduce((sum, { content }) => sum + content.length, 0) > unsent.length
  }

  #addUser(message: UserMessage): void {
    const blocks = toBlocks(message.message.content).map(withoutBreakpoint)
    if (message.asSent) this.#beginPart(extrasOf(message))
    this.#lastPart().results.push(...blocks.filter(isToolResult))
    this.#addRest(
      message.uuid,
      blocks.filter((block) => !isToolResult(block)),
    )
  }

  /**
   * Starts a new message for a message of a client. It is only joined with content that Strata put before it, because results come
   * first.
   */
  #beginPart(extras: Extras): void {
    const { parts } = this.#open
    const last = parts.at(-1)
    if (last && !last.isApart) parts[parts.length - 1] = { ...last, extras, isApart: true }
    else parts.push(newUserPart(extras))
  }

  #lastPart(): UserPart {
    const { parts } = this.#open
    if (parts.length === 0) parts.push(newUserPart())
    return parts.at(-1)!
  }

  #addRest(from: string, blocks: readonly Block[], belongsTo?: string): void {
    for (const { rest } of belongsTo === undefined ? [] : this.#open.parts) {
      const at = rest.findLastIndex((piece) => piece.from === belongsTo)
      if (at >= 0) return void rest.splice(at + 1, 0, { from: belongsTo!, blocks })
    }
    this.#lastPart().rest.push({ from, blocks })
  }

  #startExchange(): void {
    const complete = this.#completedExchange()
    const [joined] = (this.#previous && joinExchanges(this.#previous, complete)) ?? []
    if (!joined && this.#previous) this.#close(this.#previous)
    this.#previous = joined ?? complete
    for (const id of callsIn(complete.answer.content)) this.#usedIds.add(id)
    this.#open = newExchange()
  }

  #close(exchange: Exchange): void {
    const { messages, repairs } = this.#section(exchange, this.#closed.length === 0)
    this.#closed.push(...messages)
    this.#closedRepairs.push(...repairs)
  }

  #section(exchange: Exchange, isFirst: boolean): FlatSection {
    const answered = this.#answeredSynthetically.size
    const known = this.#sections.get(exchange)
    if (known?.isFirst === isFirst && known.answered === answered) return known
    const settled = { ...this.#flattenExchange(exchange, isFirst), isFirst, answered }
    this.#sections.set(exchange, settled)
    return settled
  }

  #flattenExchange(exchange: Exchange, isFirst: boolean): FlatSection {
    const { answer, apiId } = exchange
    const user = this.#userTurn(exchange)
    const repairs = [...answer.repairs, ...user.repairs]
    const messages: FlatMessage[] = []
    if (answer.content.length > 0) messages.push({ role: "assistant", content: answer.content })
    messages.push(...user.messages)
    if (isFirst && !this.#followsSummary && messages[0]?.role === "assistant") {
      messages.unshift({ role: "user", content: [{ type: "text", text: NO_BEGINNING }] })
      repairs.unshift({ rule: "starts-with-assistant", id: apiId })
    }
    return { messages, repairs }
  }

  #completedExchange(): Exchange {
    this.#completed ??= this.#sendableExchange()
    return this.#completed
  }

  #sendableExchange(): Exchange {
    const { apiIds, assistant, parts, system } = this.#open
    const [apiId = ""] = apiIds
    const repairs: Repair[] = []
    const drop = (rule: RepairRule, id: string) => {
      repairs.push({ rule, id })
      return false
    }
    const here = new Set<string>()
    const served = pairServerTools(assistant)
    const waiting = awaitsServer(this.#open, served) ? trailingServerCalls(assistant) : new Set<string>()
    const content = assistant.filter((block) => {
      if (isUnusable(block)) return false
      if (isEmptyText(block)) return drop("empty-text", apiId)
      if (block.type === "thinking" && !isSigned(block)) return drop("unsigned-thinking", apiId)
      if (isToolUse(block)) {
        if (!isWellFormedCall(block)) return drop("malformed-tool-use", String(block.id))
        if (here.has(block.id) || this.#usedIds.has(block.id)) return drop("duplicate-tool-use", block.id)
        here.add(block.id)
      }
      if (!isAsReceived(block) && !isKnownBlock(block)) return drop("unknown-block", apiId)
      const use = asServerUse(block)
      if (use && !served.has(use.id) && !waiting.has(use.id)) return drop("unanswered-server-tool", use.id)
      const result = asServerResult(block)
      if (result && !served.has(result.tool_use_id)) return drop("orphan-server-result", result.tool_use_id)
      return true
    })
    const copied = parts.map((part) => ({ ...part, results: [...part.results], rest: [...part.rest] }))
    return { answer: { content, repairs }, apiId, parts: copied, system: [...system] }
  }

  /** The user's side of an exchange: one result for each call, and results before everything else in their message. */
  #userTurn({ answer, parts: originalParts, system }: Exchange): UserTurn {
    const repairs: Repair[] = []
    const callIds = new Set(callsIn(answer.content))
    const parts = joinSplitResults(originalParts, callIds)
    const late = parts === originalParts ? undefined : originalParts[1]?.results[0]
    if (late) repairs.push({ rule: "split-tool-results", id: late.tool_use_id })
    const open = new Set(callIds)
    const answers = parts.map(({ results }) =>
      results.filter(({ tool_use_id: id }) => {
        const rule = !callIds.has(id)
          ? "orphan-tool-result"
          : this.#answeredSynthetically.has(id)
            ? "late-tool-result"
            : open.delete(id)
              ? undefined
              : "duplicate-tool-result"
        if (rule) repairs.push({ rule, id })
        return rule === undefined
      }),
    )
    const missing: ToolResult[] = [...open].map((id) => {
      repairs.push({ rule: "unanswered-tool-use", id })
      return { type: "tool_result", tool_use_id: id, content: NO_RESULT, is_error: true }
    })
    const spoken = (parts.length > 0 ? parts : [newUserPart()]).map(({ rest, extras }, at): FlatMessage => {
      const others = rest.flatMap(({ from, blocks }) =>
        blocks.filter((block) => {
          if (isUnusable(block)) return false
          if (!isEmptyText(block)) return true
          repairs.push({ rule: "empty-text", id: from })
          return false
        }),
      )
      return { role: "user", content: [...(answers[at] ?? []), ...(at === 0 ? missing : []), ...others], ...extras }
    })
    const sent = spoken.filter(({ content, ...rest }) => content.length > 0 || Object.keys(rest).length > 1)
    return { messages: system.length > 0 ? [...sent, joinSystemMessages(system)] : sent, repairs }
  }
}

/** Whether a text is empty and must be dropped. Texts that the client sent or the server received are preserved even if they are empty. */
const isEmptyText = (block: Block): boolean => isText(block) && block.text.trim() === "" && !isAsReceived(block)

const extrasOf = ({ message: { role: _, content: __, ...extras } }: UserMessage): Extras => extras

/**
 * Joins system messages into one. A compaction can bring several together, but the API accepts each only after another message. The
 * last one's settings win.
 */
function joinSystemMessages(messages: readonly ClientSystemMessage["message"][]): FlatMessage {
  const content = messages.flatMap((message) => toBlocks((message.content ?? []) as Content).map(withoutBreakpoint))
  const { role, content: _, ...extras } = Object.assign({}, ...messages) as ClientSystemMessage["message"]
  return { role, content, ...extras }
}

/** Joins two exchanges if the second one has no assistant content to send. */
function joinExchanges(first: Exchange, second: Exchange): [Exchange] | undefined {
  if (second.answer.content.length > 0) return undefined
  const answer = { content: first.answer.content, repairs: [...first.answer.repairs, ...second.answer.repairs] }
  return [
    { ...first, answer, parts: joinParts(first.parts, second.parts), system: [...first.system, ...second.system] },
  ]
}

/** Joins the parts of two exchanges. Only a client's message starts a message of its own. */
function joinParts(first: readonly UserPart[], second: readonly UserPart[]): UserPart[] {
  const [next, ...others] = second
  const last = first.at(-1)
  if (!next || !last || next.isApart) return [...first, ...second]
  const both = { ...last, results: [...last.results, ...next.results], rest: [...last.rest, ...next.rest] }
  return [...first.slice(0, -1), both, ...others]
}

/** Joins results of one assistant turn that a client sent in several messages. */
function joinSplitResults(parts: UserPart[], callIds: ReadonlySet<string>): UserPart[] {
  const last = parts.findLastIndex(({ results }) => results.some(({ tool_use_id: id }) => callIds.has(id)))
  if (last < 1) return parts
  const split = parts.slice(0, last + 1)
  const joined: UserPart = {
    results: split.flatMap(({ results }) => results),
    rest: split.flatMap(({ rest }) => rest),
    extras: Object.assign({}, ...split.map(({ extras }) => extras)),
    isApart: split[0]!.isApart,
  }
  return [joined, ...parts.slice(last + 1)]
}

/** Drops an assistant turn that consists of thinking only and has no reply. */
function withoutTrailingThinking(exchange: Exchange, userTurn: (exchange: Exchange) => UserTurn): Exchange {
  const { content, repairs } = exchange.answer
  if (content.length === 0 || !content.every(isThinking) || userTurn(exchange).messages.length > 0) return exchange
  const repair: Repair = { rule: "trailing-thinking", id: exchange.apiId }
  return { ...exchange, answer: { content: [], repairs: [...repairs, repair] } }
}

const isSigned = ({ signature }: { readonly signature: unknown }) => typeof signature === "string" && signature !== ""

const callsIn = (blocks: readonly Block[]): string[] => blocks.filter(isToolUse).map(({ id }) => id)

function awaitsServer({ paused, parts, assistant }: OpenExchange, served: ReadonlySet<string>): boolean {
  const last = assistant.at(-1)
  if (!paused || parts.length > 0 || last === undefined || assistant.some(isToolUse)) return false
  return asServerUse(last) !== undefined || served.has(asServerResult(last)?.tool_use_id ?? "")
}
