/**
 * The server's own copy of the conversation: which results are complete in it, and what a request may ask it to clear. Every later
 * request asks it to preserve the same results and all newer ones, so it clears once and its cache breaks once.
 */
import type { PermissionMode } from "../../base/enums.ts"
import type { DecisionEntry } from "../../journal/entries.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { type Block, isThinking, isToolResult, isToolUse, isWellFormedCall, toBlocks } from "../../messages/blocks.ts"
import type { Flattener } from "../../messages/flatten.ts"
import { type Message, sentBlocks, type Uuid } from "../../messages/messages.ts"
import type { RequestExtras } from "../../messages/request.ts"
import type { Estimator, Measure } from "../../tokens/estimate.ts"
import { followCalls, type OpenCall } from "../record/open-work.ts"
import { clearedMemories, clearsResults, dropsThinking, editsCache, type Overlay } from "./overlay.ts"
import { renderCacheEdits, renderCleared } from "./render-decisions.ts"
import { blocksOf, withoutDecided } from "./rendered-messages.ts"

export class ServerCopy {
  /** The calls that are sent since the last boundary, in order. */
  #calls: string[] = []
  readonly #places = new Map<string, number>()
  #from: string | undefined
  /** Number of calls before the newest response. */
  #earlier = 0
  /** Number of first calls whose results the server may have cleared. */
  #cleared = 0
  /** Whether the server cleared anything for the newest response. */
  #isInForce = false

  add(message: Message): void {
    if (message.type !== "assistant") return
    this.#earlier = this.#calls.length
    if (message.message.usage) this.#isInForce = false // without usage it is not a complete response, and reveals nothing
    for (const call of toBlocks(message.message.content).filter(isToolUse)) {
      const { id } = call
      if (!isWellFormedCall(call) || this.#places.has(id)) continue // not sent, so the server does not count it
      this.#places.set(id, this.#calls.length)
      this.#calls.push(id)
    }
  }

  decide(decision: DecisionEntry): void {
    if (decision.subtype !== "server-edited") return
    if (decision.keptFrom !== undefined) this.#from = decision.keptFrom
    if (decision.keptFrom === undefined && !decision.edits.some(clearsResults)) return
    // if it was not recorded which results stayed, all may have been cleared
    this.#cleared = this.#places.get(decision.keptFrom ?? "") ?? this.#earlier
    this.#isInForce = true
  }

  /** Whether the server may have cleared the result of a call from its copy. */
  mayHaveCleared(toolUseId: string): boolean {
    const place = this.#places.get(toolUseId)
    return place !== undefined && place < this.#cleared
  }

  /** Number of newest calls that the server preserved. `undefined` if it has cleared nothing. */
  get count(): number | undefined {
    const first = this.#from === undefined ? undefined : this.#places.get(this.#from)
    return first === undefined ? undefined : this.#calls.length - first
  }

  /** Number of newest calls that are complete in its cache after the newest response. */
  get inCache(): number {
    return (this.#isInForce ? this.count : undefined) ?? this.#calls.length
  }

  /** Preserved calls other than the newest `newest` ones: those that the server could clear next. */
  allBut(newest: number): readonly string[] {
    const { count = 0 } = this
    return this.#calls.slice(this.#calls.length - count, Math.max(0, this.#calls.length - newest))
  }

  /** The first of the newest `newest` calls. */
  firstOf(newest: number): string | undefined {
    return this.#calls[this.#calls.length - newest]
  }

  forget(): void {
    this.#calls = []
    this.#places.clear()
    this.#from = undefined
    this.#earlier = 0
    this.#cleared = 0
    this.#isInForce = false
  }
}

// Deletions inside the server's cache. The results stay in the messages; a block after them asks the server to delete its copy. Each
// block keeps its position in every later request. No public model offers this.

export interface CacheEditState {
  /** Results that are deleted inside the cache. */
  readonly toolUseIds: readonly string[]
  /** Whether a response has come since the first of these deletions. */
  readonly answered: boolean
  /** Whether earlier deletions were abandoned and no response has come since. */
  readonly justDropped: boolean
}

interface CacheEdit {
  readonly toolUseIds: readonly string[]
  /** Number of messages at the time of the decision. */
  readonly place: number
}

const NEVER = -1

export class CacheEdits {
  readonly #isSupported: boolean
  /** The deletions in force, by the decision that made them. */
  readonly #edits = new Map<Uuid, CacheEdit>()
  #deleted: ReadonlySet<string> = new Set()
  /** Deletions whose position has passed and that wait for a message of the user's side. */
  #waiting: Uuid[] = []
  /** Number of messages when deletions were last abandoned. */
  #droppedAt = NEVER

  /** A model that cannot edit its cache receives full results even if another model deleted them. */
  constructor(isSupported: boolean) {
    this.#isSupported = isSupported
  }

  /** The results whose deletion was requested, whether or not this model supports it. */
  get deleted(): ReadonlySet<string> {
    return this.#deleted
  }

  /** Whether the model no longer sees a result that is sent in full. */
  hides(toolUseId: string): boolean {
    return this.#isSupported && this.#deleted.has(toolUseId)
  }

  /** The block as the model sees it, without content that the server has deleted from its copy. */
  see(block: Block, overlay: Overlay): Block {
    if (!isToolResult(block) || !this.hides(block.tool_use_id)) return overlay.show(block)
    const address = overlay.addressOf(block)
    return address === undefined ? overlay.show(block) : renderCleared(block, address)
  }

  /** `settled`: number of messages up to the end of the newest response. */
  state(settled: number): CacheEditState {
    const edits = [...this.#edits.values()]
    return {
      toolUseIds: edits.flatMap(({ toolUseIds }) => toolUseIds),
      answered: edits.some(({ place }) => place < settled),
      justDropped: this.#droppedAt >= settled,
    }
  }

  /** `place`: number of messages. */
  decide(decision: DecisionEntry, place: number): void {
    if (decision.subtype === "cache-edits-dropped") {
      this.#drop()
      this.#droppedAt = place
    } else if (editsCache(decision)) {
      this.#edits.set(decision.uuid, { toolUseIds: decision.toolUseIds, place })
      this.#deleted = new Set([...this.#deleted, ...decision.toolUseIds])
      this.#waiting.push(decision.uuid)
    }
  }

  /** Adds the blocks that belong at this position, while all messages are flattened again. */
  feed(flattener: Flattener, fed: number, isSent: (toolUseId: string) => boolean): void {
    for (const [decision, { place }] of this.#edits) if (place === fed) this.#waiting.push(decision)
    this.flush(flattener, isSent)
  }

  /** Adds waiting blocks. Only the user's side may contain them, so a block after a response waits for the user's next message. */
  flush(flattener: Flattener, isSent: (toolUseId: string) => boolean): void {
    if (!this.#isSupported || this.#waiting.length === 0 || !flattener.endsWithUser) return
    for (const decision of this.#waiting.splice(0)) {
      const toolUseIds = this.#edits.get(decision)!.toolUseIds.filter(isSent)
      if (toolUseIds.length > 0) flattener.add(renderCacheEdits(decision, toolUseIds))
    }
  }

  /** Call this before all messages are flattened again. */
  startFeeding(): void {
    this.#waiting = []
  }

  /** Forgets everything. Decisions that are still valid are applied again, or a boundary has ended them. */
  clear(): void {
    this.#drop()
    this.#droppedAt = NEVER
  }

  #drop(): void {
    this.#edits.clear()
    this.#deleted = new Set()
    this.#waiting = []
  }
}

// Measures of what the model sees, without content that decisions clear, hide or drop. They are additive, and the estimator converts
// them into tokens.

/** The parts of a view that sizes depend on. They are read whenever a size is requested. */
export interface VisibleParts {
  readonly overlay: Overlay
  readonly cacheEdits: CacheEdits
  readonly visible: readonly Message[]
}

export class VisibleSizes {
  readonly #estimator: Estimator
  readonly #seen: VisibleParts

  constructor(estimator: Estimator, seen: VisibleParts) {
    this.#estimator = estimator
    this.#seen = seen
  }

  ofBlocks(blocks: readonly Block[]): Measure {
    const { cacheEdits, overlay } = this.#seen
    return this.#estimator.measure(blocks.map((block) => cacheEdits.see(block, overlay)))
  }

  ofMessages(messages: readonly Message[]): Measure {
    return this.ofBlocks(messages.flatMap((message) => sentBlocks(withoutDecided(message, this.#seen.overlay))))
  }

  /** Measure of all thinking that is sent. */
  ofThinking(): Measure {
    const { visible, overlay } = this.#seen
    const sent = visible.filter((message) => !overlay.isWithoutThinking(message))
    return this.ofBlocks(sent.flatMap(blocksOf).filter(isThinking))
  }

  /** Measure of what a decision about entire messages may change: thinking that it drops, memories that it clears. */
  ofConcerned(decision: DecisionEntry): Measure {
    const uuids = new Set(clearedMemories(decision))
    const memories = uuids.size === 0 ? [] : this.#seen.visible.filter(({ uuid }) => uuids.has(uuid))
    return this.#estimator.sum([...(dropsThinking(decision) ? [this.ofThinking()] : []), this.ofMessages(memories)])
  }
}

// Announcements in the messages: the permission mode, the date and the deferred tools. These change independently of the user, so each
// change is announced in a message. A boundary resets all announcements.

type DeferredListing = Extract<Attachment, { type: "deferred_tools" }>

export class AnnouncedState {
  readonly #open = new Map<string, OpenCall>()
  readonly #shows: (toolUseId: string) => boolean
  #mode: PermissionMode | undefined
  /** The call whose result announced the mode, if no attachment did. */
  #sayingCall: string | undefined
  #date: string | undefined
  #deferred: DeferredListing | undefined

  /** `shows`: whether a result is still complete in view. */
  constructor(shows: (toolUseId: string) => boolean) {
    this.#shows = shows
  }

  get mode(): PermissionMode | undefined {
    return this.#sayingCall === undefined || this.#shows(this.#sayingCall) ? this.#mode : undefined
  }

  get date(): string | undefined {
    return this.#date
  }

  /** The last list of deferred tools. */
  get deferred(): DeferredListing | undefined {
    return this.#deferred
  }

  add(message: Message): void {
    if (message.type === "attachment") {
      const { attachment } = message
      if (attachment.type === "permission_mode") this.#setMode(attachment.mode)
      if (attachment.type === "plan_mode") this.#setMode(attachment.active ? "plan" : undefined)
      if (attachment.type === "date") this.#date = attachment.date
      if (attachment.type === "deferred_tools") this.#deferred = attachment
      return
    }
    // the results of these calls show that the mode has changed, but not which mode follows plan mode
    for (const { id, tool, failed } of followCalls(this.#open, message)) {
      if (!failed && tool === "EnterPlanMode") this.#setMode("plan", id)
      if (!failed && tool === "ExitPlanMode") this.#setMode(undefined)
    }
  }

  forget(): void {
    this.#open.clear()
    this.#setMode(undefined)
    this.#date = undefined
    this.#deferred = undefined
  }

  #setMode(mode: PermissionMode | undefined, sayingCall?: string): void {
    this.#mode = mode
    this.#sayingCall = sayingCall
  }
}

// The server's context management: what a request may ask the server to clear from its own copy of the conversation, and how a response
// reports it. The decision what to clear is made elsewhere.

export const CLEAR_TOOL_USES = "clear_tool_uses_20250919"
export const CLEAR_THINKING = "clear_thinking_20251015"
const BETA = "context-management-2025-06-27"

/** Number of newest calls that the server preserves if a request does not say. */
export const CALLS_KEPT_BY_DEFAULT = 3

export interface ClearToolUsesOptions {
  /** Input tokens at which the server clears. */
  readonly trigger: number
  /** Minimum of input tokens to clear; otherwise it clears nothing. */
  readonly atLeast: number
  /** Number of newest calls that keep their results. Default: `CALLS_KEPT_BY_DEFAULT`. */
  readonly keepCalls?: number | undefined
  /** Tools whose results stay. */
  readonly except: readonly string[]
  /** Tools whose inputs are cleared as well. */
  readonly withInputs: readonly string[]
}

export function clearToolUses({ trigger, atLeast, keepCalls, except, withInputs }: ClearToolUsesOptions): object {
  return {
    type: CLEAR_TOOL_USES,
    trigger: { type: "input_tokens", value: trigger },
    ...(keepCalls === undefined ? {} : { keep: { type: "tool_uses", value: keepCalls } }),
    clear_at_least: { type: "input_tokens", value: atLeast },
    ...(except.length > 0 ? { exclude_tools: except } : {}),
    ...(withInputs.length > 0 ? { clear_tool_inputs: withInputs } : {}),
  }
}

/** `keepTurns`: number of newest turns that keep their thinking. */
export function clearThinking(keepTurns: number | "all"): object {
  return { type: CLEAR_THINKING, keep: keepTurns === "all" ? "all" : { type: "thinking_turns", value: keepTurns } }
}

/** The request extras that ask for these edits. */
export function contextManagement(edits: readonly object[]): RequestExtras | undefined {
  return edits.length > 0 ? { context_management: { edits }, betas: [BETA] } : undefined
}

interface ClearingEdit {
  readonly type?: string
  readonly keep?: string | { readonly type?: string; readonly value?: number }
}

const listEdits = (request: object): readonly ClearingEdit[] =>
  ((request as RequestExtras).context_management?.edits ?? []) as readonly ClearingEdit[]

/** What a fork has added to its parent's messages. */
export interface AddedByFork {
  readonly calls: number
  /** Number of responses with thinking. */
  readonly thoughts: number
}

/**
 * The same request, adjusted to preserve the added content as well. The server counts from the end, so it would otherwise clear more of
 * the older content, and the cache would break there.
 */
export function keepAddedContent<T extends object>(request: T, { calls, thoughts }: AddedByFork): T {
  const edits = listEdits(request)
  if (edits.length === 0 || calls + thoughts === 0) return request
  const raised = edits.map((edit) => {
    const { type, keep } = edit
    if (type === CLEAR_TOOL_USES)
      return { ...edit, keep: { type: "tool_uses", value: (readCount(keep) ?? CALLS_KEPT_BY_DEFAULT) + calls } }
    const turns = type === CLEAR_THINKING ? readCount(keep) : undefined // all of it, if there is no number
    return turns === undefined ? edit : { ...edit, ...clearThinking(turns + thoughts) }
  })
  return { ...request, context_management: { edits: raised } }
}

const readCount = (keep: ClearingEdit["keep"]): number | undefined =>
  typeof keep === "object" ? keep.value : undefined

/** Whether the server reports that it cleared calls. */
export const clearedCalls = (applied: readonly unknown[]): boolean => listClearings(applied).length > 0

/** Number of results that the server cleared. */
export const clearedByServer = (applied: readonly unknown[]): number =>
  listClearings(applied).reduce((sum, { cleared_tool_uses: count }) => sum + (typeof count === "number" ? count : 0), 0)

interface AppliedEdit {
  readonly type?: unknown
  readonly cleared_tool_uses?: unknown
}

const listClearings = (applied: readonly unknown[]): readonly AppliedEdit[] =>
  applied.map((edit) => (edit ?? {}) as AppliedEdit).filter(({ type }) => type === CLEAR_TOOL_USES)

/** Number of newest calls that the server preserves for this request. */
export function callsKeptBy(request: object): number {
  const edit = listEdits(request).find(({ type }) => type === CLEAR_TOOL_USES)
  return readCount(edit?.keep) ?? CALLS_KEPT_BY_DEFAULT
}
