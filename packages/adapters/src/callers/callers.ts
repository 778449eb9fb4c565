/**
 * Which conversation a caller's list belongs to. A caller that has an id says so; one that has none is known by what its list begins with.
 * Each list is a chain: a link for each message, made of its key and the link before it. A list with an unknown id that begins like a known
 * one is a fork of it.
 */

import { type GivenMessage, givenMessages, isCallersSummary, type Reader } from "@strata/core/conversation"
import type { ClientMessage } from "@strata/core/messages"
import {
  blocksIn,
  digestOf,
  hasDistinctiveText,
  hasRandomCallId,
  type MessageIdentity,
  nextChainKey,
} from "@strata/core/messages"
import type { CallerLine, CallerLog } from "./caller-log.ts"

/** What is known about who sends a list. */
export interface CallerIdentity {
  /** The caller's own id of the conversation. */
  readonly id?: string
  /** What tells its threads apart: the id of a sub-agent. */
  readonly thread?: string
  /** The names of its tools. Threads of one id may differ in nothing else. */
  readonly tools?: readonly string[]
}

export interface FoundConversation {
  readonly conversation: string
  /** The conversation that it branches, if it is not there yet. */
  readonly fork?: string
  /** Only its beginning tells that it is this one: another person's may be the same. */
  readonly isByBeginning?: true
}

export interface CallersParts {
  readonly log: CallerLog
  readonly newId: () => string
  readonly read?: Reader
}

type IsBusy = (conversation: string) => boolean

interface Known {
  readonly caller: string
  readonly tools: string
  readonly links: Set<string>
  /** Without its calls: it may be the list of a caller that keeps the last words of each turn. */
  readonly words: Set<string>
  /** Where its newest list ended. */
  ends: readonly string[]
}

const MAX = 1_000 // conversations that are known by their beginnings
const TAIL = 10 // messages at the end of a list that a caller may keep when it summarises the rest
const MAX_TAILS = 10_000

export class Callers {
  readonly #log: CallerLog
  readonly #newId: () => string
  readonly #messages: (messages: readonly ClientMessage[]) => readonly GivenMessage[]
  readonly #known = new Map<string, Known>()
  /** The newest conversation that has a link. */
  readonly #holders = new Map<string, string>()
  /** All that have a link without their calls. */
  readonly #sayers = new Map<string, Set<string>>()
  /** The newest messages of each conversation, by their keys. */
  readonly #tails = new Map<string, string>()
  /** Beginnings that have no answer yet. */
  readonly #unwritten = new Map<string, readonly string[]>()
  #reading: Promise<void> | undefined

  constructor({ log, newId, read }: CallersParts) {
    this.#log = log
    this.#newId = newId
    this.#messages = (messages) => givenMessages(messages, read)
  }

  /** `isBusy`: whether a conversation waits for an answer. Another list that goes another way is then another conversation. */
  async find(
    identity: CallerIdentity,
    messages: readonly ClientMessage[],
    isBusy: IsBusy = () => false,
  ): Promise<FoundConversation> {
    await this.load()
    const caller = callerOf(identity)
    const tools = toolsOf(identity)
    const chain = chainOf(this.#messages(messages))
    const own = caller === "" ? [] : [...this.#known].filter(([, known]) => known.caller === caller)
    const place = (conversation: string): FoundConversation => ({ conversation })
    if (own.length > 0) {
      const ids = new Set(own.map(([id]) => id))
      // threads may begin with the same words: until one is answered, its tools tell it apart
      const isOwn = (id: string, isAnswered: boolean) =>
        ids.has(id) && (isAnswered || (this.#known.get(id)!.tools === tools && !isBusy(id)))
      const deepest = this.#deepest(chain, isOwn)
      if (deepest) return place(deepest.conversation)
      const same = own.filter(([, known]) => known.tools === tools)
      const idle = same.filter(([id]) => !isBusy(id))
      const continued = messages[0] && isCallersSummary(messages[0]) ? same.at(-1) : newestOnly(idle, chain)
      return continued ? place(continued[0]) : this.#begun(identity, chain)
    }
    const elsewhere = this.#deepest(chain, (id) => this.#known.get(id)?.tools === tools)
    if (!elsewhere?.isAnswered) {
      const shortened = caller === "" ? this.#shortened(messages, tools) : undefined
      return shortened === undefined ? this.#begun(identity, chain) : place(shortened)
    }
    const found = this.#known.get(elsewhere.conversation)
    // people begin with the same words: what another one said after them is not in this list's conversation
    const goesOn =
      caller === "" && found?.caller === "" && found.ends.includes(elsewhere.link) && !isBusy(elsewhere.conversation)
    if (goesOn) return { conversation: elsewhere.conversation, isByBeginning: true }
    // the same program once more: what it says next is known from an earlier run, but this run's own conversation ended here
    const answer = chain.slice(0, elsewhere.at + 1).findLast(({ isAnswer }) => isAnswer)?.link ?? ""
    const ended = [...this.#known].findLast(
      ([id, known]) => known.caller === "" && known.tools === tools && known.ends.includes(answer) && !isBusy(id),
    )
    if (caller === "" && ended) return { conversation: ended[0], isByBeginning: true }
    return { ...this.#begun(identity, chain), fork: elsewhere.conversation }
  }

  /** A conversation of its own for a list that turns out to leave the one that was found. */
  apart({ conversation }: FoundConversation): FoundConversation {
    return { ...this.#begun({}, []), fork: conversation }
  }

  /** The list has been followed in this conversation, and answered so. */
  async note(conversation: string, identity: CallerIdentity, messages: readonly ClientMessage[]): Promise<void> {
    const given = this.#messages(messages)
    for (const { trace } of given.slice(-TAIL)) if (trace.key !== "") this.#tails.set(trace.key, conversation)
    for (const [oldest] of this.#tails) {
      if (this.#tails.size <= MAX_TAILS) break
      this.#tails.delete(oldest)
    }
    const chains = [linksOf(given), wordLinks(given)] as const
    const ends = chains.flatMap((links) => links.at(-1) ?? [])
    const known = this.#known.get(conversation)
    const begun = this.#unwritten.get(conversation) ?? []
    const links = [...begun, ...chains[0].filter((link) => !known?.links.has(link))]
    const words = chains[1].filter((link) => !known?.words.has(link))
    if (links.length + words.length === 0) return
    this.#unwritten.delete(conversation)
    const line = { conversation, caller: callerOf(identity), tools: toolsOf(identity), links, words, ends }
    this.#take(line)
    await this.#log.append(line)
  }

  /** Reads what other processes have noted, once. */
  load(): Promise<void> {
    this.#reading ??= this.#read()
    return this.#reading
  }

  async #read(): Promise<void> {
    for (const line of await this.#log.read()) this.#take(line)
  }

  #take({ conversation, caller, tools, links, words = [], ends = [] }: CallerLine): void {
    const empty = { links: new Set<string>(), words: new Set<string>() }
    const known = this.#known.get(conversation) ?? { caller, tools, ...empty, ends }
    known.ends = ends
    this.#known.delete(conversation) // the newest is last
    this.#known.set(conversation, known)
    for (const link of links) {
      known.links.add(link)
      this.#holders.set(link, conversation)
    }
    for (const link of words) {
      known.words.add(link)
      this.#sayers.set(link, (this.#sayers.get(link) ?? new Set()).add(conversation))
    }
    for (const [oldest] of this.#known) {
      if (this.#known.size <= MAX) break
      this.#forget(oldest)
    }
  }

  #forget(conversation: string): void {
    const { links, words } = this.#known.get(conversation)!
    for (const link of links) if (this.#holders.get(link) === conversation) this.#holders.delete(link)
    for (const link of words) {
      const sayers = this.#sayers.get(link)
      if (sayers?.delete(conversation) && sayers.size === 0) this.#sayers.delete(link)
    }
    this.#known.delete(conversation)
    this.#unwritten.delete(conversation)
  }

  /** A caller without an id has summarised or dropped the beginning of its list: what it kept is known. */
  #shortened(messages: readonly ClientMessage[], tools: string): string | undefined {
    const holders = this.#messages(messages).map(({ message, trace }) =>
      isAnswer(message) ? this.#tails.get(trace.key) : undefined,
    )
    return holders.find((holder) => holder !== undefined && this.#known.get(holder)?.tools === tools)
  }

  /** It is known at once: others of the same id may begin before its first answer. */
  #begun(identity: CallerIdentity, chain: readonly Link[]): FoundConversation {
    const caller = callerOf(identity)
    let conversation = `via-${caller === "" ? this.#newId() : caller}`
    for (let number = 2; this.#known.has(conversation); number++) conversation = `via-${caller}-${number}`
    if (caller !== "") {
      const links = chain.map(({ link }) => link)
      this.#take({ conversation, caller, tools: toolsOf(identity), links })
      this.#unwritten.set(conversation, links)
    }
    return { conversation }
  }

  /** The longest beginning that a conversation has. */
  #deepest(chain: readonly Link[], isMeant: (conversation: string, isAnswered: boolean) => boolean) {
    for (let at = chain.length - 1; at >= 0; at--) {
      const { link, isAnswered } = chain[at]!
      const holder = this.#holders.get(link)
      if (holder !== undefined && isMeant(holder, isAnswered)) return { conversation: holder, at, link, isAnswered }
      const other =
        holder && [...this.#known].findLast(([id, known]) => isMeant(id, isAnswered) && known.links.has(link))
      if (other) return { conversation: other[0], at, link, isAnswered }
      // two may have said the same, and have done other things for it
      const sayers = [...(this.#sayers.get(link) ?? [])].filter((id) => isMeant(id, isAnswered))
      if (sayers.length === 1) return { conversation: sayers[0]!, at, link, isAnswered }
    }
    return undefined
  }
}

/** A caller with one conversation that sends answers with another beginning has dropped its oldest messages. */
const newestOnly = <T>(own: readonly T[], chain: readonly Link[]): T | undefined =>
  own.length === 1 && chain.at(-1)?.isAnswered ? own[0] : undefined

/** Answers with calls: ids of calls are like no others. */
const isAnswer = (message: ClientMessage): boolean => message.role === "assistant" && hasRandomCallId(message)

/** As a caller has it that keeps only the last words of each turn. */
function withoutCalls(given: readonly GivenMessage[]): readonly GivenMessage[] {
  const lastWords = given.filter(
    ({ message: { role, content }, trace: { results } }) =>
      !(role === "user" && results) &&
      !(role === "assistant" && blocksIn(content).some(({ type }) => type === "tool_use")),
  )
  return lastWords.length === given.length ? [] : lastWords
}

/** Of the list without its calls, from the first answer on that no other conversation has by chance. */
function wordLinks(given: readonly GivenMessage[]): readonly string[] {
  const words = withoutCalls(given)
  const first = words.findIndex(({ message }) => message.role === "assistant" && hasDistinctiveText(message))
  return first < 0 ? [] : linksOf(words).slice(linksOf(words.slice(0, first)).length)
}

interface Link {
  readonly link: string
  /** An answer of the model is part of it. */
  readonly isAnswered: boolean
  /** It ends with one. */
  readonly isAnswer: boolean
}

const linksOf = (given: readonly GivenMessage[]): readonly string[] => chainOf(given).map(({ link }) => link)

function chainOf(given: readonly GivenMessage[]): readonly Link[] {
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

/** A reader that keeps traces gives the same ones again, mostly after the same messages. */
const links = new WeakMap<MessageIdentity, { readonly before: string; readonly link: string }>()

function linkAfter(before: string, trace: MessageIdentity): string {
  const known = links.get(trace)
  if (known?.before === before) return known.link
  const link = nextChainKey(before, trace.exactKey ?? trace.key)
  links.set(trace, { before, link })
  return link
}

const callerOf = ({ id, thread = "" }: CallerIdentity): string => (id === undefined ? "" : digestOf(`${id}\n${thread}`))
const toolsOf = ({ tools = [] }: CallerIdentity): string => digestOf([...tools].sort().join("\n"))
