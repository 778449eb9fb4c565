/**
 * States of the notes, which serve as the next summary. They are started when a compaction is foreseeable, updated while the work continues,
 * and installed by `compaction.ts` when the compaction is due. Afterwards they live on.
 *
 *     state \ event    begun      written   stopped          refused               unfit                      moved
 *     none             writing    ready     none             resting               none                       none
 *     writing          –          ready     ready or none    resting, keeps it     writing                    none
 *     ready            writing    ready     ready            resting, keeps it     ready; again: resting      none
 *     resting          writing    ready     ready or none    resting, keeps it     ready; again: resting      none
 *
 * Notes are only replaced by newer ones, and only lost if the conversation moves: after a boundary, an undo or a rewind.
 */
import type { EntryDraft as JournalDraft } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { LayerContext, LayerResult, PreparedState } from "../layer.ts"
import type { SummaryTiming } from "../planner/planner.ts"

/** Why the notes are updated: a compaction is near, much has happened since the last update, or the notes could not be installed. */
export type UpdateReason = "near" | "grown" | "unfit"
/** Why the notes are not updated for now. */
export type RestReason = "unfit-twice" | "refused" | "no-model" | "over-budget" | "failed" | "dropped"

/** Notes that could be installed. Their text is read only then, because people edit it. */
export interface ReadyNotes {
  /** Last message that the notes cover, counted from the boundary. */
  readonly through: Uuid
  readonly boundary: Uuid | undefined
  /** How often installing these notes failed. */
  readonly unfit: number
  /** Instructions of hooks that the notes follow. */
  readonly wishes?: string | undefined
}

export interface RunningUpdate {
  readonly startedAt: Date
  /** Never rejects. */
  readonly done: Promise<void>
  readonly stop: AbortController
}

export type NotesDraft =
  | { readonly state: "none" }
  | {
      readonly state: "writing"
      readonly reason: UpdateReason
      readonly work: RunningUpdate
      readonly text?: ReadyNotes
    }
  | { readonly state: "ready"; readonly text: ReadyNotes }
  | { readonly state: "resting"; readonly reason: RestReason; readonly since: number; readonly text?: ReadyNotes }

export type NotesDraftEvent =
  | { readonly is: "begun"; readonly reason: UpdateReason; readonly work: RunningUpdate }
  | { readonly is: "written"; readonly text: ReadyNotes }
  | { readonly is: "stopped" }
  /** `size`: tokens of the context. */
  | { readonly is: "refused"; readonly reason: RestReason; readonly size: number }
  | { readonly is: "unfit"; readonly size: number }
  | { readonly is: "moved" }

const MAX_UNFIT = 2 // then the conversation grows too fast, and another update would be wasted

export function nextDraft(draft: NotesDraft, event: NotesDraftEvent): NotesDraft {
  const text = draft.state === "none" ? undefined : draft.text
  const before = text ? { text } : {}
  switch (event.is) {
    case "begun":
      return { state: "writing", reason: event.reason, work: event.work, ...before }
    case "written":
      return { state: "ready", text: event.text }
    case "stopped":
      return text ? afterFailedInstall(text, 0) : NONE // it had started, so its rest was over
    case "refused":
      return { state: "resting", reason: event.reason, since: event.size, ...before }
    case "unfit":
      return !text || draft.state === "writing"
        ? draft
        : afterFailedInstall({ ...text, unfit: text.unfit + 1 }, event.size)
    case "moved":
      return NONE
  }
}

const NONE = { state: "none" } as const

const afterFailedInstall = (text: ReadyNotes, since: number): NotesDraft =>
  text.unfit < MAX_UNFIT ? { state: "ready", text } : { state: "resting", reason: "unfit-twice", since, text }

/** Writes the notes for `DraftHolder`. */
export interface NotesWriter {
  /** The newest notes in the journal. They may belong to another branch. */
  findReady(context: LayerContext): ReadyNotes | undefined
  /** Reason for an update now, or `undefined`. */
  due(context: LayerContext, asked: DueInput): UpdateReason | undefined
  /** Writes the notes. `wishes`: instructions of hooks for them. */
  write(context: LayerContext, wishes: string | undefined): Promise<NotesWriteResult>
}

export interface DueInput {
  readonly draft: NotesDraft
  readonly timing: SummaryTiming
  /** Expected duration of an update. */
  readonly seconds: number
}

/** Result of writing notes. */
export interface NotesWriteResult extends LayerResult {
  readonly text?: ReadyNotes
  readonly rest?: RestReason
}

const LAYER = { name: "session-memory" } as const
const USUAL_SECONDS = 60 // until one was measured here: recorded ones took 10 to 88
const CAUTION = 1.5 // times the time that the last one took

/** Holds the state of the notes. Layer 3 writes them, and layer 4 installs them. */
export class DraftHolder {
  readonly #writer: NotesWriter
  #draft: NotesDraft = NONE
  #seconds = USUAL_SECONDS
  /** Instructions of hooks for the next update. */
  wishes: string | undefined
  /** Cost entries since the notes were last installed. */
  #paid: readonly JournalDraft[] = []

  constructor(writer: NotesWriter) {
    this.#writer = writer
  }

  get runningUpdate(): RunningUpdate | undefined {
    return this.#draft.state === "writing" ? this.#draft.work : undefined
  }

  state(context: LayerContext): PreparedState {
    this.#look(context)
    const { state } = this.#draft
    return state === "ready" ? "ready" : state === "writing" ? "being-written" : "not-begun"
  }

  /** The notes that can be installed now. During an update these are the previous ones, because the update also counts after a boundary. */
  ready(context: LayerContext): ReadyNotes | undefined {
    this.#look(context)
    const draft = this.#draft
    if (draft.state === "ready") return draft.text
    const before = draft.state === "writing" ? draft.text : undefined
    return before && isSame(before, this.#writer.findReady(context)) ? before : undefined
  }

  /** Starts an update if one is due. */
  follow(context: LayerContext, timing: SummaryTiming): void {
    this.#look(context)
    if (this.#draft.state === "writing") return // asked again when that has ended
    const why = this.#writer.due(context, { draft: this.#draft, timing, seconds: this.#seconds })
    if (why) this.begin(context, why)
  }

  /** Starts an update in the background. Its cost and its progress are journaled together. */
  begin(context: LayerContext, reason: UpdateReason): void {
    if (this.#draft.state === "writing") return
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const work: RunningUpdate = { startedAt: context.now, done, stop: new AbortController() }
    const { wishes } = this
    const end = (event: NotesDraftEvent) => {
      if (this.runningUpdate === work) this.#draft = nextDraft(this.#draft, event)
      resolve()
    }
    this.#draft = nextDraft(this.#draft, { is: "begun", reason, work })
    context.runInBackground(LAYER, async (now) => {
      try {
        const signal = AbortSignal.any([now.signal, work.stop.signal])
        const { text, rest, ...outcome } = await this.#writer.write({ ...now, signal }, wishes)
        const event = work.stop.signal.aborted ? STOPPED : eventOf(text && { ...text, wishes }, rest, now)
        if (outcome.drafts.length === 0) end(event)
        return {
          ...outcome,
          journaled: async (later) => {
            this.#paid = [...this.#paid, ...outcome.drafts.filter(isCostEntry)]
            end(event)
            if (event.is !== "written") return
            const seconds = (later.now.getTime() - work.startedAt.getTime()) / 1_000
            if (seconds > 0) this.#seconds = seconds * CAUTION
            this.follow(later, "working") // it may have become due again meanwhile
          },
          lost: () => end(STOPPED),
        }
      } catch (error) {
        const isOnPurpose = work.stop.signal.aborted || now.signal.aborted
        end(isOnPurpose ? STOPPED : { is: "refused", reason: "failed", size: now.size.tokens })
        if (isOnPurpose) return undefined
        throw error
      }
    })
  }

  /** Records that the notes could not be installed: an update comes first. */
  markUnfit({ size }: LayerContext): void {
    this.#draft = nextDraft(this.#draft, { is: "unfit", size: size.tokens })
  }

  /** Returns and resets the cost since the notes were last installed. */
  takeCosts(): readonly JournalDraft[] {
    const paid = this.#paid
    this.#paid = []
    return paid
  }

  /** Discards the notes that are ready or being written. Returns whether there were any. */
  discard({ size }: LayerContext): boolean {
    const { state } = this.#draft
    this.runningUpdate?.stop.abort() // what it has cost is counted
    if (state !== "ready" && state !== "writing") return false
    this.#draft = nextDraft(this.#draft, { is: "refused", reason: "dropped", size: size.tokens })
    return true
  }

  /** Synchronizes with the journal: a boundary, an undo or a rewind discards notes that were written for other messages. */
  #look(context: LayerContext): void {
    if (this.#draft.state === "writing") return
    const text = this.#draft.state === "none" ? undefined : this.#draft.text
    const found = this.#writer.findReady(context)
    if (found?.through === text?.through && found?.boundary === text?.boundary) return
    this.#draft = nextDraft(this.#draft, found ? { is: "written", text: found } : { is: "moved" })
  }
}

const STOPPED = { is: "stopped" } as const

function eventOf(text: ReadyNotes | undefined, rest: RestReason | undefined, { size }: LayerContext): NotesDraftEvent {
  if (text) return { is: "written", text }
  return rest ? { is: "refused", reason: rest, size: size.tokens } : STOPPED
}

const isSame = (text: ReadyNotes, found: ReadyNotes | undefined): boolean =>
  found?.through === text.through && found.boundary === text.boundary

const isCostEntry = (draft: JournalDraft): boolean => draft.type === "strata" && draft.subtype === "spent"

export const lastBoundary = (context: LayerContext): Uuid | undefined => context.views.compactions.last?.boundary
