/** The chat between screen and agent: carries out what the person types and keeps the screen up to date. Knows nothing of ink. */

import { join } from "node:path"
import {
  type CompactionOrder,
  type EditorState,
  type KeptConversation,
  type PermissionMode,
  type ProjectBank,
  textOf,
  type UndoRequest,
} from "@strata/core"
import { reasonOf } from "@strata/core/base"
import { stemOf, undoSentence } from "@strata/page"
import { type ForeignSession, foreignSessions } from "@strata/transcripts"
import { counted } from "../display/numbers.ts"
import { restoredSentence } from "../display/restored.ts"
import { resumeFile } from "../import/taken-up.ts"
import { conversationsIn } from "../kept-conversation.ts"
import { openProjectBank } from "../memory/place.ts"
import type { SessionAgent, SessionInput, Workspace } from "../session.ts"
import { editText } from "../text-editor.ts"
import { AgentWork } from "./agent-work.ts"
import type { CommandTarget, RestoreChoice } from "./command-target.ts"
import { Completer } from "./completer.ts"
import type { DialogBody } from "./dialog.ts"
import { editorWith } from "./editor.ts"
import { type EditorSocket, openEditorSocket } from "./editor-socket.ts"
import { openedItem } from "./folded.ts"
import type { HistoryFile } from "./input-history.ts"
import { modeAfter } from "./keyboard.ts"
import { loadOwnCommands, type OwnCommand } from "./own-commands.ts"
import { ownMessage } from "./own-message.ts"
import type { PanelLines } from "./panels.ts"
import { pastItems } from "./past-items.ts"
import type { Ask } from "./person.ts"
import { openPersonSession, type PersonSession } from "./person-session.ts"
import { PriceQuestion } from "./price-question.ts"
import { projectFiles } from "./project-files.ts"
import { rememberedText } from "./remembered-text.ts"
import { SessionEndings } from "./session-endings.ts"
import { PersonShell, shellCommandIn } from "./shell-command.ts"
import { findCommand, SLASH_COMMANDS } from "./slash-commands.ts"
import { headingOf, queuedOf, statusOf } from "./snapshot.ts"
import type { ChatStore } from "./store.ts"

/** The path of the editor's socket. Set, the socket is open from the start. */
const EDITOR_SOCKET = "STRATA_EDITOR_SOCKET"

interface ChatParts {
  readonly workspace: Workspace
  readonly store: ChatStore
  readonly session: PersonSession
  readonly inputs: HistoryFile
}

export interface OpeningParts extends Omit<ChatParts, "session"> {
  readonly resumed: KeptConversation | undefined
}

export async function openChat({ workspace, resumed, store, inputs }: OpeningParts): Promise<Chat> {
  const session = await openPersonSession({ ask: store.ask, workspace, resumed })
  const chat = new Chat({ workspace, store, session, inputs })
  if (workspace.env[EDITOR_SOCKET]) await chat.editorSocket().catch((error: unknown) => store.fail(error))
  return chat
}

type Lend = <T>(work: () => Promise<T>) => Promise<T>

export class Chat implements CommandTarget {
  readonly store: ChatStore
  readonly completer: Completer
  readonly #workspace: Workspace
  readonly #inputs: HistoryFile
  readonly #work: AgentWork
  readonly #shell: PersonShell
  readonly #warned = new Set<string>()
  readonly #askedTools = new Set<string>()
  /** What a slash command of a file or a server runs before its message is sent. */
  #preparing: AbortController | undefined
  readonly #left = Promise.withResolvers<void>()
  readonly #endings: SessionEndings
  readonly #price: PriceQuestion
  #isLeaving = false
  #session: PersonSession
  #stopWatching: () => void = () => {}
  #lend: Lend = (work) => work()
  #write: (sequence: string) => void = () => {}
  #editorSocket: Promise<EditorSocket> | undefined
  #editor: EditorState | undefined

  constructor({ workspace, store, session, inputs }: ChatParts) {
    this.#workspace = workspace
    this.store = store
    this.#session = session
    this.#inputs = inputs
    this.#endings = new SessionEndings(store)
    this.completer = new Completer({
      store,
      builtIn: SLASH_COMMANDS,
      ownCommands: () => this.ownCommands(),
      filesBelow: (below) => projectFiles({ directory: this.agent.shared.state.directory, below }),
    })
    this.#work = new AgentWork({ store, agent: () => this.agent, limits: workspace.limits })
    this.#price = new PriceQuestion({
      chat: () => this.agent.conversation,
      ask: store.ask,
      say: (text) => store.say(text, "warning"),
      compact: () => this.compact({}),
    })
    this.#shell = new PersonShell({ store, run: (command) => this.agent.runCommand(command) })
    this.#show()
  }

  get agent(): SessionAgent {
    return this.#session.agent
  }

  get ask(): Ask {
    return this.store.ask
  }

  /** Resolves when the person wants to leave. */
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

  /** Where the person's editor can say what it shows. Opened when it is first asked for. */
  async editorSocket(): Promise<string> {
    const { env, root } = this.#workspace
    const path = env[EDITOR_SOCKET] || join(root, "sockets", `editor-${process.pid}.sock`)
    this.#editorSocket ??= openEditorSocket(path, (state) => {
      this.#editor = state
      this.agent.showEditor(state)
    }).catch((error: unknown) => {
      this.#editorSocket = undefined
      throw new Error(
        `The editor's socket ${path} could not be opened: ${reasonOf(error)}. Set ${EDITOR_SOCKET} to another path.`,
      )
    })
    return (await this.#editorSocket).path
  }

  async close(): Promise<void> {
    await this.#editorSocket?.then(
      (socket) => socket.close(),
      () => undefined,
    )
    await this.#shell.close()
    await this.#work.close()
    if (this.agent.extracting && !this.#endings.isAskedAboutMemory)
      this.notice("Writing down what was learned. To leave at once, press Ctrl-D: it is then done when you continue.")
    this.#endings.close(this.#session)
    await this.#endings.done
  }

  /** A second call leaves at once. */
  leave(): void {
    if (this.#isLeaving) this.#endings.hurry()
    this.#isLeaving = true
    this.#preparing?.abort()
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
    return openProjectBank({ cwd: this.#session.about, env: this.#workspace.env, readOnly: !isChanged })
  }

  ownCommands(): Promise<readonly OwnCommand[]> {
    const { root, env } = this.#workspace
    return loadOwnCommands({
      ...{ root, home: env.HOME, settings: this.agent.conversation.settings },
      ...{ servers: this.agent.servers, skills: this.agent.skills },
      onProblem: (problem) => this.#warnOnce(problem),
    })
  }

  conversations(): Promise<readonly KeptConversation[]> {
    return conversationsIn(this.#workspace)
  }

  async resume(resumed: KeptConversation): Promise<void> {
    await this.#replace({ resumed })
  }

  foreignSessions(): Promise<readonly ForeignSession[]> {
    const { cwd, env } = this.#workspace
    return foreignSessions({ cwd, env })
  }

  async takeUp(file: string): Promise<void> {
    const { cwd, env } = this.#workspace
    const { conversation, notes } = await resumeFile({ file, cwd, env })
    await this.resume(conversation)
    for (const note of notes) this.notice(note)
  }

  async clear(): Promise<void> {
    await this.#replace({ model: this.agent.model.name, startedBy: "clear" })
  }

  /** Esc cancels. Messages typed meanwhile are kept and answered afterwards. */
  compact(order: Partial<CompactionOrder>): Promise<void> {
    return this.#work.occupy(async (signal) => {
      const end = await this.#work.compact({ work: (given) => this.agent.conversation.compact(order, given), signal })
      if (end.kind === "failed") throw end.error
    })
  }

  /** The current model makes room first, because it has read everything. If that fails, the conversation stays with it. */
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
      openPersonSession({ ask: this.ask, workspace: this.#workspace, resumed, model: name, mode, rules })
    this.#endings.sayStopped(this.#session)
    await this.#session.close() // only one writer may have a conversation open
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

  /** How the screen is given to another program for a while. */
  lendScreen(lend: Lend): void {
    this.#lend = lend
  }

  /** How sequences reach the terminal beside what is drawn. */
  writeThrough(write: (sequence: string) => void): void {
    this.#write = write
  }

  async undo(request: UndoRequest): Promise<void> {
    const report = await this.agent.conversation.undo({ ...request, by: "chat" })
    this.#show()
    this.notice(undoSentence(report))
  }

  async rewind(uuid: string, restore?: RestoreChoice): Promise<void> {
    const { conversation: chat } = this.agent
    const putBack = async () => (restore ? restoredSentence(await chat.restoreFiles(restore.plan, restore)) : undefined)
    let outcome: string | undefined
    for await (const entry of chat.entries()) {
      if (entry.uuid !== uuid || entry.type !== "user") continue
      if (entry.parentUuid === null) {
        outcome = await putBack() // the old conversation records it; the new one knows none of these files
        await this.clear()
      } else {
        await chat.rewind(entry.parentUuid)
        outcome = await putBack()
        this.#show()
      }
      if (outcome) this.notice(outcome)
      const text = this.store.abbreviate(textOf(entry.message.content), { isWritten: true })
      this.store.dispatch({ type: "edited", editor: editorWith(text ?? "") })
      return this.notice("Edit your message or send it again. The journal keeps everything after it.")
    }
  }

  expand(nth: number): void {
    const folded = this.store.snapshot().items.flatMap((item) => openedItem(item) ?? [])
    const opened = folded.at(-nth)
    if (opened) this.print(opened.title, opened.lines)
    else
      this.notice(
        folded.length === 0
          ? "There is nothing to expand yet."
          : `Only ${counted(folded.length, "item is", "items are")} folded.`,
      )
  }

  /** Stops the command that the person runs, or else the agent, or else the summary that is prepared. */
  interrupt(): boolean {
    const isPreparing = this.#preparing !== undefined
    this.#preparing?.abort()
    if (this.#shell.stop()) return true
    const { isBusy } = this.#work
    this.#work.interrupt()
    if (isBusy || !this.agent.conversation.dropPrepared()) return isBusy || isPreparing
    this.notice(
      "The prepared summary was dropped. The notes are updated again once the conversation has grown by a tenth.",
    )
    return true
  }

  goBack(): void {
    void this.perform("/rewind")
  }

  /** Takes an input: remembers it for the up key and carries it out. */
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
        `/${found.command.name} has to wait: interrupt ${this.#shell.isRunning ? "your command" : "the agent"} with Esc first.`,
      )
    else await this.#guard(Promise.resolve(found.command.run(this, found.argument)))
  }

  /** A message may be about what the person's command prints, so it goes to a resting agent when the command has ended. */
  async #sendAfterCommand(line: string, unknown: string | undefined): Promise<void> {
    if (this.#shell.isRunning && !this.#work.isBusy) {
      this.notice("Your message goes out when your command has ended. Esc stops the command.")
      await this.#shell.ended
      if (this.#isLeaving) return
    }
    return this.#sendOr(line, unknown)
  }

  /** Sends a line, or what one of the other commands makes of it. `unknown` is said if no such command exists. */
  async #sendOr(line: string, unknown: string | undefined): Promise<void> {
    if (!line.startsWith("/")) return (await this.#mayCost(line)) ? this.#work.send(line) : undefined
    const { agent, ask } = this
    const commands = await this.ownCommands()
    const preparing = new AbortController()
    this.#preparing = preparing
    const asked = this.#askedTools
    const { isBusy } = this.#work
    const own = await ownMessage(line, { commands, agent, ask, asked, isBusy, signal: preparing.signal }).finally(
      () => {
        this.#preparing = undefined
      },
    )
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
    this.notice(`Remembered in ${location}/${file}. To take it back: strata memory forget ${stemOf(file)}`)
  }

  async #replace(input: Pick<SessionInput, "resumed" | "model" | "startedBy">): Promise<void> {
    this.store.dispatch({ type: "work", work: { type: "opening" } })
    try {
      if (input.resumed) await this.#endings.done // it may be the one that is still being closed
      const next = await openPersonSession({
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

  /** Shows what happens in the background of the current agent: what layers report, and the dreams in the status line. */
  #watch(): void {
    this.#stopWatching()
    this.agent.showEditor(this.#editor)
    const stops = [this.#work.watch(), this.agent.dreaming?.on(() => this.#work.refresh())]
    this.#stopWatching = () => {
      for (const stop of stops) stop?.()
    }
  }

  #show(): void {
    this.#watch()
    const { context, compactions } = this.agent.conversation.views
    const { tokensAfter } = compactions.last ?? {}
    const items = [
      headingOf(this.agent, this.#workspace.cwd),
      ...pastItems(context.storedMessages(), tokensAfter === undefined ? {} : { tokensAfter }),
    ]
    this.store.dispatch({ type: "opened", status: statusOf(this.agent), queued: queuedOf(this.agent), items })
    this.#warn()
    if (items.length > 1) void this.#guard(this.#price.say())
  }

  /** Whether a message is sent that a pause has made expensive. One that is not sent goes back to the input. */
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
