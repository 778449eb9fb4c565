/** Connects screen and agent: carries out the user's input and keeps the screen up to date. Independent of ink. */

import { join } from "node:path"
import {
  type PermissionMode,
  type ProjectBank,
  type ResolvedCompactionRequest,
  type StoredConversation,
  textOf,
  type UndoRequest,
} from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { describeUndo, fileStem } from "@strata/page"
import { type ExternalSession, listExternalSessions } from "@strata/transcripts"
import { describeRestore } from "../display/restored.ts"
import { resumeFile } from "../import/import-report.ts"
import { openProjectBank } from "../memory/project-memory.ts"
import type { SessionAgent, SessionInput, Workspace } from "../session.ts"
import { conversationsIn } from "../stored-conversation.ts"
import { editText } from "../text-editor.ts"
import { AgentWork } from "./agent-work.ts"
import type { CommandTarget, RestoreChoice } from "./command-target.ts"
import { Completer } from "./completer.ts"
import { type CustomCommand, loadCustomCommands } from "./custom-commands.ts"
import { CustomMessages } from "./custom-message.ts"
import type { DialogBody } from "./dialog.ts"
import { editorWith } from "./editor.ts"
import { EDITOR_SOCKET, EditorLink } from "./editor-socket.ts"
import { openedFromNewest } from "./folded.ts"
import type { HistoryFile } from "./input-history.ts"
import { modeAfter } from "./keyboard.ts"
import { rememberedText } from "./memory-line.ts"
import type { PanelLines } from "./panels.ts"
import { pastItems } from "./past-items.ts"
import { PriceQuestion } from "./price-question.ts"
import { projectFiles } from "./project-files.ts"
import { SessionEndings } from "./session-endings.ts"
import { shellCommandIn, UserShell } from "./shell-command.ts"
import { findCommand, SLASH_COMMANDS } from "./slash-commands.ts"
import { headingOf, queuedOf, statusOf } from "./snapshot.ts"
import type { ChatStore } from "./store.ts"
import type { Ask } from "./terminal-user.ts"
import { openUserSession, type UserSession } from "./user-session.ts"

interface ChatDependencies {
  readonly workspace: Workspace
  readonly store: ChatStore
  readonly session: UserSession
  readonly inputs: HistoryFile
}

export interface OpenChatOptions extends Omit<ChatDependencies, "session"> {
  readonly resumed: StoredConversation | undefined
}

export async function openChat({ workspace, resumed, store, inputs }: OpenChatOptions): Promise<Chat> {
  const session = await openUserSession({ ask: store.ask, workspace, resumed })
  const chat = new Chat({ workspace, store, session, inputs })
  if (workspace.env[EDITOR_SOCKET]) await chat.editorSocket().catch((error: unknown) => store.fail(error))
  return chat
}

type LendScreen = <T>(work: () => Promise<T>) => Promise<T>

export class Chat implements CommandTarget {
  readonly store: ChatStore
  readonly completer: Completer
  readonly #workspace: Workspace
  readonly #inputs: HistoryFile
  readonly #work: AgentWork
  readonly #shell: UserShell
  readonly #warned = new Set<string>()
  readonly #own = new CustomMessages()
  readonly #left = Promise.withResolvers<void>()
  readonly #endings: SessionEndings
  readonly #price: PriceQuestion
  #isLeaving = false
  #session: UserSession
  #stopWatching: () => void = () => {}
  #lend: LendScreen = (work) => work()
  #write: (sequence: string) => void = () => {}
  readonly #editor: EditorLink

  constructor({ workspace, store, session, inputs }: ChatDependencies) {
    this.#workspace = workspace
    this.store = store
    this.#session = session
    this.#inputs = inputs
    this.#endings = new SessionEndings(store)
    this.#editor = new EditorLink({
      path: workspace.env[EDITOR_SOCKET] || join(workspace.root, "sockets", `editor-${process.pid}.sock`),
      show: (state) => this.agent.showEditor(state),
    })
    this.completer = new Completer({
      store,
      builtIn: SLASH_COMMANDS,
      ownCommands: () => this.customCommands(),
      filesBelow: (below) => projectFiles({ directory: this.agent.shared.state.directory, below }),
    })
    this.#work = new AgentWork({ store, agent: () => this.agent, limits: workspace.limits })
    this.#price = new PriceQuestion({
      chat: () => this.agent.conversation,
      ask: store.ask,
      say: (text) => store.say(text, "warning"),
      compact: () => this.compact({}),
    })
    this.#shell = new UserShell({ store, run: (command) => this.agent.runCommand(command) })
    this.#show()
  }

  get agent(): SessionAgent {
    return this.#session.agent
  }

  get ask(): Ask {
    return this.store.ask
  }

  /** Resolves when the user wants to leave. */
  get left(): Promise<void> {
    return this.#left.promise
  }

  get place(): CommandTarget["place"] {
    return this.#workspace
  }

  lastAnswer(): string | undefined {
    const { items } = this.store.snapshot()
    return items.flatMap((item) => (item.kind === "answer" && !item.isArriving ? [item.text] : [])).at(-1)
  }

  send(text: string, written: string): Promise<void> {
    return this.#work.send(text, written)
  }

  toTerminal(sequence: string): void {
    this.#write(sequence)
  }

  now(): Date {
    return new Date()
  }

  /** The socket through which the user's editor reports its open file. Opened on first use. */
  editorSocket(): Promise<string> {
    return this.#editor.open()
  }

  async close(): Promise<void> {
    await this.#editor.close()
    await this.#shell.close()
    await this.#work.close()
    if (this.agent.extracting && !this.#endings.isAskedAboutMemory)
      this.notice("Saving what was learned. To leave at once, press Ctrl-D: it is then saved when you continue.")
    this.#endings.close(this.#session)
    await this.#endings.done
  }

  /** Starts leaving. A second call leaves at once. */
  leave(): void {
    if (this.#isLeaving) this.#endings.hurry()
    this.#isLeaving = true
    this.#own.stop()
    this.#left.resolve()
  }

  print(title: string, lines: readonly string[] | PanelLines): void {
    this.store.dispatch({ type: "said", item: { kind: "panel", title, lines } })
  }

  notice(text: string): void {
    this.store.say(text, "plain")
  }

  redraw(title: string, body: DialogBody): void {
    const [dialog] = this.store.snapshot().dialogs
    if (dialog?.title === title) this.store.dispatch({ type: "dialog", dialog: { ...dialog, body } })
  }

  dismiss(title: string): void {
    this.store.dismiss(title)
  }

  memory({ isChanged = false } = {}): Promise<ProjectBank> {
    return openProjectBank({ cwd: this.#session.projectDirectory, env: this.#workspace.env, readOnly: !isChanged })
  }

  customCommands(): Promise<readonly CustomCommand[]> {
    const { root, env } = this.#workspace
    return loadCustomCommands({
      ...{ root, home: env.HOME, settings: this.agent.conversation.settings },
      ...{ servers: this.agent.servers, skills: this.agent.skills },
      onProblem: (problem) => this.#warnOnce(problem),
    })
  }

  conversations(): Promise<readonly StoredConversation[]> {
    return conversationsIn(this.#workspace)
  }

  async resume(resumed: StoredConversation): Promise<void> {
    await this.#replace({ resumed })
  }

  externalSessions(): Promise<readonly ExternalSession[]> {
    const { cwd, env } = this.#workspace
    return listExternalSessions({ cwd, env })
  }

  async importAndResume(file: string): Promise<void> {
    const { cwd, env } = this.#workspace
    const { conversation, notes } = await resumeFile({ file, cwd, env })
    await this.resume(conversation)
    for (const note of notes) this.notice(note)
  }

  async clear(): Promise<void> {
    await this.#replace({ model: this.agent.model.name, startedBy: "clear" })
  }

  /** Compacts; Esc cancels. Messages typed meanwhile are queued and answered afterwards. */
  compact(order: Partial<ResolvedCompactionRequest>): Promise<void> {
    return this.#work.occupy(async (signal) => {
      const end = await this.#work.compact({ work: (given) => this.agent.conversation.compact(order, given), signal })
      if (end.kind === "failed") throw end.error
    })
  }

  /** The current model compacts first if necessary, because it has read everything. If that fails, the model does not change. */
  switchModel(name: string): Promise<void> {
    return this.#work.occupy(async (signal) => {
      const { conversation: chat, model } = this.agent
      const target = this.#workspace.connection.model(name, chat.settings.values.models)
      const end = await this.#work.compact({ work: (given) => this.agent.makeRoomFor(target, given), signal })
      if (end.kind === "done") await this.#reopenWith(name)
      if (end.kind === "failed") this.store.say(`${end.message} The conversation stays with ${model.name}.`, "error")
    })
  }

  async #reopenWith(model: string): Promise<void> {
    const { conversation: chat, mode, model: before } = this.agent
    const { addedRules: rules } = this.agent.shared.state
    const resumed = (await this.conversations()).find(({ id }) => id === chat.id)
    const reopen = (name: string) =>
      openUserSession({ ask: this.ask, workspace: this.#workspace, resumed, model: name, mode, rules })
    this.#endings.sayStopped(this.#session)
    await this.#session.close() // a conversation has only one writer
    try {
      this.#session = await reopen(model)
    } catch (error) {
      this.#session = await reopen(before.name)
      throw error
    }
    this.#watch()
    this.#work.refresh()
    this.notice(`Switched from ${before.name} to ${model}.`)
    this.#warn()
  }

  nextMode(): void {
    this.switchMode(modeAfter(this.agent.mode))
  }

  switchMode(mode: PermissionMode): void {
    void this.#guard(this.agent.setMode(mode))
    this.#work.refresh()
  }

  edit(text: string): Promise<string> {
    return this.#lend(() => editText({ text, name: "summary.md", env: this.#workspace.env }))
  }

  /** Sets the function that lends the screen to another program. */
  lendScreen(lend: LendScreen): void {
    this.#lend = lend
  }

  /** Sets the function that writes escape sequences to the terminal, outside of what is drawn. */
  writeThrough(write: (sequence: string) => void): void {
    this.#write = write
  }

  async undo(request: UndoRequest): Promise<void> {
    const report = await this.agent.conversation.undo({ ...request, by: "chat" })
    this.#show()
    this.notice(describeUndo(report))
  }

  async rewind(uuid: string, restore?: RestoreChoice): Promise<void> {
    const { conversation: chat } = this.agent
    for await (const entry of chat.entries()) {
      if (entry.uuid !== uuid || entry.type !== "user") continue
      if (entry.parentUuid !== null) await chat.rewind(entry.parentUuid)
      const outcome = restore ? describeRestore(await chat.restoreFiles(restore.plan, restore)) : undefined
      if (entry.parentUuid !== null) this.#show()
      else await this.clear() // after the old conversation has recorded the restore: the new one knows none of these files
      if (outcome) this.notice(outcome)
      const text = this.store.abbreviate(textOf(entry.message.content), { isWritten: true })
      this.store.dispatch({ type: "edited", editor: editorWith(text ?? "") })
      return this.notice("Edit your message or send it again. The journal keeps everything after it.")
    }
  }

  expand(nth: number): void {
    const opened = openedFromNewest(this.store.snapshot().items, nth)
    if (typeof opened === "string") this.notice(opened)
    else this.print(opened.title, opened.lines)
  }

  /** Stops the user's command, else the agent, else the summary in preparation. */
  interrupt(): boolean {
    const isPreparing = this.#own.stop()
    if (this.#shell.stop()) return true
    const { isBusy } = this.#work
    this.#work.interrupt()
    if (isBusy || !this.agent.conversation.discardPreparedSummary()) return isBusy || isPreparing
    this.notice(
      "The prepared summary was dropped. The notes are updated again after the conversation has grown by 10%.",
    )
    return true
  }

  goBack(): void {
    void this.perform("/rewind")
  }

  /** Submits an input: adds it to the history and carries it out. */
  submit(text: string): void {
    if (text.trim() === "" || this.#isLeaving) return
    this.store.dispatch({ type: "submitted", text })
    void this.#guard(this.#inputs.add(text))
    void this.perform(this.store.inFull(text))
  }

  /** Carries out a slash command, remembers a line that starts with `#`, runs one that starts with `!`. Anything else is sent to the agent. */
  async perform(text: string): Promise<void> {
    const remembered = rememberedText(text)
    const found = findCommand(text)
    const command = shellCommandIn(text)
    if (remembered !== undefined) await this.#guard(this.#remember(remembered))
    else if (command !== undefined) await this.#guard(this.#shell.start(command))
    else if (found?.type !== "command") await this.#guard(this.#sendAfterCommand(text.trim(), found?.message))
    else if (found.command.needsRest && (this.#work.isBusy || this.#shell.isRunning))
      this.notice(
        `/${found.command.name} must wait: interrupt ${this.#shell.isRunning ? "your command" : "the agent"} with Esc first.`,
      )
    else await this.#guard(Promise.resolve(found.command.run(this, found.argument)))
  }

  /** Waits for the user's command first if the agent is idle, because the message may refer to its output. */
  async #sendAfterCommand(line: string, unknown: string | undefined): Promise<void> {
    if (this.#shell.isRunning && !this.#work.isBusy) {
      this.notice("Your message will be sent when your command has ended. Esc stops the command.")
      await this.#shell.ended
      if (this.#isLeaving) return
    }
    return this.#sendOr(line, unknown)
  }

  /** Sends a line, or the message of a custom command. `unknown` is shown if no such command exists. */
  async #sendOr(line: string, unknown: string | undefined): Promise<void> {
    if (!line.startsWith("/")) return (await this.#mayCost(line)) ? this.#work.send(line) : undefined
    const { agent, ask } = this
    const commands = await this.customCommands()
    const own = await this.#own.messageFor(line, { commands, agent, ask, isBusy: this.#work.isBusy })
    if (own?.state === "not sent") return this.store.giveBack(line, new Error(own.why))
    const isPrompt = /^\/mcp__\S+/.exec(line)?.[0]
    if (own === undefined && (unknown !== undefined || isPrompt))
      return this.store.say(
        unknown ?? `No connected MCP server has the prompt ${isPrompt}. /mcp shows the servers.`,
        "warning",
      )
    if (!(await this.#mayCost(line))) return
    for (const attachment of own?.attached ?? []) await agent.conversation.attach(attachment)
    await this.#work.send(own?.text ?? line, line)
  }

  async #remember(text: string): Promise<void> {
    const { file, location } = await this.agent.remember(text)
    this.notice(`Remembered in ${location}/${file}. To undo this: strata memory forget ${fileStem(file)}`)
  }

  async #replace(input: Pick<SessionInput, "resumed" | "model" | "startedBy">): Promise<void> {
    this.store.dispatch({ type: "work", work: { type: "opening" } })
    try {
      if (input.resumed) await this.#endings.done // the conversation may still be closing
      const next = await openUserSession({
        ask: this.ask,
        workspace: this.#workspace,
        ...(input.resumed ? {} : { mode: this.agent.mode }), // a resumed conversation has a mode of its own
        ...input,
      })
      this.#endings.close(this.#session)
      this.#session = next
      this.#show()
    } finally {
      this.store.dispatch({ type: "work", work: { type: "idle" } })
    }
  }

  /** Shows background events of the current agent: reports of the layers, and dreams in the status line. */
  #watch(): void {
    this.#stopWatching()
    this.agent.showEditor(this.#editor.state)
    const stops = [this.#work.watch(), this.agent.dreaming?.on(() => this.#work.refresh())]
    this.#stopWatching = () => {
      for (const stop of stops) stop?.()
    }
  }

  #show(): void {
    this.#watch()
    const { context, compactions } = internalsOf(this.agent.conversation).views
    const { tokensAfter } = compactions.last ?? {}
    const items = [
      headingOf(this.agent, this.#workspace.cwd),
      ...pastItems(context.storedMessages(), tokensAfter === undefined ? {} : { tokensAfter }),
    ]
    this.store.dispatch({ type: "opened", status: statusOf(this.agent), queued: queuedOf(this.agent), items })
    this.#warn()
    if (items.length > 1) void this.#guard(this.#price.say())
  }

  /** Whether to send a message that a pause has made expensive. Otherwise it goes back to the input. */
  async #mayCost(line: string): Promise<boolean> {
    if (this.#work.isBusy) return true
    const isSent = await this.#price.ask().catch((error: unknown) => {
      this.store.fail(error)
      return false
    })
    if (!isSent) this.store.putBack(line)
    return isSent
  }

  #warn(): void {
    for (const text of this.#session.problems) this.#warnOnce(text)
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return
    this.#warned.add(text)
    this.store.say(text, "warning")
  }

  #guard(work: Promise<void>): Promise<void> {
    return work.catch((error: unknown) => this.store.fail(error))
  }
}
