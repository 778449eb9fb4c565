/**
 * Finds the conversation of a client's list. A client with an id is recognized by it, one without by the beginning of its list. Each list
 * is a chain: a link for each message, derived from its key and the previous link. A list with an unknown id that begins like a known one
 * is a fork of it.
 */

import {
  type IdentifiedMessage,
  identifyMessages,
  isClientSummary,
  type MessageReader,
} from "@strata/core/conversation"
import type { ClientMessage } from "@strata/core/messages"
import {
  blocksIn,
  digestOf,
  hasDistinctiveText,
  hasRandomCallId,
  type MessageIdentity,
  nextChainKey,
} from "@strata/core/messages"
import type { ClientLog, ClientLogLine } from "./client-log.ts"

/** What is known about the sender of a list. */
export interface ClientIdentity {
  /** The client's own id of the conversation. */
  readonly id?: string
  /** Distinguishes the client's threads: the id of a sub-agent. */
  readonly thread?: string
  /** Names of its tools, which may be the only difference between threads of one id. */
  readonly tools?: readonly string[]
}

export interface FoundConversation {
  readonly conversation: string
  /** The conversation to branch from, if this one does not exist yet. */
  readonly fork?: string
  /** Set if only the beginning of the list matched, which another user's list may share. */
  readonly isByBeginning?: true
}

export interface ConversationFinderOptions {
  readonly log: ClientLog
  readonly newId: () => string
  readonly read?: MessageReader
}

type IsBusy = (conversation: string) => boolean

interface KnownConversation {
  readonly client: string
  readonly tools: string
  readonly links: Set<string>
  /** Links without calls, for clients that keep only the final text of each turn. */
  readonly textLinks: Set<string>
  /** Links at which its newest list ended. */
  ends: readonly string[]
}

const MAX_CONVERSATIONS = 1_000 // conversations that are recognized by the beginning of their lists
const TAIL_MESSAGES = 10 // messages at the end of a list that a client may keep when it summarizes the rest
const MAX_TAILS = 10_000

export class ConversationFinder {
  readonly #log: ClientLog
  readonly #newId: () => string
  readonly #messages: (messages: readonly ClientMessage[]) => readonly IdentifiedMessage[]
  readonly #known = new Map<string, KnownConversation>()
  /** The newest conversation with each link. */
  readonly #holders = new Map<string, string>()
  /** All conversations with each link without calls. */
  readonly #textHolders = new Map<string, Set<string>>()
  /** Conversations of the newest messages, by message key. */
  readonly #tails = new Map<string, string>()
  /** Links of new conversations that have no response yet. */
  readonly #unrecordedLinks = new Map<string, readonly string[]>()
  #reading: Promise<void> | undefined

  constructor({ log, newId, read }: ConversationFinderOptions) {
    this.#log = log
    this.#newId = newId
    this.#messages = (messages) => identifyMessages(messages, read)
  }

  /** `isBusy`: whether a conversation waits for a response. A list that differs from it then belongs to another conversation. */
  async find(
    identity: ClientIdentity,
    messages: readonly ClientMessage[],
    isBusy: IsBusy = () => false,
  ): Promise<FoundConversation> {
    await this.load()
    const caller = clientDigest(identity)
    const tools = toolsDigest(identity)
    const chain = chainOf(this.#messages(messages))
    const own = caller === "" ? [] : [...this.#known].filter(([, known]) => known.client === caller)
    const place = (conversation: string): FoundConversation => ({ conversation })
    if (own.length > 0) {
      const ids = new Set(own.map(([id]) => id))
      // threads may begin with the same text: until there is a response, their tools distinguish them
      const isOwn = (id: string, isAnswered: boolean) =>
        ids.has(id) && (isAnswered || (this.#known.get(id)!.tools === tools && !isBusy(id)))
      const deepest = this.#findDeepest(chain, isOwn)
      if (deepest) return place(deepest.conversation)
      const same = own.filter(([, known]) => known.tools === tools)
      const idle = same.filter(([id]) => !isBusy(id))
      const continued = messages[0] && isClientSummary(messages[0]) ? same.at(-1) : newestOnly(idle, chain)
      return continued ? place(continued[0]) : this.#startConversation(identity, chain)
    }
    const elsewhere = this.#findDeepest(chain, (id) => this.#known.get(id)?.tools === tools)
    if (!elsewhere?.isAnswered) {
      const shortened = caller === "" ? this.#findByTail(messages, tools) : undefined
      return shortened === undefined ? this.#startConversation(identity, chain) : place(shortened)
    }
    const found = this.#known.get(elsewhere.conversation)
    // different users may begin with the same text: another user's later messages must not become part of this conversation
    const isContinuation =
      caller === "" && found?.client === "" && found.ends.includes(elsewhere.link) && !isBusy(elsewhere.conversation)
    if (isContinuation) return { conversation: elsewhere.conversation, isByBeginning: true }
    // a program that runs again: its next message is known from an earlier run, but this run's own conversation ended here
    const answer = chain.slice(0, elsewhere.at + 1).findLast(({ isAnswer }) => isAnswer)?.link ?? ""
    const ended = [...this.#known].findLast(
      ([id, known]) => known.client === "" && known.tools === tools && known.ends.includes(answer) && !isBusy(id),
    )
    if (caller === "" && ended) return { conversation: ended[0], isByBeginning: true }
    return { ...this.#startConversation(identity, chain), fork: elsewhere.conversation }
  }

  /** A separate conversation for a list that turns out to differ from the one that was found. */
  splitOff({ conversation }: FoundConversation): FoundConversation {
    return { ...this.#startConversation({}, []), fork: conversation }
  }

  /** Records the list, including its response, as part of this conversation. */
  async note(conversation: string, identity: ClientIdentity, messages: readonly ClientMessage[]): Promise<void> {
    const given = this.#messages(messages)
    for (const { trace } of given.slice(-TAIL_MESSAGES)) if (trace.key !== "") this.#tails.set(trace.key, conversation)
    for (const [oldest] of this.#tails) {
      if (this.#tails.size <= MAX_TAILS) break
      this.#tails.delete(oldest)
    }
    const chains = [linksOf(given), linksWithoutCalls(given)] as const
    const ends = chains.flatMap((links) => links.at(-1) ?? [])
    const known = this.#known.get(conversation)
    const begun = this.#unrecordedLinks.get(conversation) ?? []
    const links = [...begun, ...chains[0].filter((link) => !known?.links.has(link))]
    const words = chains[1].filter((link) => !known?.textLinks.has(link))
    if (links.length + words.length === 0) return
    this.#unrecordedLinks.delete(conversation)
    const line = { conversation, caller: clientDigest(identity), tools: toolsDigest(identity), links, words, ends }
    this.#apply(line)
    await this.#log.append(line)
  }

  /** Reads the log of other processes, once. */
  load(): Promise<void> {
    this.#reading ??= this.#read()
    return this.#reading
  }

  async #read(): Promise<void> {
    for (const line of await this.#log.read()) this.#apply(line)
  }

  #apply({ conversation, caller: client, tools, links, words = [], ends = [] }: ClientLogLine): void {
    const empty = { links: new Set<string>(), textLinks: new Set<string>() }
    const known = this.#known.get(conversation) ?? { client, tools, ...empty, ends }
    known.ends = ends
    this.#known.delete(conversation) // moves it to the end, as the newest
    this.#known.set(conversation, known)
    for (const link of links) {
      known.links.add(link)
      this.#holders.set(link, conversation)
    }
    for (const link of words) {
      known.textLinks.add(link)
      this.#textHolders.set(link, (this.#textHolders.get(link) ?? new Set()).add(conversation))
    }
    for (const [oldest] of this.#known) {
      if (this.#known.size <= MAX_CONVERSATIONS) break
      this.#forget(oldest)
    }
  }

  #forget(conversation: string): void {
    const { links, textLinks } = this.#known.get(conversation)!
    for (const link of links) if (this.#holders.get(link) === conversation) this.#holders.delete(link)
    for (const link of textLinks) {
      const sayers = this.#textHolders.get(link)
      if (sayers?.delete(conversation) && sayers.size === 0) this.#textHolders.delete(link)
    }
    this.#known.delete(conversation)
    this.#unrecordedLinks.delete(conversation)
  }

  /** Finds the conversation of a client without an id that has summarized or dropped the beginning of its list, by the messages it kept. */
  #findByTail(messages: readonly ClientMessage[], tools: string): string | undefined {
    const holders = this.#messages(messages).map(({ message, trace }) =>
      isAnswer(message) ? this.#tails.get(trace.key) : undefined,
    )
    return holders.find((holder) => holder !== undefined && this.#known.get(holder)?.tools === tools)
  }

  /** Registers a new conversation at once, because others of the same id may begin before its first response. */
  #startConversation(identity: ClientIdentity, chain: readonly Link[]): FoundConversation {
    const caller = clientDigest(identity)
    let conversation = `via-${caller === "" ? this.#newId() : caller}`
    for (let number = 2; this.#known.has(conversation); number++) conversation = `via-${caller}-${number}`
    if (caller !== "") {
      const links = chain.map(({ link }) => link)
      this.#apply({ conversation, caller, tools: toolsDigest(identity), links })
      this.#unrecordedLinks.set(conversation, links)
    }
    return { conversation }
  }

  /** The longest known beginning of the list. */
  #findDeepest(chain: readonly Link[], matches: (conversation: string, isAnswered: boolean) => boolean) {
    for (let at = chain.length - 1; at >= 0; at--) {
      const { link, isAnswered } = chain[at]!
      const holder = this.#holders.get(link)
      if (holder !== undefined && matches(holder, isAnswered)) return { conversation: holder, at, link, isAnswered }
      const other =
        holder && [...this.#known].findLast(([id, known]) => matches(id, isAnswered) && known.links.has(link))
      if (other) return { conversation: other[0], at, link, isAnswered }
      // two conversations may have the same texts but different calls
      const sayers = [...(this.#textHolders.get(link) ?? [])].filter((id) => matches(id, isAnswered))
      if (sayers.length === 1) return { conversation: sayers[0]!, at, link, isAnswered }
    }
    return undefined
  }
}

/** If a client with one conversation sends responses with another beginning, it has dropped its oldest messages. */
const newestOnly = <T>(own: readonly T[], chain: readonly Link[]): T | undefined =>
  own.length === 1 && chain.at(-1)?.isAnswered ? own[0] : undefined

/** Responses with calls, whose random ids are unique. */
const isAnswer = (message: ClientMessage): boolean => message.role === "assistant" && hasRandomCallId(message)

/** The list of a client that keeps only the final text of each turn. */
function withoutCalls(given: readonly IdentifiedMessage[]): readonly IdentifiedMessage[] {
  const lastWords = given.filter(
    ({ message: { role, content }, trace: { results } }) =>
      !(role === "user" && results) &&
      !(role === "assistant" && blocksIn(content).some(({ type }) => type === "tool_use")),
  )
  return lastWords.length === given.length ? [] : lastWords
}

/** Links of the list without its calls, from the first response whose text is distinctive. */
function linksWithoutCalls(given: readonly IdentifiedMessage[]): readonly string[] {
  const words = withoutCalls(given)
  const first = words.findIndex(({ message }) => message.role === "assistant" && hasDistinctiveText(message))
  return first < 0 ? [] : linksOf(words).slice(linksOf(words.slice(0, first)).length)
}

interface Link {
  readonly link: string
  /** Whether the chain up to here contains a response. */
  readonly isAnswered: boolean
  /** Whether it ends with a response. */
  readonly isAnswer: boolean
}

const linksOf = (given: readonly IdentifiedMessage[]): readonly string[] => chainOf(given).map(({ link }) => link)

function chainOf(given: readonly IdentifiedMessage[]): readonly Link[] {
  let link = ""
  let isAnswered = false
  return given.flatMap(({ message, trace }) => {
    const isAnswer = message.role === "assistant"
    isAnswered ||= isAnswer
    if (trace.key === "") return []
    link = linkAfter(link, trace)
    return [{ link, isAnswered, isAnswer }]
  })
}

/** Links by trace, cached because a reader returns the same traces again, mostly after the same messages. */
const links = new WeakMap<MessageIdentity, { readonly before: string; readonly link: string }>()

function linkAfter(before: string, trace: MessageIdentity): string {
  const known = links.get(trace)
  if (known?.before === before) return known.link
  const link = nextChainKey(before, trace.exactKey ?? trace.key)
  links.set(trace, { before, link })
  return link
}

const clientDigest = ({ id, thread = "" }: ClientIdentity): string =>
  id === undefined ? "" : digestOf(`${id}\n${thread}`)
const toolsDigest = ({ tools = [] }: ClientIdentity): string => digestOf([...tools].sort().join("\n"))
