/** The interface of the chat for slash commands. */
import type {
  PermissionMode,
  ProjectBank,
  ResolvedCompactionRequest,
  RestorePlan,
  StoredConversation,
  UndoRequest,
} from "@strata/core"
import type { ExternalSession } from "@strata/transcripts"
import type { SessionAgent, Workspace } from "../session.ts"
import type { CustomCommand } from "./custom-commands.ts"
import type { DialogBody } from "./dialog.ts"
import type { PanelLines } from "./panels.ts"
import type { Ask } from "./terminal-user.ts"

export interface RestoreChoice {
  readonly plan: RestorePlan
  /** Also overwrites files that someone else has changed since. */
  readonly overwrite: boolean
}

export interface CommandTarget {
  readonly agent: SessionAgent
  readonly ask: Ask
  readonly place: Pick<Workspace, "root" | "cwd" | "env">
  now(): Date
  /** Prints a panel. Lines that depend on the width are a function of the columns. */
  print(title: string, lines: readonly string[] | PanelLines): void
  notice(text: string): void
  /** The newest complete answer. */
  lastAnswer(): string | undefined
  /** Sends a message. `written` is the part that the user typed. */
  send(text: string, written: string): Promise<void>
  /** Writes an escape sequence that draws nothing. */
  toTerminal(sequence: string): void
  /** Replaces the body of the open question with this title. */
  redraw(title: string, body: DialogBody): void
  /** Closes the open question with this title, which no longer needs an answer. */
  dismiss(title: string): void
  /** Opens the project's memory for reading or, with `isChanged`, for changes in the user's name. */
  memory(options?: { readonly isChanged: boolean }): Promise<ProjectBank>
  /** Slash commands from files, skills and MCP servers. */
  customCommands(): Promise<readonly CustomCommand[]>
  conversations(): Promise<readonly StoredConversation[]>
  resume(conversation: StoredConversation): Promise<void>
  /** Sessions of other programs; those of this directory come first. */
  externalSessions(): Promise<readonly ExternalSession[]>
  /** Imports the transcript of another program and switches to it. */
  importAndResume(file: string): Promise<void>
  clear(): Promise<void>
  /** Compacts now and shows the progress. */
  compact(order: Partial<ResolvedCompactionRequest>): Promise<void>
  /** Lends the screen to the user's editor and resolves with the saved text. */
  edit(text: string): Promise<string>
  /** Undoes the newest decision and shows the resulting conversation. */
  undo(request: UndoRequest): Promise<void>
  switchModel(name: string): Promise<void>
  switchMode(mode: PermissionMode): void
  /** Goes back to before this message and puts its text into the input line. With a choice, files are restored too. */
  rewind(uuid: string, restore?: RestoreChoice): Promise<void>
  /** Shows the nth folded item, counted from the newest. */
  expand(nth: number): void
  /** The path of the socket for the user's editor. */
  editorSocket(): Promise<string>
  leave(): void
}
