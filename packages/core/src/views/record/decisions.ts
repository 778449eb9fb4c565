/** The undoable view: the decisions that a user can undo, oldest first. Contains only those that are still in force. */
import { type DecisionEntry, type Entry, isBoundaryEntry, isDecision, isMessage } from "../../journal/entries.ts"
import { type Block, isToolResult, isToolUse, resultBlocks, toBlocks } from "../../messages/blocks.ts"
import { contentOf, isBoundary, isSyntheticError, type Uuid } from "../../messages/messages.ts"
import { usageTotal } from "../../tokens/context-size.ts"
import { type Measure, measureBlocks } from "../../tokens/estimate.ts"
import { type LearnedLimit, limitKey } from "../../tokens/window.ts"
import type { Projection } from "../projection.ts"

/** A kind of decision that can be undone. */
export type UndoableKind = "compaction" | "clearing" | "images" | "fold" | "snip"

export interface Undoable {
  readonly kind: UndoableKind
  /** The decision. For a compaction: its boundary. */
  readonly uuid: Uuid
  readonly timestamp: string
  /** The newest message at the time of the decision. A compaction is anchored at its own boundary. */
  readonly at: Uuid | null
  /** Decisions that were made together with it and are undone with it. */
  readonly companions: readonly Uuid[]
  /** Folds that were made together with it. An undo reverts all of them; each can also be opened alone. */
  readonly joined?: readonly Uuid[]
}

export interface UndoableDecisions {
  readonly list: Undoable[]
  /** The newest decision, if the next one may belong to it. `leads`: it comes first, and the next one is the one to undo. */
  before?: { readonly uuid: Uuid; readonly parentUuid: Uuid | null; readonly leads: boolean }
}

export const undoable: Projection<UndoableDecisions> = {
  name: "undoable",
  scope: "path",
  start: () => ({ list: [] }),
  apply(state, entry) {
    const { before } = state
    delete state.before
    if (isBoundaryEntry(entry)) {
      if (entry.isSidechain) return state
      const { uuid, timestamp } = entry
      state.list.push({ kind: "compaction", uuid, timestamp, at: uuid, companions: [] })
    } else if (isDecision(entry)) addDecision(state, entry, before)
    return state
  },
}

function addDecision(state: UndoableDecisions, entry: DecisionEntry, before: UndoableDecisions["before"]): void {
  const { uuid, timestamp, parentUuid } = entry
  const { list } = state
  if (entry.subtype === "undone") {
    removeUndone(list, entry.decision)
    return
  }
  if (entry.subtype === "cache-edits-dropped") state.before = { uuid, parentUuid, leads: true }
  const last = list.at(-1)
  if (entry.subtype === "folded" && entry.joined && last?.kind === "fold" && last.at === parentUuid) {
    list[list.length - 1] = { ...last, joined: [...(last.joined ?? []), uuid] }
    return
  }
  const kind = undoableKind(entry)
  if (kind !== undefined) {
    const companions = before?.leads && before.parentUuid === parentUuid ? [before.uuid] : []
    list.push({ kind, uuid, timestamp, at: parentUuid, companions })
    state.before = { uuid, parentUuid, leads: false }
    return
  }
  const isCompanion = entry.subtype === "thinking-dropped" && last !== undefined && before?.uuid === last.uuid
  if (isCompanion && last.at === parentUuid) list[list.length - 1] = { ...last, companions: [...last.companions, uuid] }
}

/** Removes an undone decision. Of folds that were made together, the remaining ones can still be undone. */
function removeUndone(list: Undoable[], decision: Uuid): void {
  const at = list.findIndex(({ uuid, joined }) => uuid === decision || joined?.includes(decision))
  const found = list[at]
  if (!found) return
  const [uuid, ...joined] = [found.uuid, ...(found.joined ?? [])].filter((each) => each !== decision)
  if (uuid === undefined) list.splice(at, 1)
  else list[at] = { ...found, uuid, joined }
}

const OWN_KINDS: ReadonlyMap<string, UndoableKind> = new Map([
  ["folded", "fold"],
  ["snipped", "snip"],
])

/** The kind of a decision by a user or the agent. Decisions that the layers make themselves cannot be undone. */
function undoableKind(entry: DecisionEntry & Entry): UndoableKind | undefined {
  if (entry.subtype === "tool-results-cleared") return entry.why === "asked" ? "clearing" : undefined
  if (entry.subtype === "media-withheld") return entry.asked ? "images" : undefined
  return OWN_KINDS.get(entry.subtype)
}

// The compactions view: number of compactions, the size after the last one, its newest summaries, and the failures since.

export interface Compactions {
  count: number
  /** Failures since the last success. Several consecutive ones stop automatic compaction. */
  failures: number
  /** Responses since the last compaction, or since the start. In a copy, since the copy was made. */
  responses: number
  /** In a copy of another conversation: its last message. Everything before was paid for there. */
  copiedThrough?: Uuid
  lastResponse?: string
  /** `tokensAfter` is absent if another program compacted. */
  last?: { readonly boundary: Uuid; readonly tokensAfter?: number }
  /** The newest summaries, oldest first, with the text around them. `route` names how Strata obtained one. */
  summaries: readonly { readonly route: string; readonly measure: Measure }[]
  /** The summary of a compaction that is not complete yet. */
  summary?: Measure
  /** Whether there was a compaction that only saved money. */
  planned?: true
  /** The size of the context when a compaction was undone, until the next one. */
  undoneAt?: number
  /** Whether the last compaction preserved messages before the summarised ones. */
  keepsOlder?: boolean
  /** How many messages of the last tail come before the summary. */
  head?: number
  /** Maps the last message that a compaction preserved to the last message that it wrote. Rewinding to either is the same. */
  readonly ends: Map<Uuid, Uuid>
}

const SUMMARIES = 4 // enough to estimate their usual size

export const compactions: Projection<Compactions> = {
  name: "compactions",
  scope: "path",
  start: () => ({ count: 0, failures: 0, responses: 0, summaries: [], ends: new Map() }),
  apply(state, entry) {
    if (isDecision(entry)) {
      if (entry.subtype === "compaction-failed") state.failures++
      if (entry.subtype === "branched") {
        state.responses = 0
        state.copiedThrough = entry.from.uuid
      }
      if (entry.subtype === "undone" && entry.tokens !== undefined) state.undoneAt = entry.tokens
      if (entry.subtype === "compacted") {
        if (entry.planned !== undefined) state.planned = true
        state.last = { boundary: entry.boundary, tokensAfter: entry.tokensAfter }
        const written = state.summary ? [{ route: entry.route, measure: state.summary }] : []
        state.summaries = [...state.summaries, ...written].slice(-SUMMARIES)
        delete state.summary
        const kept = state.keepsOlder ? undefined : entry.kept.slice(state.head ?? 0).at(-1)
        if (kept !== undefined && entry.parentUuid !== null) state.ends.set(kept, entry.parentUuid)
      }
    } else if (isBoundaryEntry(entry)) {
      state.count++
      state.failures = 0
      state.responses = 0
      state.last = { boundary: entry.uuid }
      state.head = entry.compactMetadata?.headMessages?.length ?? 0
      state.keepsOlder = entry.compactMetadata?.preservedMessages?.anchorUuid === entry.uuid
      delete state.undoneAt
      delete state.summary
    } else if (entry.type === "user" && entry.isCompactSummary) {
      state.summary = measureBlocks(contentOf(entry))
    } else if (entry.type === "assistant" && !entry.isSidechain && !isSyntheticError(entry)) {
      const id = entry.message.id ?? entry.uuid
      if (id !== state.lastResponse) state.responses++
      state.lastResponse = id
    }
    return state
  },
}

// How far the notes about a conversation reach: the last message they cover, and the size of the context when they were written. If the
// context has shrunk since, its smallest size is used, so that growth is measured from there.
// All branches share one file. The position is that of the newest notes on this branch, and `inFile` names later notes of another one.

/** Empty until there are notes. */
export interface NotesState {
  throughUuid?: Uuid
  path?: string
  /** Size of the notes. */
  tokens?: number
  contextTokens?: number
  /** Time at which they were recorded. */
  at?: string
  /** The name under which the store has this version. `kept` is its name on disk. */
  kept?: string
  /** Set if the file contains later notes from an abandoned branch. The store has them under this name, if it is known. */
  inFile?: { readonly kept?: string }
}

export const notes: Projection<NotesState> = {
  name: "notes",
  scope: "journal",
  start: () => ({}),
  apply(state, entry, onPath = true) {
    if (isDecision(entry) && entry.subtype === "notes-updated") {
      const { throughUuid, path, tokens, contextTokens, timestamp, kept } = entry
      const name = kept === undefined ? {} : { kept }
      return onPath
        ? { throughUuid, ...(path === undefined ? {} : { path }), tokens, contextTokens, at: timestamp, ...name }
        : Object.assign(state, { inFile: name })
    }
    const size = onPath ? contextSizeAt(entry) : undefined
    if (state.contextTokens !== undefined && size !== undefined && size < state.contextTokens)
      state.contextTokens = size
    return state
  },
}

/** The context size that an entry records, if it does. */
function contextSizeAt(entry: Entry): number | undefined {
  if (isDecision(entry)) return entry.subtype === "compacted" ? entry.tokensAfter : undefined
  if (entry.type !== "assistant" || entry.isSidechain || !entry.message.usage) return undefined
  return usageTotal(entry.message.usage) || undefined
}

// The block index: the address of every block, so that any content of the conversation can be recalled byte for byte. An address is
// `<message uuid>.<block>`, or `<message uuid>.<block>.<inner block>` inside a tool result. The journal's index finds the message; the
// view knows the addresses of tool calls and their results.

export interface BlockIndex {
  blocks: number
  messages: number
  /** Addresses of tool results by call id, since the last boundary. */
  readonly results: Map<string, string>
  readonly calls: Map<string, string>
}

export const blockIndex: Projection<BlockIndex> = {
  name: "archive",
  scope: "journal",
  start: () => ({ blocks: 0, messages: 0, results: new Map(), calls: new Map() }),
  apply(state, entry, onPath = true) {
    if (!isMessage(entry)) return state
    state.messages++
    if (onPath && isBoundary(entry)) {
      state.results.clear()
      state.calls.clear()
    }
    if (entry.type !== "user" && entry.type !== "assistant") return state
    contentOf(entry).forEach((block, at) => {
      state.blocks++
      if (isToolResult(block)) state.results.set(block.tool_use_id, `${entry.uuid}.${at}`)
      if (isToolUse(block)) state.calls.set(block.id, `${entry.uuid}.${at}`)
    })
    return state
  },
}

export interface BlockAddress {
  readonly uuid: string
  readonly block: number
  readonly inner?: number
}

export function parseAddress(address: string): BlockAddress | undefined {
  const match = /^([^.]+)\.(\d+)(?:\.(\d+))?$/.exec(address)
  if (!match) return undefined
  const [, uuid, block, inner] = match
  return { uuid: uuid!, block: Number(block), ...(inner === undefined ? {} : { inner: Number(inner) }) }
}

/** The block at an address inside its entry. */
export function blockAt(entry: Entry, { block, inner }: BlockAddress): Block | undefined {
  if (!isMessage(entry) || (entry.type !== "user" && entry.type !== "assistant")) return undefined
  const outer = toBlocks(entry.message.content)[block]
  if (outer === undefined || inner === undefined) return outer
  return isToolResult(outer) ? resultBlocks(outer)[inner] : undefined
}

// What a conversation has done with the memory of its project: up to which message memories were extracted, what was written, whether
// the agent wrote memories itself since, and for which messages the memory was searched.

export interface MemoryActivity {
  /** The last message covered by an extraction. Absent before the first one. */
  throughUuid?: Uuid
  /** Files written by the conversation, oldest first, each once. */
  readonly written: string[]
  /** Number of user messages at that time. Named as in checkpoints. */
  said: number
  /** Number of user messages that were searched for rules. */
  heardRules: number
  /** Number of times the agent wrote memories itself; `seenWrites`: the number at the last extraction. */
  agentWrites: number
  seenWrites: number
  /** Messages since the newest response for which the memory was searched. After a boundary it is searched again. */
  looked: Uuid[]
  /** Whether the memory for the start of a context was read since the last boundary. */
  isStarted: boolean
}

export const memories: Projection<MemoryActivity> = {
  name: "memories",
  scope: "path",
  start: () => ({ written: [], said: 0, heardRules: 0, agentWrites: 0, seenWrites: 0, looked: [], isStarted: false }),
  apply(state, entry) {
    if (isBoundaryEntry(entry)) {
      state.looked = []
      state.isStarted = false
    } else if (entry.type === "assistant") state.looked = []
    if (!isDecision(entry)) return state
    if (entry.subtype === "memory-extracted") {
      state.throughUuid = entry.throughUuid
      state.said = entry.said
      state.seenWrites = entry.agentWrites
      add(state, entry.written)
    } else if (entry.subtype === "memory-rules-kept") {
      state.heardRules = entry.said
      add(state, entry.written)
    } else if (entry.subtype === "memory-looked-up") {
      state.looked.push(...entry.about)
      state.isStarted ||= entry.start === true
    } else if (entry.subtype === "memory-written") {
      if (entry.by === "agent") state.agentWrites++
      add(state, entry.files)
    }
    return state
  },
}

function add({ written }: MemoryActivity, files: readonly string[]): void {
  for (const file of files) if (!written.includes(file)) written.push(file)
}

// The limits that refusals have revealed, by model and address. They are facts about a server, so a rewind does not revert them.

export interface StoredLimit extends LearnedLimit {
  /** Time in ISO 8601. */
  readonly learned: string
}

export type Limits = Map<string, StoredLimit>

export const limits: Projection<Limits> = {
  name: "limits",
  scope: "journal",
  start: () => new Map(),
  apply(state, entry) {
    if (!isDecision(entry)) return state
    if (entry.subtype === "limit-forgotten") state.delete(limitKey(entry))
    if (entry.subtype === "limit-learnt") {
      const { model, address, tokens, countsOutput = false, isAssumed = false, timestamp: learned } = entry
      state.set(limitKey(entry), { model, address, tokens, countsOutput, isAssumed, learned })
    }
    return state
  },
}
