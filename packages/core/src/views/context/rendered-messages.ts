/**
 * The flattened messages as decisions show them. A closed message is rendered once, and again only if a decision affects it.
 */

import type { DecisionEntry } from "../../journal/entries.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { type Block, findToolReferences, isThinking, toBlocks } from "../../messages/blocks.ts"
import type { FlatMessage, Flattener } from "../../messages/flatten.ts"
import type { Message, UserMessage, Uuid } from "../../messages/messages.ts"
import { Overlay, type SavedOverlay } from "./overlay.ts"
import { renderClearedMemory } from "./render-decisions.ts"

export interface ContextMessages {
  readonly messages: readonly FlatMessage[]
  /** Number of first messages that stay unchanged until a decision changes one of them. */
  readonly closed: number
  /** Changes whenever a decision has changed one of those messages. Unique across views. */
  readonly revision: symbol
}

export class RenderedMessages {
  readonly #show: (block: Block) => Block
  /** Rendered closed messages that were requested. */
  #closed: FlatMessage[] = []
  /** Index of the closed message that contains a block. */
  readonly #closedAt = new WeakMap<Block, number>()
  #revision = Symbol()

  constructor(show: (block: Block) => Block) {
    this.#show = show
  }

  /** `first`: messages before all others. */
  of(flattener: Flattener, first: readonly FlatMessage[] = []): ContextMessages {
    this.#takeClosed(flattener.closed)
    const open = this.all(flattener.open().messages)
    const closed = first.length + this.#closed.length
    // a single copy of memory: spreading would iterate over the messages
    return { messages: first.concat(this.#closed, open), closed, revision: this.#revision }
  }

  all(messages: readonly FlatMessage[]): FlatMessage[] {
    return messages.map((message) => this.#shown(message))
  }

  /** Renders the closed messages with these blocks again. */
  update(blocks: readonly Block[], { closed }: Flattener): void {
    for (const block of blocks) {
      const at = this.#closedAt.get(block)
      if (at === undefined || at >= this.#closed.length) continue
      this.#closed[at] = this.#shown(closed[at]!)
      this.#revision = Symbol()
    }
  }

  /** Resets, because the messages are flattened again from the start. */
  clear(): void {
    this.#closed = []
    this.#revision = Symbol()
  }

  #takeClosed(closed: readonly FlatMessage[]): void {
    for (let at = this.#closed.length; at < closed.length; at++) {
      for (const block of closed[at]!.content) this.#closedAt.set(block, at)
      this.#closed.push(this.#shown(closed[at]!))
    }
  }

  #shown(message: FlatMessage): FlatMessage {
    const content = message.content.map((block) => this.#show(block))
    return content.every((block, i) => block === message.content[i]) ? message : { ...message, content }
  }
}

// Copies of messages with blocks changed or removed. The originals stay unchanged.

export const blocksOf = (message: Message): readonly Block[] =>
  message.type === "user" || message.type === "assistant" ? toBlocks(message.message.content) : []

export const holdsReference = (message: Message): boolean =>
  blocksOf(message).some((block) => findToolReferences(block).length > 0)

/** The index after the newest response. */
export const endOfResponses = (messages: readonly Message[]): number =>
  messages.findLastIndex(({ type }) => type === "assistant") + 1

/** Whether these blocks came after the newest response. */
export function areSinceResponse(messages: readonly Message[], blocks: readonly Block[]): boolean {
  if (blocks.length === 0) return true
  const newest = new Set(messages.slice(endOfResponses(messages)).flatMap(blocksOf))
  return blocks.every((block) => newest.has(block))
}

/** Returns the same message if no block changes. */
export function mapBlocks(message: Message, change: (block: Block) => Block): Message {
  if (message.type !== "user" && message.type !== "assistant") return message
  const blocks = blocksOf(message)
  const content = blocks.map(change)
  if (blocks === message.message.content && content.every((block, at) => block === blocks[at])) return message
  return { ...message, message: { ...message.message, content } } as Message
}

/** A message without its usage: after a boundary, older counts of the API no longer apply. */
export function withoutUsage(message: Message): Message {
  if (message.type !== "assistant") return message
  const { usage: _, ...rest } = message.message
  return { ...message, message: rest }
}

/** A message without the blocks at these indexes. */
export function withoutBlocks(message: Message, places: ReadonlySet<number>): Message {
  if (message.type !== "assistant" || places.size === 0) return message
  return { ...message, message: { ...message.message, content: blocksOf(message).filter((_, at) => !places.has(at)) } }
}

/** A message without its thinking. A turn that ended in thinking did not stop inside a server call, and must not look as if it had. */
export function withoutThinking(message: Message): Message {
  if (message.type !== "assistant") return message
  const blocks = blocksOf(message)
  const last = blocks.at(-1)
  const stop = last && isThinking(last) ? { stop_reason: null } : {}
  return { ...message, message: { ...message.message, ...stop, content: blocks.filter((block) => !isThinking(block)) } }
}

/** A message without the parts that decisions about entire messages remove. */
export function withoutDecided(message: Message, overlay: Overlay): Message {
  if (message.type === "attachment")
    return overlay.isClearedMemory(message.uuid) ? renderClearedMemory(message) : message
  const taken = withoutBlocks(message, overlay.refusedBlocks(message))
  return overlay.isWithoutThinking(message) ? withoutThinking(taken) : taken
}

// Ranges of messages that decisions hide. A snipped range leaves nothing; a folded one leaves the line of its decision. If two
// decisions cover a message, the later one applies, and undoing it restores the earlier one.

/**
 * Attachments that describe a state from their position on. They stay even if the range around them is hidden. What was sent depends on
 * this list, so a kind must never be removed from it.
 */
const STATE_ATTACHMENTS: ReadonlySet<Attachment["type"]> = new Set([
  ...(["plan_file", "plan_mode", "permission_mode", "date", "todo_list"] as const),
  ...(["skill_content", "skill_listing", "agent_status", "agent_listing"] as const),
  ...(["tool_delta", "deferred_tools", "mcp_instructions"] as const),
  ...(["nested_memory", "standing_memory", "carried_facts"] as const),
  ...(["files_restored"] as const),
])

/** Whether a message is hidden together with its range. */
export const isHiddenWithRange = (message: Message): boolean =>
  message.type !== "attachment" || !STATE_ATTACHMENTS.has(message.attachment.type)

export type FoldDecision = Extract<DecisionEntry, { subtype: "folded" }>
export type RangeDecision = FoldDecision | Extract<DecisionEntry, { subtype: "snipped" }>

export const hidesRange = (decision: DecisionEntry): decision is RangeDecision =>
  decision.subtype === "folded" || decision.subtype === "snipped"

const lines = new WeakMap<RangeDecision, UserMessage>()

/** The message that replaces a folded range. Always the same object, because blocks are known by identity. */
export function foldLine(decision: FoldDecision): UserMessage {
  const known = lines.get(decision)
  if (known) return known
  const { uuid, timestamp, line } = decision
  const content = [{ type: "text" as const, text: line.toWellFormed() }]
  const message: UserMessage = {
    type: "user",
    uuid,
    parentUuid: null,
    timestamp,
    isMeta: true,
    message: { role: "user", content },
  }
  lines.set(decision, message)
  return message
}

/** A hidden range, with its messages. */
export interface HiddenMessages {
  readonly decision: RangeDecision
  readonly messages: readonly Message[]
}

export class HiddenRanges {
  /** For each message: the decision that hides it. */
  readonly #by = new Map<Uuid, RangeDecision>()

  get isEmpty(): boolean {
    return this.#by.size === 0
  }

  hides({ uuid }: Message): boolean {
    return this.#by.has(uuid)
  }

  /** Applies a decision. A range whose ends are not in view changes nothing. */
  decide(decision: RangeDecision, messages: readonly Message[]): void {
    const first = messages.findIndex(({ uuid }) => uuid === decision.from)
    const last = messages.findIndex(({ uuid }) => uuid === decision.to)
    if (first < 0) return
    for (const message of messages.slice(first, last + 1))
      if (isHiddenWithRange(message)) this.#by.set(message.uuid, decision)
  }

  /** For each message what is sent instead: itself, the line of its range, or nothing. */
  shown(messages: readonly Message[]): readonly (Message | undefined)[] {
    if (this.isEmpty) return messages
    const seen = new Set<RangeDecision>()
    return messages.map((message) => {
      const decision = this.#by.get(message.uuid)
      if (!decision) return message
      if (decision.subtype !== "folded" || seen.has(decision)) return undefined
      seen.add(decision)
      return foldLine(decision)
    })
  }

  /** The hidden ranges, in the order of the messages. */
  inForce(messages: readonly Message[]): readonly HiddenMessages[] {
    const found = new Map<RangeDecision, Message[]>()
    for (const message of messages) {
      const decision = this.#by.get(message.uuid)
      if (!decision) continue
      const hidden = found.get(decision)
      if (hidden) hidden.push(message)
      else found.set(decision, [message])
    }
    return [...found].map(([decision, hidden]) => ({ decision, messages: hidden }))
  }
}

// The decisions since the last boundary, each with the messages it covers. Any of them can be undone, and the others are applied again.

export type UndoneDecision = DecisionEntry & { readonly subtype: "undone" }

interface HeldDecision {
  readonly decision: DecisionEntry
  /** The decision covers the messages from index `since` up to this number. */
  readonly present: number
  readonly since?: number
}

/** A placeholder decision for forecasts. */
const DROPPED: DecisionEntry = {
  type: "strata",
  subtype: "thinking-dropped",
  uuid: "",
  parentUuid: null,
  timestamp: "",
  why: "",
}

export class HeldDecisions {
  readonly #base: SavedOverlay
  readonly #list: HeldDecision[]

  /** `base`: the overlay without these decisions. */
  constructor(base: SavedOverlay, list: readonly HeldDecision[] = []) {
    this.#base = base
    this.#list = [...list]
  }

  get list(): readonly HeldDecision[] {
    return this.#list
  }

  /** `present`: number of messages. */
  add(decision: DecisionEntry, present: number): void {
    this.#list.push({ decision, present })
  }

  /** The same base without decisions. */
  emptied(): HeldDecisions {
    return new HeldDecisions(this.#base)
  }

  /**
   * The decisions without one that is undone. If this opens a range, thinking since then is dropped, because it is bound to the view
   * without that range.
   */
  without(
    uuid: Uuid,
    { present, undone = DROPPED }: { readonly present: number; readonly undone?: UndoneDecision | typeof DROPPED },
  ): { readonly target?: DecisionEntry; readonly held: HeldDecisions } {
    const found = this.#list.find(({ decision }) => decision.uuid === uuid)
    const list = this.#list.filter((each) => each !== found)
    if (!found) return { held: new HeldDecisions(this.#base, list) }
    const { decision: target, present: since } = found
    if (hidesRange(target) && target.thinking) list.push({ decision: undone, present, since })
    return { target, held: new HeldDecisions(this.#base, list) }
  }

  /** Applies the decisions to these messages. */
  replay(messages: readonly Message[]): { readonly overlay: Overlay; readonly ranges: HiddenRanges } {
    const overlay = Overlay.restore(this.#base)
    const ranges = new HiddenRanges()
    for (const { decision, present, since = 0 } of this.#list) {
      const held = messages.slice(since, present)
      overlay.decide(decision, held)
      if (hidesRange(decision)) ranges.decide(decision, held)
    }
    return { overlay, ranges }
  }
}

// Synthetic results of calls that a request contained because no result had come. Such a result is final, but only from its position
// on: earlier messages were flattened without it, and are flattened the same way when the view is rebuilt.

export class SyntheticAnswers {
  /** The calls with synthetic results up to the last flattened message. */
  #now: Set<string>
  /** The calls from before the last boundary. */
  #before: ReadonlySet<string>
  #made: { readonly decision: Uuid; readonly at: number; readonly ids: readonly string[] }[] = []

  constructor(before: Iterable<string>) {
    this.#before = new Set(before)
    this.#now = new Set(this.#before)
  }

  get ids(): ReadonlySet<string> {
    return this.#now
  }

  /** `at`: number of messages. */
  decide(decision: DecisionEntry, at: number): void {
    if (decision.subtype !== "repaired") return
    const ids = decision.repairs.flatMap(({ rule, id }) => (rule === "unanswered-tool-use" ? id : []))
    this.#made.push({ decision: decision.uuid, at, ids })
    for (const id of ids) this.#now.add(id)
  }

  undo(decision: Uuid): void {
    this.#made = this.#made.filter((each) => each.decision !== decision)
  }

  /** Call this before the view is rebuilt. `take` then adds each result at its position. */
  startOver(): void {
    this.#now = new Set(this.#before)
  }

  take(place: number): void {
    for (const { at, ids } of this.#made) if (at === place) for (const id of ids) this.#now.add(id)
  }

  boundary(all: Iterable<string>): void {
    this.#before = new Set(all)
    this.#made = []
  }
}
