/**
 * Relinks entries across lines that cannot be read. Entries come out in the order they were written. If an entry's parent is lost, the
 * message before the gap becomes its parent. So a lost line affects only itself, and views need not handle gaps. The same bytes always
 * give the same entries.
 */

import { damagedId, uuidKey } from "../base/text.ts"
import { BOUNDARY_LINE, type Uuid } from "../messages/messages.ts"
import {
  type BoundaryEntry,
  type DecisionEntry,
  type DecisionOf,
  type Entry,
  isBoundaryEntry,
  isDecision,
  isMessage,
} from "./entries.ts"
import type { LostLine } from "./line.ts"

interface Gap {
  readonly lost: LostLine
  /** Entries after the lost line, held back until it is clear whether that line was a boundary. */
  readonly followers: Entry[]
}

export class ParentRelinker {
  readonly #isFromStart: boolean
  readonly #known = new Set<Uuid>()
  /** The message before each lost line, by the key of its uuid. */
  readonly #before = new Map<string, Uuid | null>()
  /** The same for the newest lost line whose uuid is uncertain. */
  #beforeUnnamed: { readonly parent: Uuid | null } | undefined
  #head: Uuid | null = null
  #held: Gap | undefined
  /** A compaction whose last entry has not been read yet. `lost` is a lost line that may have been that entry. */
  #compaction: { readonly boundary: BoundaryEntry; hasSummary: boolean; lost?: LostLine } | undefined
  #bridged = 0
  #restored = 0
  #isUnanswered = false

  /** `isFromStart`: every line is passed in, from the first. Only then is an unknown parent certainly lost. */
  constructor({ isFromStart }: { readonly isFromStart: boolean }) {
    this.#isFromStart = isFromStart
  }

  /** Number of entries that got another parent. */
  get bridged(): number {
    return this.#bridged
  }

  /** Number of boundaries and ends of compactions that were rebuilt from the lines around them. */
  get restored(): number {
    return this.#restored
  }

  /** Whether a line was lost after the last `thinking-dropped`. Later thinking may be bound to missing content. */
  get isUnanswered(): boolean {
    return this.#isUnanswered
  }

  take(entry: Entry): readonly Entry[] {
    if (!this.#held) return this.#place(entry)
    const { followers } = this.#held
    followers.push(entry)
    return isPartOfCompaction(entry) ? [] : this.#settle()
  }

  lose(lost: LostLine): readonly Entry[] {
    const settled = this.#settle()
    this.#isUnanswered = true
    if (this.#compaction?.hasSummary && mayBeDecision(lost)) this.#compaction.lost = lost
    if (mayBeBoundary(lost)) this.#held = { lost, followers: [] }
    else this.#note(lost)
    return settled
  }

  /** Returns the entries that were held back. Call it after the last line. */
  end(): readonly Entry[] {
    return [...this.#settle(), ...this.#endCompaction()]
  }

  #settle(): readonly Entry[] {
    if (!this.#held) return []
    const { lost, followers } = this.#held
    this.#held = undefined
    const boundary = this.#boundaryFrom(lost, followers)
    if (!boundary) this.#note(lost)
    else this.#restored++
    return [...(boundary ? [boundary] : []), ...followers].flatMap((entry) => this.#place(entry))
  }

  #note(lost: LostLine): void {
    const parent = this.#parentOf(lost)
    if (lost.key !== undefined) this.#before.set(lost.key, parent)
    else {
      if (lost.front) this.#before.set(hexKey(lost.front.uuid), parent)
      this.#beforeUnnamed = { parent }
    }
  }

  /** The parent named by the damaged line, if that is a message that was read. */
  #parentOf({ front }: LostLine): Uuid | null {
    return front && front.parentUuid !== null && this.#known.has(front.parentUuid) ? front.parentUuid : this.#head
  }

  #place(given: Entry): readonly Entry[] {
    const entry = this.#bridge(given)
    const ended = this.#followCompaction(entry)
    this.#known.add(entry.uuid)
    if (!isDecision(entry)) {
      if (!entry.isSidechain) this.#head = entry.uuid
    } else if (entry.subtype === "rewound") this.#head = entry.parentUuid
    else if (entry.subtype === "thinking-dropped") this.#isUnanswered = false
    return [...ended, entry]
  }

  #followCompaction(entry: Entry): readonly Entry[] {
    if (isBoundaryEntry(entry)) {
      const ended = this.#endCompaction()
      this.#compaction = { boundary: entry, hasSummary: false }
      return ended
    }
    if (!this.#compaction) return []
    if (isSummary(entry)) this.#compaction.hasSummary = true
    if (isPartOfCompaction(entry)) return []
    if (isCompacted(entry)) this.#compaction = undefined
    return this.#endCompaction()
  }

  /** A compaction without its last entry counts as unfinished. If that entry is only damaged, it is rebuilt from the boundary. */
  #endCompaction(): readonly Entry[] {
    const { boundary, lost } = this.#compaction ?? {}
    this.#compaction = undefined
    const metadata = boundary?.compactMetadata
    if (!lost || metadata?.toolsDiscovered === undefined) return []
    this.#restored++
    const { trigger, preTokens, postTokens, preservedMessages } = metadata
    const compacted: DecisionEntry = {
      type: "strata",
      subtype: "compacted",
      uuid: damagedId(lost.offset),
      parentUuid: this.#head,
      timestamp: boundary!.timestamp,
      boundary: boundary!.uuid,
      kept: preservedMessages?.uuids ?? [],
      trigger,
      route: "unknown",
      tokensBefore: preTokens,
      tokensAfter: typeof postTokens === "number" ? postTokens : 0,
      threshold: 0,
    }
    return [compacted]
  }

  #bridge(entry: Entry): Entry {
    const field = isBoundaryEntry(entry) && entry.logicalParentUuid ? "logicalParentUuid" : "parentUuid"
    const parent = (entry as { readonly [K in typeof field]?: Uuid | null })[field]
    if (parent == null || this.#known.has(parent)) return entry
    const found = this.#acrossGap(parent, entry)
    if (found === undefined) return entry
    this.#bridged++
    return { ...entry, [field]: found }
  }

  #acrossGap(parent: Uuid, entry: Entry): Uuid | null | undefined {
    const before = this.#before.size === 0 ? undefined : this.#before.get(hexKey(parent))
    if (before !== undefined) return before
    if (!this.#isFromStart || (isMessage(entry) && entry.isSidechain)) return undefined
    return this.#beforeUnnamed ? this.#beforeUnnamed.parent : this.#head
  }

  /** Rebuilds a lost boundary: the lines after it repeat its uuid and the preserved messages. */
  #boundaryFrom(lost: LostLine, after: readonly Entry[]): BoundaryEntry | undefined {
    const [first] = after
    const summary = after.find((entry) => isSummary(entry))
    const compacted = after.find(isCompacted)
    const uuid = compacted?.boundary ?? (lost.kind === "boundary" || summary ? first?.parentUuid : undefined)
    if (first === undefined || uuid == null || this.#known.has(uuid)) return undefined
    if (!compacted && summary?.parentUuid !== uuid && lost.key !== hexKey(uuid)) return undefined
    const uuids = compacted?.kept ?? lost.preserved ?? []
    const anchorUuid = lost.anchorsItself ? uuid : summary?.uuid
    return {
      ...BOUNDARY_LINE,
      uuid,
      parentUuid: null,
      logicalParentUuid: this.#parentOf(lost),
      timestamp: first.timestamp,
      compactMetadata: {
        trigger: compacted?.trigger ?? "auto",
        preTokens: compacted?.tokensBefore ?? 0,
        ...(compacted ? { postTokens: compacted.tokensAfter, toolsDiscovered: [] } : {}),
        ...(uuids.length > 0
          ? { preservedMessages: { ...(anchorUuid === undefined ? {} : { anchorUuid }), uuids } }
          : {}),
      },
    } as BoundaryEntry
  }
}

const hexKey = (uuid: Uuid): string => uuidKey(uuid).toString("hex")

/** Types that a damaged front still identifies: one changed letter turns none of them into another. */
const MESSAGES = new Set(["user", "assistant", "attachment"])

/** The index knows the kind of a line. Without it, the front may show it. If that is unreadable too, the lines after it decide. */
function mayBeBoundary({ kind, front }: LostLine): boolean {
  if (kind !== undefined) return kind === "boundary"
  return front === undefined || (front.type !== "strata" && !MESSAGES.has(front.type))
}

/** The index does not distinguish messages from decisions. */
const mayBeDecision = ({ kind, front }: LostLine): boolean =>
  kind !== "boundary" && (front === undefined || (front.type !== "system" && !MESSAGES.has(front.type)))

const isSummary = (entry: Entry): boolean => entry.type === "user" && entry.isCompactSummary === true

const isCompacted = (entry: Entry): entry is DecisionEntry & DecisionOf<"compacted"> =>
  isDecision(entry) && entry.subtype === "compacted"

/** Decisions that a compaction writes before its last one. */
const PARTS: ReadonlySet<string> = new Set(["session", "thinking-dropped", "tool-results-shortened"])

/** Whether an entry belongs between a boundary and the `compacted` decision that ends the batch. */
export function isPartOfCompaction(entry: Entry): boolean {
  if (isDecision(entry)) return PARTS.has(entry.subtype)
  return entry.type === "attachment" || isSummary(entry)
}
