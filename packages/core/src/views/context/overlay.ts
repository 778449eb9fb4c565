/**
 * Decisions about single blocks, and how each block is shown because of them. The overlay outlives boundaries, because decisions about
 * messages of the tail stay valid.
 */
import type { DecisionEntry, DecisionOf, OvertakenBy, SessionFacts, ShortenedResult } from "../../journal/entries.ts"
import {
  asServerResult,
  asServerUse,
  type Block,
  isToolResult,
  isToolUse,
  type ToolResult,
  toBlocks,
} from "../../messages/blocks.ts"
import { listMedia, type MediaItem, replaceMedia, withheldStub } from "../../messages/media.ts"
import { contentOf, isSentToModel, type Message, type Repair, type Uuid } from "../../messages/messages.ts"
import {
  renderCleared,
  renderEmpty,
  renderPersisted,
  renderShortened,
  type ShorteningOptions,
} from "./render-decisions.ts"

// How a decision changes the context view.

type ClearedResults = Extract<DecisionEntry, { subtype: "tool-results-cleared" }>

export const dropsThinking = (decision: DecisionEntry): boolean =>
  decision.subtype === "thinking-dropped" ||
  (decision.subtype === "repaired" && decision.repairs.some(({ rule }) => rule === "trailing-thinking"))

/** Whether results are deleted inside the server's cache. */
export const editsCache = (decision: DecisionEntry): decision is ClearedResults =>
  decision.subtype === "tool-results-cleared" && decision.why === "cache-edit"

/** Whether results are replaced in the messages that are sent. */
export const clearsInMessages = (decision: DecisionEntry): decision is ClearedResults =>
  decision.subtype === "tool-results-cleared" && decision.why !== "cache-edit"

export const clearedMemories = (decision: DecisionEntry): readonly Uuid[] =>
  decision.subtype === "tool-results-cleared" ? (decision.attachments ?? []) : []

/** Tokens that the server reports as cleared from its copy of the request. */
export const clearedByServer = (decision: DecisionEntry): number =>
  decision.subtype === "server-edited" ? decision.edits.reduce<number>((sum, edit) => sum + clearedBy(edit), 0) : 0

function clearedBy(edit: unknown): number {
  const tokens = (edit as { cleared_input_tokens?: unknown } | null)?.cleared_input_tokens
  return typeof tokens === "number" && tokens > 0 ? tokens : 0
}

/** Whether an edit of the server concerns tool results. Other edits leave results complete. */
export const clearsResults = (edit: unknown): boolean =>
  String((edit as { type?: unknown } | null)?.type).startsWith("clear_tool_uses")

/** Whether blocks of a response, or a signed summary, are no longer sent. */
const leavesOutBlocks = (decision: DecisionEntry): boolean =>
  decision.subtype === "repaired" &&
  decision.repairs.some(({ rule }) => rule === "unknown-block" || rule === "unsigned-summary")

/** Whether a decision changes which blocks exist, not only how they are shown. */
export const changesMessages = (decision: DecisionEntry): boolean =>
  dropsThinking(decision) ||
  leavesOutBlocks(decision) ||
  decision.subtype === "cache-edits-dropped" ||
  clearedMemories(decision).length > 0

/** The session facts of a decision, without the fields of its entry. */
export function sessionFacts({ title, mode, model, cwd, origin, prompt, source }: DecisionOf<"session">): SessionFacts {
  return {
    ...(title === undefined ? {} : { title }),
    ...(mode === undefined ? {} : { mode }),
    model,
    cwd,
    ...(origin === undefined ? {} : { origin }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(source === undefined ? {} : { source }),
  }
}

/** All decisions, as plain data for a checkpoint. */
export interface SavedOverlay {
  readonly cleared: readonly string[]
  readonly stubs: readonly (readonly [toolUseId: string, stub: string])[]
  readonly overtaken: readonly (readonly [toolUseId: string, by: OvertakenBy])[]
  readonly shortened: readonly (readonly [toolUseId: string, ShorteningOptions])[]
  readonly clearedMemories: readonly Uuid[]
  readonly persisted: readonly DecisionOf<"tool-result-persisted">[]
  readonly empty: readonly DecisionOf<"tool-result-empty">[]
  readonly sent: readonly string[]
  readonly withheld: readonly (readonly [address: string, why: string])[]
  readonly thinkingDropped: readonly Uuid[]
  readonly answered: readonly string[]
  readonly recorded: readonly string[]
}

interface PlacedMedia {
  readonly block: Block
  readonly item: MediaItem
  /** Index inside a tool result. */
  readonly inner: number | undefined
}

interface PlacedResult {
  readonly block: Block
  readonly address: string
  /** The block as it was last shown, and the state that determined it. A block that is shown unchanged is the same object. */
  shown?: { readonly as: Block; readonly cleared: boolean; readonly by: unknown }
}

const NONE: ReadonlySet<number> = new Set()

export class Overlay {
  readonly #cleared = new Set<string>()
  readonly #stubs = new Map<string, string>()
  readonly #overtaken = new Map<string, OvertakenBy>()
  readonly #shortened = new Map<string, ShorteningOptions>()
  readonly #clearedMemories = new Set<Uuid>()
  readonly #persisted = new Map<string, DecisionOf<"tool-result-persisted">>()
  readonly #empty = new Map<string, DecisionOf<"tool-result-empty">>()
  readonly #sent = new Set<string>()
  readonly #withheld = new Map<string, string>()
  readonly #thinkingDropped = new Set<Uuid>()
  readonly #answered = new Set<string>()
  readonly #recorded = new Set<string>()

  /** The blocks of the present view that decisions can concern. */
  readonly #results = new Map<string, PlacedResult>()
  readonly #media = new Map<string, PlacedMedia>()

  /** Ids of calls for which a request contained a synthetic result, which is final. */
  get answeredSynthetically(): ReadonlySet<string> {
    return this.#answered
  }

  isRecorded(repair: Repair): boolean {
    return this.#recorded.has(repairKey(repair))
  }

  /** Indexes of blocks that the API refused although a response had contained them. */
  refusedBlocks(message: Message): ReadonlySet<number> {
    const received: unknown = message.type === "assistant" ? message.asReceived : undefined
    if (!Array.isArray(received)) return NONE
    return new Set(received.filter((at) => this.isRecorded({ rule: "unknown-block", id: `${message.uuid}.${at}` })))
  }

  isWithoutThinking(message: Message): boolean {
    return this.#thinkingDropped.has(message.uuid)
  }

  isCleared(toolUseId: string): boolean {
    return this.#cleared.has(toolUseId)
  }

  /** Whether a result is cleared, offloaded or shortened. */
  isReplaced(toolUseId: string): boolean {
    return [this.#cleared, this.#persisted, this.#shortened].some((ids) => ids.has(toolUseId))
  }

  /** Whether a result is cleared and has a stub. */
  hasStub(toolUseId: string): boolean {
    return this.#cleared.has(toolUseId) && this.#stubs.has(toolUseId)
  }

  isClearedMemory(uuid: Uuid): boolean {
    return this.#clearedMemories.has(uuid)
  }

  /** Whether there is no decision about a result yet. */
  isUndecided(toolUseId: string): boolean {
    return ![this.#persisted, this.#empty, this.#shortened, this.#sent, this.#cleared].some((ids) => ids.has(toolUseId))
  }

  /** The address of the result that is shown for a call. */
  resultAddress(toolUseId: string): string | undefined {
    return this.#results.get(toolUseId)?.address
  }

  /** The address of a result, if it is the one that is shown for its call. */
  addressOf(result: ToolResult): string | undefined {
    const shown = this.#results.get(result.tool_use_id)
    return shown?.block === result ? shown.address : undefined
  }

  /** The results that are shown for these calls. */
  resultsOf(toolUseIds: Iterable<string>): readonly Block[] {
    return [...toolUseIds].flatMap((id) => this.#results.get(id)?.block ?? [])
  }

  /** Images and documents that are sent unless they are withheld. */
  get media(): readonly MediaItem[] {
    return [...this.#media.values()].filter(({ block }) => !this.#isShownReplaced(block)).map(({ item }) => item)
  }

  get withheldAddresses(): ReadonlySet<string> {
    return new Set(this.#withheld.keys())
  }

  /** Registers the blocks of a message. From here on they are known by identity. */
  place(message: Message): void {
    if ((message.type !== "user" && message.type !== "assistant") || !isSentToModel(message)) return
    const blocks = toBlocks(message.message.content)
    blocks.forEach((block, at) => {
      // of several results for one call, the first is shown
      if (!isToolResult(block) || this.#results.has(block.tool_use_id)) return
      this.#results.set(block.tool_use_id, { block, address: `${message.uuid}.${at}` })
    })
    for (const item of listMedia(message)) {
      const [at, inner] = item.address
        .slice(message.uuid.length + 1)
        .split(".")
        .map(Number)
      this.#media.set(item.address, { block: blocks[at!]!, item, inner })
    }
  }

  /** Forgets the blocks, which are registered again, but not the decisions about them. */
  forgetPlaces(): void {
    this.#results.clear()
    this.#media.clear()
  }

  /** The blocks of the present view that a decision concerns. */
  touchedBy(decision: DecisionEntry): readonly Block[] {
    switch (decision.subtype) {
      case "tool-results-cleared":
        return this.resultsOf([...decision.toolUseIds, ...(decision.shortened ?? []).map(({ toolUseId }) => toolUseId)])
      case "tool-result-persisted":
      case "tool-result-empty":
        return this.resultsOf([decision.toolUseId])
      case "tool-results-shortened":
        return this.resultsOf(decision.results.map(({ toolUseId }) => toolUseId))
      case "media-withheld":
        return decision.blocks.flatMap(({ address }) => this.#media.get(address)?.block ?? [])
      default:
        return []
    }
  }

  /** `present`: the messages that a decision about all messages covers. */
  decide(decision: DecisionEntry, present: readonly Message[]): void {
    if (decision.subtype === "tool-results-cleared") {
      if (clearsInMessages(decision)) for (const id of decision.toolUseIds) this.#clear(id, decision)
      this.#shorten(decision.shortened ?? [])
      for (const uuid of decision.attachments ?? []) this.#clearedMemories.add(uuid)
    } else if (decision.subtype === "tool-result-persisted") this.#persisted.set(decision.toolUseId, decision)
    else if (decision.subtype === "tool-results-shortened") this.#shorten(decision.results)
    else if (decision.subtype === "tool-result-empty") this.#empty.set(decision.toolUseId, decision)
    else if (decision.subtype === "tool-results-sent") for (const id of decision.toolUseIds) this.#sent.add(id)
    else if (decision.subtype === "media-withheld")
      for (const { address, why } of decision.blocks) this.#withheld.set(address, why)
    else if (decision.subtype === "thinking-dropped")
      this.#dropThinking(decision.inMessages ?? present.map(({ uuid }) => uuid))
    else if (decision.subtype === "undone") this.#dropThinking(present.map(({ uuid }) => uuid))
    else if (decision.subtype === "folded" || decision.subtype === "snipped") {
      if (decision.thinking) this.#dropThinking(present.map(({ uuid }) => uuid))
    } else if (decision.subtype === "repaired") {
      for (const repair of decision.repairs) {
        this.#recorded.add(repairKey(repair))
        if (repair.rule === "unanswered-tool-use") this.#answered.add(repair.id)
        // dropped content must not return: later thinking is bound to what comes before it
        if (repair.rule === "trailing-thinking")
          for (const uuid of addressableBlocks(repair.id, present)) this.#thinkingDropped.add(uuid)
      }
    }
  }

  #dropThinking(uuids: readonly Uuid[]): void {
    for (const uuid of uuids) this.#thinkingDropped.add(uuid)
  }

  /** Clears a result. One that is cleared again keeps its stub, because the bytes in its place must not change. */
  #clear(toolUseId: string, { residues: stubs, overtaken }: DecisionOf<"tool-results-cleared">): void {
    if (this.#cleared.has(toolUseId)) return
    this.#cleared.add(toolUseId)
    if (stubs?.[toolUseId]) this.#stubs.set(toolUseId, stubs[toolUseId])
    if (overtaken?.[toolUseId]) this.#overtaken.set(toolUseId, overtaken[toolUseId])
  }

  #shorten(results: readonly ShortenedResult[]): void {
    for (const { toolUseId, ...shortening } of results) this.#shortened.set(toolUseId, shortening)
  }

  /**
   * Clears results at a boundary that were deleted inside the server's cache, because the next prompt starts another cache. If this
   * changes a message of the tail, thinking in the tail is dropped too, because it may be bound to the old content.
   */
  clearAtBoundary(toolUseIds: ReadonlySet<string>, kept: readonly Message[]): void {
    for (const id of toolUseIds) this.#cleared.add(id)
    const holdsOne = (message: Message) =>
      message.type === "user" &&
      contentOf(message).some((block) => isToolResult(block) && toolUseIds.has(block.tool_use_id))
    if (kept.some(holdsOne)) for (const { uuid } of kept) this.#thinkingDropped.add(uuid)
  }

  /**
   * Forgets decisions about calls that a boundary removes. Some models reuse ids once they no longer see the old calls, and a new call
   * must not be mistaken for an old one.
   */
  forgetCallsBut(kept: readonly Message[]): void {
    const names = new Set(kept.flatMap(referenceIds))
    const replaced = [this.#cleared, this.#stubs, this.#overtaken, this.#shortened, this.#persisted, this.#empty]
    for (const decided of [...replaced, this.#sent, this.#answered])
      for (const id of decided.keys()) if (!names.has(id)) decided.delete(id)
    for (const key of this.#recorded) {
      const id = repairedId(key)
      // the repair of one block names its message and its index
      if (!names.has(id) && !names.has(id.split(".")[0]!)) this.#recorded.delete(key)
    }
  }

  /** The block as it is sent. */
  show(block: Block): Block {
    if (isToolResult(block)) {
      const shown = this.#showResult(block)
      if (shown) return shown
    }
    let shown = block
    for (const [address, why] of this.#withheld) {
      const media = this.#media.get(address)
      if (media?.block === block) shown = replaceMedia(shown, media.inner, withheldStub(media.item, why))
    }
    return shown
  }

  #showResult(result: ToolResult): Block | undefined {
    const id = result.tool_use_id
    const placed = this.#results.get(id)
    if (placed?.block !== result) return undefined
    const cleared = this.#cleared.has(id)
    const by = cleared
      ? (this.#stubs.get(id) ?? "")
      : (this.#persisted.get(id) ?? this.#shortened.get(id) ?? this.#empty.get(id))
    if (by === undefined) return undefined
    if (placed.shown?.cleared !== cleared || placed.shown.by !== by)
      placed.shown = { as: this.#render(result, placed.address), cleared, by }
    return placed.shown.as
  }

  #render(result: ToolResult, address: string): Block {
    const id = result.tool_use_id
    const [persisted, empty, shortened] = [this.#persisted.get(id), this.#empty.get(id), this.#shortened.get(id)]
    if (this.#cleared.has(id))
      return renderCleared(result, address, { stub: this.#stubs.get(id), overtaken: this.#overtaken.get(id) })
    if (persisted) return renderPersisted(result, persisted, address)
    return shortened ? renderShortened(result, shortened, address) : renderEmpty(result, empty!)
  }

  /** Whether the block is a tool result that is shown without its content. */
  #isShownReplaced(block: Block): boolean {
    return isToolResult(block) && this.addressOf(block) !== undefined && this.isReplaced(block.tool_use_id)
  }

  save(): SavedOverlay {
    return {
      cleared: [...this.#cleared],
      stubs: [...this.#stubs],
      overtaken: [...this.#overtaken],
      shortened: [...this.#shortened],
      clearedMemories: [...this.#clearedMemories],
      persisted: [...this.#persisted.values()],
      empty: [...this.#empty.values()],
      sent: [...this.#sent],
      withheld: [...this.#withheld],
      thinkingDropped: [...this.#thinkingDropped],
      answered: [...this.#answered],
      recorded: [...this.#recorded],
    }
  }

  static restore(saved: SavedOverlay): Overlay {
    const overlay = new Overlay()
    for (const id of saved.cleared) overlay.#cleared.add(id)
    for (const [id, stub] of saved.stubs) overlay.#stubs.set(id, stub)
    for (const [id, by] of saved.overtaken) overlay.#overtaken.set(id, by)
    for (const [id, shortening] of saved.shortened) overlay.#shortened.set(id, shortening)
    for (const uuid of saved.clearedMemories) overlay.#clearedMemories.add(uuid)
    for (const decision of saved.persisted) overlay.#persisted.set(decision.toolUseId, decision)
    for (const decision of saved.empty) overlay.#empty.set(decision.toolUseId, decision)
    for (const id of saved.sent) overlay.#sent.add(id)
    for (const [address, why] of saved.withheld) overlay.#withheld.set(address, why)
    for (const uuid of saved.thinkingDropped) overlay.#thinkingDropped.add(uuid)
    for (const id of saved.answered) overlay.#answered.add(id)
    for (const key of saved.recorded) overlay.#recorded.add(key)
    return overlay
  }
}

const addressableBlocks = (apiId: string, messages: readonly Message[]): readonly Uuid[] =>
  messages.flatMap((message) => (message.type === "assistant" && message.message.id === apiId ? message.uuid : []))

/** Every id by which decisions and repairs refer to a message or to something in it. */
function referenceIds(message: Message): readonly string[] {
  if (message.type !== "user" && message.type !== "assistant") return [message.uuid]
  const blocks = contentOf(message).flatMap((block) => {
    if (isToolResult(block)) return block.tool_use_id
    return (isToolUse(block) ? block.id : (asServerUse(block)?.id ?? asServerResult(block)?.tool_use_id)) ?? []
  })
  const apiId = message.type === "assistant" ? message.message.id : undefined
  return [message.uuid, ...(apiId === undefined ? [] : [apiId]), ...blocks]
}

const repairKey = ({ rule, id }: Repair) => `${rule} ${id}`
const repairedId = (key: string) => key.slice(key.indexOf(" ") + 1)
