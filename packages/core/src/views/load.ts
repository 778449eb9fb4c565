/**
 * How a journal is loaded into the views. Resuming reads from a boundary on, with the checkpoint taken there: the last boundary, or an
 * earlier one if a process died before it wrote the last checkpoint. Without a checkpoint on the path everything is read, except by the
 * slow states, which read it in the background.
 */

import { type Entry, isBoundaryEntry, isDecision, isMessage } from "../journal/entries.ts"
import type { Journal, ResumeData } from "../journal/store.ts"
import { isBoundary, type Uuid } from "../messages/messages.ts"
import { usable } from "../messages/usable.ts"
import { foldLine, withoutUsage } from "./context/rendered-messages.ts"
import { isOnPath, ParentLinks, type PathLookup, StraightPath } from "./path.ts"
import { boundaryOf, hasSlowStates, readCheckpoint, type UnreadPast, type ViewOptions, Views } from "./views.ts"

export interface LoadedViews {
  readonly views: Views
  /** What was read: the tail from the last boundary on, or the entire journal. */
  readonly read: "tail" | "all"
}

/** `resumed`: what opening the journal returned. Valid only as long as nothing was appended. */
export async function loadViews(journal: Journal, options: ViewOptions, resumed?: ResumeData): Promise<LoadedViews> {
  const data = resumed ?? (await journal.resume())
  const fromTail = await loadTail(journal, options, data)
  if (fromTail) return { views: fromTail, read: "tail" }
  const views = (await loadStraight(journal, options, data)) ?? (await loadAll(journal, options))
  return { views, read: "all" }
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

async function loadTail(journal: Journal, options: ViewOptions, resumed: ResumeData): Promise<Views | undefined> {
  const tail = await readTail(journal, resumed)
  return tail && buildViews(tail, options, journal)
}

type PlacedTail = JournalTail & { readonly places: PathLookup }

/** Reads the tail. Resuming reads nothing before the checkpoint, which has the state of the views there. */
export async function readTail(journal: Journal, resumed?: ResumeData): Promise<PlacedTail | undefined> {
  const { tail, checkpoint } = resumed ?? (await journal.resume())
  const first = tail.entries[0]
  if (first === undefined || !isBoundaryEntry(first))
    return tail.start === 0 ? { entries: tail.entries, places: lookUpPositions(tail.entries), kept: [] } : undefined
  const at = boundaryOf(checkpoint)
  if (at === undefined) return undefined
  const entries = at === first.uuid ? tail.entries : await readRange(journal, at)
  const [boundary] = entries
  if (boundary === undefined || !isBoundaryEntry(boundary)) return undefined
  const places = lookUpPositions(entries)
  // the conversation went back to before this boundary, or a compaction since was undone, whose requests count differently
  if (places(boundary) !== "on-path" || leavesTail(entries)) return undefined
  if (entries.some((entry) => places(entry) === "undone")) return undefined
  const preserved = usable(boundary)
  const uuids = isBoundary(preserved) ? preserved.compactMetadata?.preservedMessages?.uuids : undefined
  const kept = uuids?.length ? await journal.findMany(uuids) : []
  return { entries, places, checkpoint, kept }
}

/** Whether the conversation once went back to before these entries. Decisions made there count, although it came back. */
function leavesTail(entries: readonly Entry[]): boolean {
  const known = new Set(entries.map(({ uuid }) => uuid))
  return entries.some(
    (entry) =>
      isDecision(entry) && entry.subtype === "rewound" && entry.parentUuid !== null && !known.has(entry.parentUuid),
  )
}

async function readRange(journal: Journal, first: Uuid): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const entry of journal.range({ first })) entries.push(entry)
  return entries
}

/** Looks up whether each entry of a tail is on the path. */
function lookUpPositions(entries: readonly Entry[]): PathLookup {
  const links = new ParentLinks()
  for (const entry of entries) links.add(entry)
  const first = entries[0]
  return links.placesOn(links.path({ stopAt: first && isBoundaryEntry(first) ? first.uuid : undefined }))
}

/** Builds views synchronously, without reading anything. The journal is read later, if the checkpoint lacks the slow states. */
export function buildViews(
  { entries, kept, checkpoint, places = lookUpPositions(entries) }: JournalTail & { readonly places?: PathLookup },
  options: ViewOptions,
  journal: Journal,
): Views {
  const views = new Views(options, checkpoint === undefined ? undefined : readCheckpoint(checkpoint))
  const until = entries[0]?.uuid
  if (checkpoint !== undefined && until !== undefined && !hasSlowStates(checkpoint))
    views.leavePast(unreadPast(journal, { until }), checkpoint)
  for (const entry of kept)
    if (isMessage(entry)) views.context.apply(withoutAccountedFields(usable(entry)))
    else if (entry.subtype === "folded") views.context.apply(foldLine(entry))
  const [first] = entries
  const isAfterCheckpoint = checkpoint !== undefined && first !== undefined
  if (isAfterCheckpoint) views.context.apply(first) // all other views included it in the checkpoint
  for (const entry of isAfterCheckpoint ? entries.slice(1) : entries) views.applyLoaded(entry, places(entry))
  return views
}

/** Reads the journal once if it has no branches, which most never have. `undefined` if it has. */
async function loadStraight(journal: Journal, options: ViewOptions, { tail }: ResumeData): Promise<Views | undefined> {
  const places = lookUpPositions(tail.entries)
  const [first, last] = [tail.entries[0], tail.entries.at(-1)]
  if (!first || !last || tail.entries.some((entry) => places(entry) !== "on-path")) return undefined
  const path = new StraightPath()
  const views = new Views(options)
  let checkpoint: unknown
  views.leavePast(unreadPast(journal, { until: last.uuid, places: () => "on-path" }))
  for await (const entry of journal.entries()) {
    if (!path.continuesWith(entry)) return undefined
    views.context.apply(entry)
    views.applyPast(entry, "on-path")
    if (entry.uuid === first.uuid) checkpoint = views.checkpoint(entry.uuid)
    if (entry.uuid === last.uuid) break // others write to the journal
  }
  if (checkpoint !== undefined) await writeCheckpoint(journal, checkpoint)
  return views
}

async function loadAll(journal: Journal, options: ViewOptions): Promise<Views> {
  const links = await readLinks(journal)
  const places = links.placesOn(links.path())
  return replay(journal, options, { places, until: links.last, checkpointAt: links.lastBoundary })
}

/** The entries up to one of them, for the slow states. `places` are read from the journal if they are not known. */
const unreadPast = (
  journal: Journal,
  { until, places }: { readonly until: Uuid | undefined; readonly places?: PathLookup },
): UnreadPast => ({
  async *entries() {
    const placeOf = places ?? (await lookUpAll(journal))
    for await (const entry of journal.entries()) {
      yield { entry, isOnPath: placeOf(entry) === "on-path" }
      if (entry.uuid === until) return
    }
  },
  writeCheckpoint: (checkpoint) => writeCheckpoint(journal, checkpoint),
})

/** A checkpoint only speeds up the next opening, so failing to write one is not an error. */
const writeCheckpoint = (journal: Journal, checkpoint: unknown): Promise<void> =>
  journal.writeCheckpoint(checkpoint).catch(() => undefined)

async function lookUpAll(journal: Journal): Promise<PathLookup> {
  const links = await readLinks(journal)
  return links.placesOn(links.path())
}

async function readLinks(journal: Journal): Promise<ParentLinks> {
  const links = new ParentLinks()
  for await (const entry of journal.entries()) links.add(entry)
  return links
}

interface ReplayOptions {
  readonly places: PathLookup
  /** The last entry. */
  readonly until: Uuid | undefined
  /** The boundary at which a checkpoint is written, if it is on the path. */
  readonly checkpointAt?: Uuid | undefined
  readonly onApplied?: (entry: Entry) => void
}

/** Applies every entry of the journal to new views, except to the slow states. */
async function replay(
  journal: Journal,
  options: ViewOptions,
  { places, until, checkpointAt, onApplied }: ReplayOptions,
): Promise<Views> {
  const views = new Views(options)
  if (until !== undefined) views.leavePast(unreadPast(journal, { until, places }))
  /** Compactions that were in force at this position, even if they were undone later. */
  const inForce = new Set<Uuid>()
  for await (const entry of journal.entries()) {
    const place = places(entry)
    if (place === "undone" && isBoundaryEntry(entry)) inForce.add(entry.uuid)
    if (isDecision(entry) && entry.subtype === "undone") inForce.delete(entry.decision)
    // the API counted a request that started with a summary, not the complete context
    if (place === "on-path") views.context.apply(inForce.size > 0 && isMessage(entry) ? withoutUsage(entry) : entry)
    views.applyPast(entry, place)
    onApplied?.(entry)
    if (entry.uuid === checkpointAt && place === "on-path") await writeCheckpoint(journal, views.checkpoint(entry.uuid))
    if (entry.uuid === until) break // others write to the journal
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
    until: links.last,
    onApplied({ uuid, type }) {
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
