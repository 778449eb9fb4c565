/**
 * Undoes a compaction, or a manual clearing, folding or snipping. The journal keeps everything. An `undone` decision states what no longer
 * applies. It is placed where the decision was made, so that a rewind or branch includes both or neither.  Content that was cleared before
 * a compaction remains cleared after its undo, as it was in the request before.
 */
import { NothingToUndoError } from "../base/errors.ts"
import type { Entry, EntryDraft, UndoneBy } from "../journal/entries.ts"
import { isThinking } from "../messages/blocks.ts"
import { contentOf, type Uuid } from "../messages/messages.ts"
import { loadUndone, type UndoneViews } from "../views/load.ts"
import type { Undoable, UndoableKind } from "../views/record/decisions.ts"
import type { Views } from "../views/views.ts"
import type { Engine } from "./engine.ts"

/** The decision to undo. Default: the newest one that can be undone. */
export interface UndoRequest {
  /** Whether later messages are preserved. Default: true. */
  readonly keepLater?: boolean
  /** Boundary of a compaction. Newer compactions contain its summary, so they are undone too. Default: the newest decision. */
  readonly compaction?: Uuid
  /** Uuid of any decision that can be undone. */
  readonly decision?: Uuid
  /** Whether to only report what would happen. */
  readonly dryRun?: boolean
  /** Where the user requested it, for the journal. */
  readonly by?: UndoneBy
}

/** What was undone, or would be undone. */
export interface UndoReport {
  readonly kind: UndoableKind
  /** Undone decisions, newest first. A compaction is identified by its boundary. */
  readonly undone: readonly Uuid[]
  /** Later messages, without attachments. */
  readonly later: { readonly messages: number; readonly kept: boolean }
  readonly tokensBefore: number
  readonly tokensAfter: number
}

export async function undo(engine: Engine, request: UndoRequest): Promise<UndoReport> {
  if (request.dryRun) return (await planUndo(engine, request)).report
  const { record, preparer, prompt, layers } = engine
  const { title } = record.views.context.session ?? {}
  const report = await applyUndo(engine, request)
  preparer.forgetUndecided()
  if (report.kind === "compaction") {
    prompt.forgetBoundary()
    layers.compactionUndone()
  } else prompt.compareAgain()
  const facts = record.session.afterUndo(record.views.context, title)
  if (facts) await record.append([facts])
  return report
}

async function applyUndo(engine: Engine, request: UndoRequest): Promise<UndoReport> {
  let report: UndoReport | undefined
  await engine.record.change(async () => {
    const change = await planUndo(engine, request)
    report = change.report
    return change
  })
  return report!
}

interface UndoChange {
  readonly entries: readonly Entry[]
  /** Views that already contain the entries. */
  readonly views: Views
  readonly report: UndoReport
}

async function planUndo(engine: Engine, { keepLater = true, by, ...wanted }: UndoRequest): Promise<UndoChange> {
  const { record } = engine
  const targets = targetsOf(record.views.undoable.list, wanted)
  const newest = targets.at(-1)!
  const isCompaction = newest.kind === "compaction"
  const loaded = await loadUndone(record.journal, record.viewOptions, {
    boundaries: isCompaction ? targets.map(({ uuid }) => uuid) : [],
    at: newest.at,
    keepLater,
  })
  const entries = entriesFor(engine, targets, { ...loaded, by })
  const tokensBefore = record.views.context.size().tokens
  for (const entry of entries) loaded.views.apply(entry)
  return {
    entries,
    views: loaded.views,
    report: {
      kind: newest.kind,
      undone: targets.flatMap(({ uuid, joined = [] }) => [uuid, ...joined]).toReversed(),
      later: { messages: loaded.laterMessages, kept: loaded.keepsLater },
      tokensBefore,
      tokensAfter: loaded.views.context.size().tokens,
    },
  }
}

interface UndoInput extends UndoneViews {
  readonly by: UndoneBy | undefined
}

/** The decisions to undo. For a compaction: it and all newer ones, oldest first. */
function targetsOf(list: readonly Undoable[], { compaction, decision }: UndoRequest): readonly Undoable[] {
  const named = compaction ?? decision
  const at =
    named === undefined
      ? list.length - 1
      : list.findIndex(({ uuid, joined }) => uuid === named || joined?.includes(named))
  const target = list[at]
  if (!target || (compaction !== undefined && target.kind !== "compaction")) throw new NothingToUndoError(named)
  if (target.kind === "compaction") return list.slice(at).filter(({ kind }) => kind === "compaction")
  // a decision before a compaction has no effect until that compaction is undone
  if (list.slice(at + 1).some(({ kind }) => kind === "compaction")) throw new NothingToUndoError(named)
  return [target]
}

function entriesFor({ record, model }: Engine, targets: readonly Undoable[], undoing: UndoInput): readonly Entry[] {
  const { views, later, keepsLater, before, by } = undoing
  const who = by === undefined ? {} : { by }
  const tokens = views.context.size().tokens
  const entries: Entry[] = []
  const place = (draft: EntryDraft, at: Uuid | null) => entries.push(record.place(draft, at))
  if (!keepsLater && before !== undefined && record.views.context.newest?.uuid !== before)
    place({ type: "strata", subtype: "rewound" }, before)
  for (const { kind, uuid, at, companions, joined = [] } of targets.toReversed()) {
    const anchor = keepsLater ? at : (before ?? null)
    for (const decision of [...companions, ...joined].toReversed())
      place({ type: "strata", subtype: "undone", decision, ...who }, anchor)
    const size = kind === "compaction" ? { tokens } : {}
    place({ type: "strata", subtype: "undone", decision: uuid, ...size, ...who }, anchor)
  }
  // thinking is bound to everything before it, so that of later messages is dropped
  const lost = model.facts.accepts.boundThinking && keepsLater ? thinkingIn(views, later) : []
  if (lost.length > 0)
    place(
      { type: "strata", subtype: "thinking-dropped", why: "something before it was undone", inMessages: lost },
      targets[0]!.at,
    )
  return entries
}

function thinkingIn({ context }: Views, messages: ReadonlySet<Uuid>): readonly Uuid[] {
  return context
    .storedMessages()
    .flatMap((message) =>
      messages.has(message.uuid) && message.type === "assistant" && contentOf(message).some(isThinking)
        ? message.uuid
        : [],
    )
}
