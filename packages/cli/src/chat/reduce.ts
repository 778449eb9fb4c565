/** Computes the state of the screen from actions. Pure: no terminal, no clock. */
import type { CompactionProgress, QueryEvent } from "@strata/core"
import { describeStep } from "../display/compaction.ts"
import { type Completion, completionAfter, triggerAt } from "./completion.ts"
import type { Dialog } from "./dialog.ts"
import { type Editor, EMPTY_EDITOR, editorWith } from "./editor.ts"
import type { HistorySearch } from "./history-search.ts"
import { type InputHistory, remember } from "./input-history.ts"
import { itemsAfter } from "./query-items.ts"
import type { ChatState, Item, QueuedInput, RepeatedKey, ShellItem, Status, Work } from "./state.ts"
import { NO_CHANGES, recordChange, stepUndo } from "./undo.ts"

export type ChatAction =
  /** Shows another conversation. */
  | {
      readonly type: "opened"
      readonly status: Status
      readonly items: readonly Item[]
      readonly queued: readonly QueuedInput[]
    }
  | { readonly type: "event"; readonly event: QueryEvent; readonly at: number }
  | { readonly type: "work"; readonly work: Work }
  /** A new status; inputs that are no longer queued have been delivered. */
  | { readonly type: "status"; readonly status: Status; readonly queued: readonly QueuedInput[] }
  /** Lines queued until the conversation is open. */
  | { readonly type: "queued"; readonly queued: readonly QueuedInput[] }
  /** Whether the chat is waiting for the store. */
  | { readonly type: "store-waits"; readonly isWaiting: boolean }
  | { readonly type: "said"; readonly item: Item }
  /** Output of the user's command so far. */
  | { readonly type: "shell"; readonly item: ShellItem }
  | { readonly type: "edited"; readonly editor: Editor; readonly history?: InputHistory }
  /** Undoes or redoes a change of the input line. */
  | { readonly type: "undone"; readonly direction: "undo" | "redo" }
  /** The history search changed. */
  | { readonly type: "searching"; readonly search: HistorySearch }
  | { readonly type: "searched"; readonly editor: Editor }
  | { readonly type: "completion"; readonly change: Partial<Completion> }
  | { readonly type: "submitted"; readonly text: string }
  /** Submitted text that could not be sent returns to the input line. */
  | { readonly type: "returned"; readonly text: string }
  | { readonly type: "asked"; readonly dialog: Dialog }
  /** The first dialog changed. */
  | { readonly type: "dialog"; readonly dialog: Dialog }
  | { readonly type: "answered"; readonly id: string }
  /** The dialog accepts keys from now on. */
  | { readonly type: "ready"; readonly id: string }
  /** A key with another effect on its second press was pressed, or a different key. */
  | { readonly type: "pressed"; readonly key: RepeatedKey | undefined }

export function reduce(state: ChatState, action: ChatAction): ChatState {
  switch (action.type) {
    case "store-waits":
      return { ...state, isStoreSilent: action.isWaiting }
    case "opened":
      return {
        ...state,
        status: action.status,
        items: action.items,
        queued: action.queued,
        showing: state.showing + 1,
        work: { type: "idle" },
        dialogs: [],
      }
    case "event":
      return reduceEvent(state, action)
    case "work":
      return { ...state, work: action.work }
    case "status":
      return {
        ...state,
        status: action.status,
        queued: action.queued,
        items: [...state.items, ...deliveredItems(state.queued, action.queued)],
      }
    case "queued":
      return { ...state, queued: action.queued }
    case "said":
      return { ...state, items: [...state.items, action.item] }
    case "shell":
      return {
        ...state,
        items: state.items.map((item) => (item.kind === "shell" && item.id === action.item.id ? action.item : item)),
      }
    case "edited":
      return {
        ...(isFromHistory(state, action)
          ? withoutMenu(applyEdit(state, action.editor))
          : applyEdit(state, action.editor)),
        history: action.history ?? state.history,
      }
    case "undone": {
      const step = stepUndo(state.undo, { editor: state.editor, direction: action.direction })
      return step ? { ...applyEdit(state, step.editor), undo: step.undo } : state
    }
    case "searching":
      return { ...state, search: action.search }
    case "searched":
      return { ...withoutMenu(applyEdit(state, action.editor)), search: undefined }
    case "completion":
      return { ...state, completion: { ...state.completion, ...action.change } }
    case "submitted":
      return { ...applyEdit(state, EMPTY_EDITOR), undo: NO_CHANGES, history: remember(state.history, action.text) }
    case "returned": {
      const { text: typed } = state.editor
      const editor = editorWith(typed === "" ? action.text : `${action.text}\n${typed}`)
      return applyEdit(state, editor)
    }
    case "asked":
      return { ...state, dialogs: [...state.dialogs, action.dialog] }
    case "dialog":
      return { ...state, dialogs: [action.dialog, ...state.dialogs.slice(1)] }
    case "answered":
      return { ...state, dialogs: state.dialogs.filter(({ id }) => id !== action.id) }
    case "ready":
      return { ...state, ready: action.id }
    case "pressed":
      return { ...state, pressed: action.key }
  }
}

/** Changes the input line: records the change for undo and resets the menu. */
function applyEdit(state: ChatState, editor: Editor): ChatState {
  return {
    ...state,
    editor,
    undo: recordChange(state.undo, { before: state.editor, after: editor }),
    completion: completionAfter(state.completion, editor),
  }
}

/** Whether the up or down key brought back an earlier input. */
const isFromHistory = ({ history: { at } }: ChatState, { history }: Extract<ChatAction, { type: "edited" }>): boolean =>
  history !== undefined && history.at !== at

/** Closes the menu, which would otherwise take the next up key. */
function withoutMenu(state: ChatState): ChatState {
  const trigger = triggerAt(state.editor)
  return trigger ? { ...state, completion: { ...state.completion, closed: trigger.from } } : state
}

/** Messages that were delivered without an event of their own: the user's text must never vanish from the screen. */
function deliveredItems(before: readonly QueuedInput[], now: readonly QueuedInput[]): readonly Item[] {
  const waiting = new Set(now.map(({ uuid }) => uuid))
  return before.filter(({ uuid }) => !waiting.has(uuid)).map(({ uuid, text }) => ({ kind: "user", text, uuid }))
}

interface HappenedEvent {
  readonly event: QueryEvent
  readonly at: number
}

function reduceEvent(state: ChatState, { event, at }: HappenedEvent): ChatState {
  const queued = event.type === "user" ? state.queued.filter(({ uuid }) => uuid !== event.uuid) : state.queued
  return { ...state, items: itemsAfter(state.items, event, at), queued, work: workAfter(state.work, { event, at }) }
}

function workAfter(work: Work, { event, at }: HappenedEvent): Work {
  if (event.type === "done") return { type: "idle" }
  if (work.type === "interrupting") return work
  const since = "since" in work ? work.since : at
  if (event.type === "retry") {
    const { attempt, reason, delayMs } = event
    return { type: "retrying", since, until: at + delayMs, attempt, reason }
  }
  if (event.type === "compaction") return workWhileCompacting(work, { progress: event.progress, since })
  if (work.type === "compacting" && DURING_COMPACTION.has(event.type)) return work
  return { type: "working", since }
}

/** Events during a compaction that do not end it. */
const DURING_COMPACTION: ReadonlySet<QueryEvent["type"]> = new Set([
  "notice",
  "attached",
  "user",
  "boundary",
  "summary",
])

function workWhileCompacting(
  work: Work,
  { progress, since }: { readonly progress: CompactionProgress; readonly since: number },
): Work {
  const step = describeStep(progress)
  if (step !== undefined) return { type: "compacting", since, step }
  return progress.phase === "done" || progress.phase === "failed" ? { type: "working", since } : work
}
