/** What a slash command can do with the chat. */
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
  /** Also files that someone else changed since. */
  readonly overwrite: boolean
}

export interface CommandTarget {
  readonly agent: SessionAgent
  readonly ask: Ask
  readonly place: Pick<Workspace, "root" | "cwd" | "env">
  now(): Date
  /** A panel. Lines that fit the window are a function of its columns. */
  print(title: string, lines: readonly string[] | PanelLines): void
  notice(text: string): void
  /** The newest answer that is complete. */
  lastAnswer(): string | undefined
  /** Sends a message. `written`: what the person typed for it. */
  send(text: string, written: string): Promise<void>
  /** A sequence for the terminal that draws nothing. */
  toTerminal(sequence: string): void
  /** Changes what the open question with this title shows. */
  redraw(title: string, body: DialogBody): void
  /** Closes the open question with this title: it needs no answer any more. */
  dismiss(title: string): void
  /** The project's memory, to look at. Or to change it in the person's name. */
  memory(options?: { readonly isChanged: boolean }): Promise<ProjectBank>
  /** Slash commands that the person or the project wrote. */
  customCommands(): Promise<readonly CustomCommand[]>
  conversations(): Promise<readonly StoredConversation[]>
  resume(conversation: StoredConversation): Promise<void>
  /** Sessions of other programs, those of this directory first. */
  externalSessions(): Promise<readonly ExternalSession[]>
  /** Imports the transcript of another program and switches to it. */
  importAndResume(file: string): Promise<void>
  clear(): Promise<void>
  /** Compacts now and shows the progress. */
  compact(order: Partial<ResolvedCompactionRequest>): Promise<void>
  /** Gives the screen to the person's editor and resolves with what they saved. */
  edit(text: string): Promise<string>
  /** Takes back the newest decision and shows the conversation as it is then. */
  undo(request: UndoRequest): Promise<void>
  switchModel(name: string): Promise<void>
  switchMode(mode: PermissionMode): void
  /** Goes back to before this message and puts it into the input line. With a choice, files are put back too. */
  rewind(uuid: string, restore?: RestoreChoice): Promise<void>
  /** Shows the nth folded item, counted from the newest. */
  expand(nth: number): void
  /** The path of the socket for the person's editor. */
  editorSocket(): Promise<string>
  leave(): void
}
