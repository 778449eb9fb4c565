/**
 * How a journal is loaded into the views. Resuming reads from the last boundary on, with the checkpoint taken there. If a rewind or an
 * undo makes the path bypass that boundary, everything is read.
 */

import { type Entry, isBoundaryEntry, isDecision, isMessage } from "../journal/entries.ts"
import type { Journal, ResumeData } from "../journal/store.ts"
import { isBoundary, type Uuid } from "../messages/messages.ts"
import { usable } from "../messages/usable.ts"
import { foldLine, withoutUsage } from "./context/rendered-messages.ts"
import { isOnPath, ParentLinks, type PathLookup } from "./path.ts"
import { isCheckpointAt, readCheckpoint, type ViewOptions, Views } from "./views.ts"

export interface LoadedViews {
  readonly views: Views
  /** What was read: the tail from the last boundary on, or the entire journal. */
  readonly read: "tail" | "all"
}

/** `resumed`: what opening the journal returned. Valid only as long as nothing was appended. */
export async function loadViews(journal: Journal, options: ViewOptions, resumed?: ResumeData): Promise<LoadedViews> {
  const fromTail = await loadTail(journal, options, resumed)
  return fromTail ? { views: fromTail, read: "tail" } : { views: await loadAll(journal, options), read: "all" }
}

/**
 * Input of the views: the entries from the last boundary on, the checkpoint taken there, and the messages that the compaction
 * preserved.
 */
export interface JournalTail {
  readonly entries: readonly Entry[]
  /** As stored in the journal. Absent if the tail is the entire journal. */
  readonly checkpoint?: unknown
  readonly kept: readonly Entry[]
}

async function loadTail(
  journal: Journal,
  options: ViewOptions,
  resumed: ResumeData | undefined,
): Promise<Views | undefined> {
  const tail = await readTail(journal, resumed)
  return tail && buildViews(tail, options)
}

/** Reads the tail. Resuming reads nothing before the last boundary, because the checkpoint has the state of the views there. */
export async function readTail(
  journal: Journal,
  resumed?: ResumeData,
): Promise<(JournalTail & { readonly places: PathLookup }) | undefined> {
  const {
    tail: { entries, start },
    checkpoint,
  } = resumed ?? (await journal.resume())
  const places = lookUpPositions(entries)
  const first = entries[0]
  if (first === undefined || !isBoundaryEntry(first)) return start === 0 ? { entries, places, kept: [] } : undefined
  if (places(first) !== "on-path") return undefined // the conversation went back to before this boundary
  if (!isCheckpointAt(checkpoint, first.uuid)) return undefined
  const boundary = usable(first)
  const uuids = isBoundary(boundary) ? boundary.compactMetadata?.preservedMessages?.uuids : undefined
  const kept = uuids?.length ? await journal.findMany(uuids) : []
  return { entries, places, checkpoint, kept }
}

/** Looks up whether each entry of a tail is on the path. */
function lookUpPositions(entries: readonly Entry[]): PathLookup {
  const links = new ParentLinks()
  for (const entry of entries) links.add(entry)
  const first = entries[0]
  return links.placesOn(links.path({ stopAt: first && isBoundaryEntry(first) ? first.uuid : undefined }))
}

/** Builds views synchronously, without reading anything. */
export function buildViews(
  { entries, kept, checkpoint, places = lookUpPositions(entries) }: JournalTail & { readonly places?: PathLookup },
  options: ViewOptions,
): Views {
  const views = new Views(options, checkpoint === undefined ? undefined : readCheckpoint(checkpoint))
  for (const entry of kept)
    if (isMessage(entry)) views.context.apply(withoutAccountedFields(usable(entry)))
    else if (entry.subtype === "folded") views.context.apply(foldLine(entry))
  const [first] = entries
  const isAfterCheckpoint = checkpoint !== undefined && first !== undefined
  if (isAfterCheckpoint) views.context.apply(first) // all other views included it in the checkpoint
  for (const entry of isAfterCheckpoint ? entries.slice(1) : entries) views.apply(entry, places(entry))
  return views
}

async function loadAll(journal: Journal, options: ViewOptions): Promise<Views> {
  const links = await readLinks(journal)
  const places = links.placesOn(links.path())
  return replay(journal, options, {
    places,
    async onApplied(entry, views) {
      if (entry.uuid === links.lastBoundary && places(entry) === "on-path")
        await journal.writeCheckpoint(views.checkpoint(entry.uuid)).catch(() => undefined)
    },
  })
}

async function readLinks(journal: Journal): Promise<ParentLinks> {
  const links = new ParentLinks()
  for await (const entry of journal.entries()) links.add(entry)
  return links
}

interface ReplayOptions {
  readonly places: PathLookup
  readonly onApplied?: (entry: Entry, views: Views) => Promise<void>
}

/** Applies every entry of the journal to new views. */
async function replay(journal: Journal, options: ViewOptions, { places, onApplied }: ReplayOptions): Promise<Views> {
  const views = new Views(options)
  /** Compactions that were in force at this position, even if they were undone later. */
  const inForce = new Set<Uuid>()
  for await (const entry of journal.entries()) {
    const place = places(entry)
    if (place === "undone" && isBoundaryEntry(entry)) inForce.add(entry.uuid)
    if (isDecision(entry) && entry.subtype === "undone") inForce.delete(entry.decision)
    if (place === "on-path" && inForce.size > 0 && isMessage(entry)) {
      // the API counted a request that started with a summary, not the complete context
      views.context.apply(withoutUsage(entry))
      views.applyStates(entry, place)
    } else views.apply(entry, place)
    await onApplied?.(entry, views)
  }
  return views
}

/** What to undo: compactions by their boundaries, oldest first, or a decision by the message at which it was made. */
export interface UndoScope {
  readonly boundaries: readonly Uuid[]
  readonly at: Uuid | null
  /** Whether later messages stay. */
  readonly keepLater: boolean
}

export interface UndoneViews {
  /** The views after the undo. */
  readonly views: Views
  /** The later messages, which stay or are dropped. */
  readonly later: ReadonlySet<Uuid>
  readonly keepsLater: boolean
  /** How many of them were written by the user, the model or the tools. */
  readonly laterMessages: number
  /** The newest message before the compaction. */
  readonly before: Uuid | undefined
}

/** Loads the views as they would be after an undo. Nothing is written. */
export async function loadUndone(journal: Journal, options: ViewOptions, undoing: UndoScope): Promise<UndoneViews> {
  const links = await readLinks(journal)
  const { boundaries, at } = undoing
  const compaction = boundaries[0] === undefined ? undefined : links.compaction(boundaries[0])
  const before = compaction ? compaction.before : (at ?? undefined)
  const written = new Set(boundaries.flatMap((boundary) => [...(links.compaction(boundary)?.entries ?? [])]))
  const later = new Set<Uuid>()
  for (const uuid of links.path({ stopAt: before })) if (uuid !== before && !written.has(uuid)) later.add(uuid)
  // without later messages, the path ends before the compaction
  const keepsLater = (undoing.keepLater && later.size > 0) || before === undefined
  const path = links.path(keepsLater ? {} : { from: before })
  let laterMessages = 0
  const views = await replay(journal, options, {
    places: links.placesOn(path, boundaries),
    async onApplied({ uuid, type }) {
      if (later.has(uuid) && (type === "user" || type === "assistant")) laterMessages++
    },
  })
  return { views, later, keepsLater, laterMessages, before }
}

const COPY_BATCH = 1_000 // entries

/** Copies the path to a message, with its decisions, into another journal. */
export async function copyPath(from: Journal, to: Journal, uuid: string): Promise<void> {
  const path = (await readLinks(from)).path({ from: uuid })
  let batch: Entry[] = []
  for await (const entry of from.entries()) {
    if (!isOnPath(entry, path)) continue
    batch.push(entry)
    if (batch.length < COPY_BATCH) continue
    await to.append(batch)
    batch = []
  }
  await to.append(batch)
}

/** Drops usage and the queued flag of a message in the tail, because the checkpoint already accounts for both. */
function withoutAccountedFields(entry: Entry): Entry {
  if (entry.type === "user") return { ...entry, isQueued: false }
  if (entry.type !== "assistant") return entry
  const { usage: _, ...message } = entry.message
  return { ...entry, message }
}
