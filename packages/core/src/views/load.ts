/**
 * How a journal is loaded into the views. A resume reads from the last boundary on, with the checkpoint taken there. Where the path goes
 * around that boundary, because of a rewind or an undo, everything is read.
 */

import { type Entry, isBoundaryEntry, isDecision, isMessage } from "../journal/entries.ts"
import type { Journal, ResumeData } from "../journal/store.ts"
import { isBoundary, type Uuid } from "../messages/messages.ts"
import { usable } from "../messages/usable.ts"
import { foldLine, withoutUsage } from "./context/shown.ts"
import { isOnPath, Links, type Places } from "./path.ts"
import { isCheckpointAt, readCheckpoint, type ViewOptions, Views } from "./views.ts"

export interface LoadedViews {
  readonly views: Views
  /** What was read: from the last boundary on, or the whole journal. */
  readonly read: "tail" | "all"
}

/** `resumed`: what the opening of the journal brought. Only as long as nothing was appended. */
export async function loadViews(journal: Journal, options: ViewOptions, resumed?: ResumeData): Promise<LoadedViews> {
  const fromTail = await loadTail(journal, options, resumed)
  return fromTail ? { views: fromTail, read: "tail" } : { views: await loadAll(journal, options), read: "all" }
}

/** What the views are built from: the entries from the last boundary on, the checkpoint taken there, and what that compaction kept. */
export interface Tail {
  readonly entries: readonly Entry[]
  /** As the journal has it. Absent where the tail is the whole journal. */
  readonly checkpoint?: unknown
  readonly kept: readonly Entry[]
}

async function loadTail(
  journal: Journal,
  options: ViewOptions,
  resumed: ResumeData | undefined,
): Promise<Views | undefined> {
  const tail = await readTail(journal, resumed)
  return tail && viewsOf(tail, options)
}

/** Resuming reads nothing before the last boundary. The checkpoint has what the views knew there. */
export async function readTail(
  journal: Journal,
  resumed?: ResumeData,
): Promise<(Tail & { readonly places: Places }) | undefined> {
  const {
    tail: { entries, start },
    checkpoint,
  } = resumed ?? (await journal.resume())
  const places = placesIn(entries)
  const first = entries[0]
  if (first === undefined || !isBoundaryEntry(first)) return start === 0 ? { entries, places, kept: [] } : undefined
  if (places(first) !== "on-path") return undefined // the conversation went back to before this boundary
  if (!isCheckpointAt(checkpoint, first.uuid)) return undefined
  const boundary = usable(first)
  const uuids = isBoundary(boundary) ? boundary.compactMetadata?.preservedMessages?.uuids : undefined
  const kept = uuids?.length ? await journal.findMany(uuids) : []
  return { entries, places, checkpoint, kept }
}

/** Whether each entry of a tail is on the path. */
function placesIn(entries: readonly Entry[]): Places {
  const links = new Links()
  for (const entry of entries) links.add(entry)
  const first = entries[0]
  return links.placesOn(links.path({ stopAt: first && isBoundaryEntry(first) ? first.uuid : undefined }))
}

/** Reads nothing and waits for nothing. */
export function viewsOf(
  { entries, kept, checkpoint, places = placesIn(entries) }: Tail & { readonly places?: Places },
  options: ViewOptions,
): Views {
  const views = new Views(options, checkpoint === undefined ? undefined : readCheckpoint(checkpoint))
  for (const entry of kept)
    if (isMessage(entry)) views.context.apply(asKept(usable(entry)))
    else if (entry.subtype === "folded") views.context.apply(foldLine(entry))
  const [first] = entries
  const isAfterCheckpoint = checkpoint !== undefined && first !== undefined
  if (isAfterCheckpoint) views.context.apply(first) // all other views knew it at the checkpoint
  for (const entry of isAfterCheckpoint ? entries.slice(1) : entries) views.apply(entry, places(entry))
  return views
}

async function loadAll(journal: Journal, options: ViewOptions): Promise<Views> {
  const links = await linksOf(journal)
  const places = links.placesOn(links.path())
  return replay(journal, options, {
    places,
    async onApplied(entry, views) {
      if (entry.uuid === links.lastBoundary && places(entry) === "on-path")
        await journal.writeCheckpoint(views.checkpoint(entry.uuid)).catch(() => undefined)
    },
  })
}

async function linksOf(journal: Journal): Promise<Links> {
  const links = new Links()
  for await (const entry of journal.entries()) links.add(entry)
  return links
}

interface Replay {
  readonly places: Places
  readonly onApplied?: (entry: Entry, views: Views) => Promise<void>
}

/** Feeds every entry of the journal to new views. */
async function replay(journal: Journal, options: ViewOptions, { places, onApplied }: Replay): Promise<Views> {
  const views = new Views(options)
  /** Compactions that were in force at this place of the journal, though they were undone later. */
  const inForce = new Set<Uuid>()
  for await (const entry of journal.entries()) {
    const place = places(entry)
    if (place === "undone" && isBoundaryEntry(entry)) inForce.add(entry.uuid)
    if (isDecision(entry) && entry.subtype === "undone") inForce.delete(entry.decision)
    if (place === "on-path" && inForce.size > 0 && isMessage(entry)) {
      // the API counted a request that began with a summary, which says nothing about the whole
      views.context.apply(withoutUsage(entry))
      views.applyStates(entry, place)
    } else views.apply(entry, place)
    await onApplied?.(entry, views)
  }
  return views
}

/** What to undo: compactions by their boundaries, oldest first, or a decision by the message it was made at. */
export interface Undoing {
  readonly boundaries: readonly Uuid[]
  readonly at: Uuid | null
  /** Whether messages that came later stay. */
  readonly keepLater: boolean
}

export interface UndoneViews {
  /** The conversation as it would be. */
  readonly views: Views
  /** Messages that came later, and whether they stay. */
  readonly later: ReadonlySet<Uuid>
  readonly keepsLater: boolean
  /** How many of them the person, the model and the tools wrote. */
  readonly laterMessages: number
  /** The message that was the newest one before. */
  readonly before: Uuid | undefined
}

/** The views after an undo. Nothing is written. */
export async function loadUndone(journal: Journal, options: ViewOptions, undoing: Undoing): Promise<UndoneViews> {
  const links = await linksOf(journal)
  const { boundaries, at } = undoing
  const compaction = boundaries[0] === undefined ? undefined : links.compaction(boundaries[0])
  const before = compaction ? compaction.before : (at ?? undefined)
  const written = new Set(boundaries.flatMap((boundary) => [...(links.compaction(boundary)?.entries ?? [])]))
  const later = new Set<Uuid>()
  for (const uuid of links.path({ stopAt: before })) if (uuid !== before && !written.has(uuid)) later.add(uuid)
  // without later messages the path simply ends before the compaction
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
  const path = (await linksOf(from)).path({ from: uuid })
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

/** The checkpoint has learned from a kept message's usage already, and a queued one has been delivered. */
function asKept(entry: Entry): Entry {
  if (entry.type === "user") return { ...entry, isQueued: false }
  if (entry.type !== "assistant") return entry
  const { usage: _, ...message } = entry.message
  return { ...entry, message }
}
