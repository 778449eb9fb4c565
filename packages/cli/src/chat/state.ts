/** What the chat shows, as plain data. Everything on the screen is a function of this. */
import type { PermissionMode } from "@strata/core/agent"
import type { Dialog } from "./dialog.ts"
import { type Editor, EMPTY_EDITOR } from "./editor.ts"
import type { InputHistory } from "./input-history.ts"

/** Something in the conversation, in the order it came. */
export type Item =
  /** Where a conversation begins on the screen. */
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "answer"; readonly text: string; readonly isArriving?: boolean }
  | { readonly kind: "thinking"; readonly text: string; readonly isArriving?: boolean }
  | ToolItem
  | CompactionItem
  | { readonly kind: "notice"; readonly tone: "plain" | "warning" | "error"; readonly text: string }
  /** What a command printed. */
  | { readonly kind: "panel"; readonly title: string; readonly lines: readonly string[] }

export interface ToolItem {
  readonly kind: "tool"
  readonly id: string
  readonly name: string
  readonly summary: string
  /** The newest line of a call that still runs. */
  readonly progress?: string
  readonly outcome?: ToolOutcome
}

/** The place where a summary took over from what stood before. */
export interface CompactionItem {
  readonly kind: "compaction"
  /** Known while it happens; a conversation that is resumed does not tell it. */
  readonly tokensBefore?: number
  /** The whole of it, for whoever unfolds it. */
  readonly summary: string
  /** What was put behind the summary, a line each. */
  readonly restored: readonly string[]
  /** Absent until everything is in the journal. */
  readonly outcome?: { readonly tokensAfter?: number; readonly route?: string }
}

export interface ToolOutcome {
  readonly state: "ok" | "failed" | "denied"
  /** One line: why it failed or was denied. */
  readonly text: string
  /** The whole result, for whoever unfolds it. */
  readonly whole: string
  readonly ms: number
}

export interface Status {
  readonly model: string
  readonly mode: PermissionMode
  readonly percentLeft: number
  readonly isContextLow: boolean
  readonly dollars: number
  /** Some of the models used have no known price. */
  readonly isPriceIncomplete: boolean
  /** Requests of the conversation itself so far, without those of the background. */
  readonly turns: number
}

export type Work =
  | { readonly type: "idle" }
  | { readonly type: "opening" }
  | { readonly type: "working"; readonly since: number }
  | {
      readonly type: "retrying"
      readonly since: number
      readonly until: number
      readonly attempt: number
      readonly reason: string
    }
  /** `step`: what is done right now, in a few words. */
  | { readonly type: "compacting"; readonly since: number; readonly step: string }
  | { readonly type: "interrupting" }

export interface QueuedInput {
  readonly uuid: string
  readonly text: string
}

export interface ChatState {
  readonly items: readonly Item[]
  /** Another number for each conversation that is shown. */
  readonly showing: number
  readonly work: Work
  readonly editor: Editor
  readonly history: InputHistory
  /** Questions to the person; the first one is shown. */
  readonly dialogs: readonly Dialog[]
  readonly queued: readonly QueuedInput[]
  readonly status: Status
  /** Ctrl-C was pressed: once more, and it ends. */
  readonly isLeaving: boolean
}

export function initialState(status: Status, history: InputHistory): ChatState {
  return {
    items: [],
    showing: 0,
    work: { type: "idle" },
    editor: EMPTY_EDITOR,
    history,
    dialogs: [],
    queued: [],
    status,
    isLeaving: false,
  }
}

/** How many items, from the first, will never change again. */
export function settledItems(items: readonly Item[]): number {
  const open = items.findIndex(isOpen)
  return open < 0 ? items.length : open
}

function isOpen(item: Item): boolean {
  if (item.kind === "tool" || item.kind === "compaction") return item.outcome === undefined
  return (item.kind === "answer" || item.kind === "thinking") && item.isArriving === true
}
