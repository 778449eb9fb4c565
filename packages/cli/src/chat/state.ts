/** The state of the chat as plain data. The screen is a function of it. */

import type { PermissionMode } from "@strata/core"
import type { AuditFigures } from "@strata/core/store"
import { type Completion, NO_COMPLETION } from "./completion.ts"
import type { Dialog } from "./dialog.ts"
import { type Editor, EMPTY_EDITOR } from "./editor.ts"
import type { HistorySearch } from "./history-search.ts"
import type { InputHistory } from "./input-history.ts"
import type { PanelLines } from "./panels.ts"
import { NO_CHANGES, type UndoHistory } from "./undo.ts"

/** One item of the conversation, in order. */
export type Item =
  /** Title line of the conversation. */
  | { readonly kind: "heading"; readonly text: string }
  /** `uuid` is set if the message's event may still arrive. */
  | { readonly kind: "user"; readonly text: string; readonly uuid?: string }
  | { readonly kind: "answer"; readonly text: string; readonly isArriving?: boolean }
  | { readonly kind: "thinking"; readonly text: string; readonly isArriving?: boolean }
  | ToolItem
  | ShellItem
  | CompactionItem
  | { readonly kind: "notice"; readonly tone: "plain" | "warning" | "error"; readonly text: string }
  /** Printed by a slash command. */
  | PanelItem

export interface PanelItem {
  readonly kind: "panel"
  readonly title: string
  readonly lines: readonly string[] | PanelLines
}

export interface ToolItem {
  readonly kind: "tool"
  readonly id: string
  readonly name: string
  readonly summary: string
  /** The newest output line of a running call. */
  readonly progress?: string
  readonly outcome?: ToolOutcome
}

/** A command that the user ran. */
export interface ShellItem {
  readonly kind: "shell"
  readonly id: string
  readonly command: string
  /** The newest output line while it runs. */
  readonly progress?: string
  /** Absent while it runs. */
  readonly output?: string
}

/** A compaction, whose summary replaces all earlier messages. */
export interface CompactionItem {
  readonly kind: "compaction"
  /** Absent in a resumed conversation. */
  readonly tokensBefore?: number
  /** Number of messages that the summary replaces, and the time. Absent in a resumed conversation. */
  readonly messages?: number
  readonly at?: number
  /** The full summary, for Ctrl-O. */
  readonly summary: string
  /** Attachments added after the summary, one line each. */
  readonly restored: readonly string[]
  /** Absent until the compaction is complete. */
  readonly outcome?: {
    readonly tokensAfter?: number
    readonly route?: string
    readonly planned?: string
    readonly audit?: AuditFigures
  }
}

export interface ToolOutcome {
  readonly state: "ok" | "failed" | "denied" | "interrupted"
  /** One line: the reason for a failure or a denial. */
  readonly text: string
  /** The full result, for Ctrl-O. */
  readonly fullText: string
  readonly ms: number
}

export type FillLevel = "fine" | "warning" | "error"

export interface Status {
  readonly model: string
  readonly mode: PermissionMode
  readonly percentLeft: number
  /** `warning`: the window is filling up. `error`: the limit is reached, so the next request compacts or is not sent. */
  readonly fill: FillLevel
  readonly dollars: number
  /** True if a model without a known price was used. */
  readonly isPriceIncomplete: boolean
  /** Number of requests, without background calls. */
  readonly turns: number
  /** Number of working sub-agents. */
  readonly agents?: number
  /** The phase of a dream that runs in this process. */
  readonly dream?: string
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
  /** `step`: the current step, in a few words. */
  | { readonly type: "compacting"; readonly since: number; readonly step: string }
  | { readonly type: "interrupting" }

export interface QueuedInput {
  readonly uuid: string
  readonly text: string
}

export type RepeatedKey = "ctrl-c" | "esc"

export interface ChatState {
  readonly items: readonly Item[]
  /** Counter that increases with each conversation shown. */
  readonly showing: number
  readonly work: Work
  readonly editor: Editor
  readonly history: InputHistory
  /** Undo history of the input line. */
  readonly undo: UndoHistory
  readonly completion: Completion
  /** The open history search, which takes all keys. */
  readonly search: HistorySearch | undefined
  /** Open questions; the screen shows the first. */
  readonly dialogs: readonly Dialog[]
  /** Id of the dialog that takes keys: the first one, after a delay. */
  readonly ready: string | undefined
  readonly queued: readonly QueuedInput[]
  readonly status: Status
  /** True while the store does not answer. */
  readonly isStoreSilent: boolean
  /** A key that was pressed once and stopped nothing. On the second press, Ctrl-C exits, and Esc clears the line or goes back. */
  readonly pressed: RepeatedKey | undefined
}

export function initialState(status: Status, history: InputHistory): ChatState {
  return {
    items: [],
    showing: 0,
    work: { type: "idle" },
    editor: EMPTY_EDITOR,
    history,
    undo: NO_CHANGES,
    completion: NO_COMPLETION,
    search: undefined,
    dialogs: [],
    ready: undefined,
    queued: [],
    status,
    isStoreSilent: false,
    pressed: undefined,
  }
}

/** Number of leading items that no longer change. */
export function settledItems(items: readonly Item[]): number {
  const open = items.findIndex(isOpen)
  return open < 0 ? items.length : open
}

function isOpen(item: Item): boolean {
  if (item.kind === "shell") return item.output === undefined
  if (item.kind === "tool" || item.kind === "compaction") return item.outcome === undefined
  return (item.kind === "answer" || item.kind === "thinking") && item.isArriving === true
}
