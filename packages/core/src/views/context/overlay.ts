/**
 * What decisions say about single blocks, and how each block is shown because of it. It outlives boundaries, because messages that
 * are kept across one keep what was decided about them.
 */

import type { DecisionEntry, DecisionOf } from "../../journal/entries.ts"
import { asServerResult, asServerUse, type Block, isToolResult, isToolUse, toBlocks } from "../../messages/blocks.ts"
import type { Repair } from "../../messages/flatten.ts"
import { type MediaItem, mediaIn, replaceMedia, withheldStub } from "../../messages/media.ts"
import { contentOf, isSentToModel, type Message, type Uuid } from "../../messages/messages.ts"
import { renderCleared, renderEmpty, renderPersisted } from "./render-decisions.ts"

/** Everything decided, as plain data for a checkpoint. Deletions inside the server's cache end at a boundary, so they are not in it. */
export interface SavedOverlay {
  readonly cleared: readonly string[]
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
  /** Its place inside a tool result. */
  readonly inner: number | undefined
}

export class Overlay {
  readonly #editsCaches: boolean
  readonly #cleared = new Set<string>()
  readonly #clearedMemories = new Set<Uuid>()
  /** Deletions inside the server's cache that are sent, by the decision that made them. */
  readonly #edits = new Map<Uuid, readonly string[]>()
  #deleted: ReadonlySet<string> = new Set()
  readonly #persisted = new Map<string, DecisionOf<"tool-result-persisted">>()
  readonly #empty = new Map<string, DecisionOf<"tool-result-empty">>()
  readonly #sent = new Set<string>()
  readonly #withheld = new Map<string, string>()
  readonly #thinkingDropped = new Set<Uuid>()
  readonly #answered = new Set<string>()
  readonly #recorded = new Set<string>()

  /** The blocks of the present view that decisions can be about. */
  readonly #results = new Map<string, { readonly block: Block; readonly address: string }>()
  readonly #media = new Map<string, PlacedMedia>()

  /** A model that does not edit caches gets results whole that another one deleted in its cache. */
  constructor({ editsCaches }: { readonly editsCaches: boolean }) {
    this.#editsCaches = editsCaches
  }

  /** Calls that a request answered synthetically; that answer stands for ever. */
  get answeredSynthetically(): ReadonlySet<string> {
    return this.#answered
  }

  isRecorded(repair: Repair): boolean {
    return this.#recorded.has(repairKey(repair))
  }

  isWithoutThinking(message: Message): boolean {
    return this.#thinkingDropped.has(message.uuid)
  }

  /** Whether the model no longer sees a result: cleared here, or deleted in its cache. */
  isCleared(toolUseId: string): boolean {
    return this.#cleared.has(toolUseId) || (this.#editsCaches && this.#deleted.has(toolUseId))
  }

  isDeletedInCache(toolUseId: string): boolean {
    return this.#deleted.has(toolUseId)
  }

  isClearedMemory(uuid: Uuid): boolean {
    return this.#clearedMemories.has(uuid)
  }

  /** By the decision that deleted them inside the cache. */
  get cacheEdits(): ReadonlyMap<Uuid, readonly string[]> {
    return this.#edits
  }

  /** Whether nothing was decided about a result yet. */
  isUndecided(toolUseId: string): boolean {
    const decided = [this.#persisted, this.#empty, this.#sent]
    return !decided.some((ids) => ids.has(toolUseId)) && !this.isCleared(toolUseId)
  }

  /** Where the result that is shown for a call stands. */
  resultAddress(toolUseId: string): string | undefined {
    return this.#results.get(toolUseId)?.address
  }

  /** Images and documents that are sent unless they are withheld. */
  get media(): readonly MediaItem[] {
    return [...this.#media.values()].filter(({ block }) => !this.#isPutAway(block)).map(({ item }) => item)
  }

  get withheldAddresses(): ReadonlySet<string> {
    return new Set(this.#withheld.keys())
  }

  /** Makes the blocks of a message known. Their identity is their name from here on. */
  place(message: Message): void {
    if ((message.type !== "user" && message.type !== "assistant") || !isSentToModel(message)) return
    const blocks = toBlocks(message.message.content)
    blocks.forEach((block, at) => {
      // of several results for one call the first is shown
      if (!isToolResult(block) || this.#results.has(block.tool_use_id)) return
      this.#results.set(block.tool_use_id, { block, address: `${message.uuid}.${at}` })
    })
    for (const item of mediaIn(message)) {
      const [at, inner] = item.address
        .slice(message.uuid.length + 1)
        .split(".")
        .map(Number)
      this.#media.set(item.address, { block: blocks[at!]!, item, inner })
    }
  }

  /** The blocks are placed anew; what was decided about them stays. */
  forgetPlaces(): void {
    this.#results.clear()
    this.#media.clear()
  }

  /** The blocks of the present view that a decision is about. */
  touchedBy(decision: DecisionEntry): readonly Block[] {
    switch (decision.subtype) {
      case "tool-results-cleared":
        return decision.toolUseIds.flatMap((id) => this.#results.get(id)?.block ?? [])
      case "cache-edits-dropped":
        return [...this.#deleted].flatMap((id) => this.#results.get(id)?.block ?? [])
      case "tool-result-persisted":
      case "tool-result-empty":
        return [this.#results.get(decision.toolUseId)?.block ?? []].flat()
      case "media-withheld":
        return decision.blocks.flatMap(({ address }) => this.#media.get(address)?.block ?? [])
      default:
        return []
    }
  }

  /** `present` are the messages a decision about all of them covers. */
  decide(decision: DecisionEntry, present: readonly Message[]): void {
    if (decision.subtype === "tool-results-cleared") {
      if (decision.why === "cache-edit") this.#editCache(decision.uuid, decision.toolUseIds)
      else for (const id of decision.toolUseIds) this.#cleared.add(id)
      for (const uuid of decision.attachments ?? []) this.#clearedMemories.add(uuid)
    } else if (decision.subtype === "cache-edits-dropped") this.#dropEdits()
    else if (decision.subtype === "tool-result-persisted") this.#persisted.set(decision.toolUseId, decision)
    else if (decision.subtype === "tool-result-empty") this.#empty.set(decision.toolUseId, decision)
    else if (decision.subtype === "tool-results-sent") for (const id of decision.toolUseIds) this.#sent.add(id)
    else if (decision.subtype === "media-withheld")
      for (const { address, why } of decision.blocks) this.#withheld.set(address, why)
    else if (decision.subtype === "thinking-dropped") for (const { uuid } of present) this.#thinkingDropped.add(uuid)
    else if (decision.subtype === "repaired") {
      for (const repair of decision.repairs) {
        this.#recorded.add(repairKey(repair))
        if (repair.rule === "unanswered-tool-use") this.#answered.add(repair.id)
        // what a request left out must not come back: thinking is bound to what stood before it
        if (repair.rule === "trailing-thinking")
          for (const uuid of piecesOf(repair.id, present)) this.#thinkingDropped.add(uuid)
      }
    }
  }

  /**
   * At a boundary another prompt begins, and with it another cache: what was deleted in the old one is cleared here. Thinking of messages
   * that are kept, among which that changes something, is no longer sent, as it may be bound to what they were.
   */
  settleCacheEdits(kept: readonly Message[]): void {
    const deleted = this.#deleted
    this.#dropEdits()
    for (const id of deleted) this.#cleared.add(id)
    const holdsOne = (message: Message) =>
      message.type === "user" &&
      contentOf(message).some((block) => isToolResult(block) && deleted.has(block.tool_use_id))
    if (kept.some(holdsOne)) for (const { uuid } of kept) this.#thinkingDropped.add(uuid)
  }

  /**
   * What was decided about calls that a boundary leaves behind, and mended: some models give the same ids again once they no longer see
   * the old ones, and a new call or result must not be taken for an old one.
   */
  forgetCallsBut(kept: readonly Message[]): void {
    const names = new Set(kept.flatMap(namesIn))
    for (const decided of [this.#cleared, this.#persisted, this.#empty, this.#sent, this.#answered])
      for (const id of decided.keys()) if (!names.has(id)) decided.delete(id)
    for (const key of this.#recorded) if (!names.has(repairedId(key))) this.#recorded.delete(key)
  }

  /** The block as the model sees it: without what the server has deleted from its copy. */
  see(block: Block): Block {
    if (!isToolResult(block) || !this.#editsCaches || !this.#deleted.has(block.tool_use_id)) return this.show(block)
    const place = this.#results.get(block.tool_use_id)
    return place?.block === block ? renderCleared(block, place.address) : this.show(block)
  }

  /** The block as it is sent. */
  show(block: Block): Block {
    if (isToolResult(block)) {
      const id = block.tool_use_id
      const place = this.#results.get(id)
      const persisted = this.#persisted.get(id)
      const empty = this.#empty.get(id)
      if (place?.block === block && this.#cleared.has(id)) return renderCleared(block, place.address)
      if (place?.block === block && persisted) return renderPersisted(block, persisted, place.address)
      if (place?.block === block && empty) return renderEmpty(block, empty)
    }
    let shown = block
    for (const [address, why] of this.#withheld) {
      const media = this.#media.get(address)
      if (media?.block === block) shown = replaceMedia(shown, media.inner, withheldStub(media.item, why))
    }
    return shown
  }

  #editCache(decision: Uuid, toolUseIds: readonly string[]): void {
    this.#edits.set(decision, toolUseIds)
    this.#deleted = new Set([...this.#deleted, ...toolUseIds])
  }

  #dropEdits(): void {
    this.#edits.clear()
    this.#deleted = new Set()
  }

  /** Whether a tool result is shown without its content. */
  #isPutAway(block: Block): boolean {
    if (!isToolResult(block)) return false
    const id = block.tool_use_id
    return this.#results.get(id)?.block === block && (this.#cleared.has(id) || this.#persisted.has(id))
  }

  save(): SavedOverlay {
    return {
      cleared: [...this.#cleared],
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

  static restore(saved: SavedOverlay, options: { readonly editsCaches: boolean }): Overlay {
    const overlay = new Overlay(options)
    for (const id of saved.cleared) overlay.#cleared.add(id)
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

const piecesOf = (apiId: string, messages: readonly Message[]): readonly Uuid[] =>
  messages.flatMap((message) => (message.type === "assistant" && message.message.id === apiId ? message.uuid : []))

/** Whatever decisions and repairs may call a message or something in it by. */
function namesIn(message: Message): readonly string[] {
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
