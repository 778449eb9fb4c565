/**
 * The chat between screen and agent: takes what the person does, lets the agent work, and keeps what is shown up to date. It knows nothing
 * of ink.
 */
import type { ConversationListing } from "@strata/core"
import type { Agent, PermissionMode, QueryEvent } from "@strata/core/agent"
import { reasonOf, textOf } from "@strata/core/parts"
import { type Compacting, type CompactingEnd, type CompactRequest, compactingEvents } from "../compacting.ts"
import { counted, firstLine, TITLE_COLUMNS } from "../display/wording.ts"
import { conversationsOf, type SessionQuestion, type Workspace } from "../session.ts"
import { editorWith } from "./editor.ts"
import { openedItem } from "./folded.ts"
import { type HistoryFile, historyFile } from "./input-history.ts"
import { pastItems } from "./past-items.ts"
import type { Ask } from "./person.ts"
import { openPersonSession, type PersonSession } from "./person-session.ts"
import { type CommandTarget, findCommand } from "./slash-commands.ts"
import { headingOf, queuedOf, statusOf } from "./snapshot.ts"
import type { Item } from "./state.ts"
import { ChatStore } from "./store.ts"

/** Events behind which the figures of the status line may be others. */
const CHANGES_STATUS: ReadonlySet<QueryEvent["type"]> = new Set([
  "request",
  "response",
  "tool-result",
  "compacted",
  "done",
])

interface ChatParts {
  readonly workspace: Workspace
  readonly store: ChatStore
  readonly session: PersonSession
  readonly inputs: HistoryFile
}

export async function openChat(workspace: Workspace, resumed: ConversationListing | undefined): Promise<Chat> {
  const inputs = historyFile(workspace.root, workspace.project)
  const store = new ChatStore(await inputs.read())
  const session = await openPersonSession({ ask: store.ask, workspace, resumed })
  return new Chat({ workspace, store, session, inputs })
}

export class Chat implements CommandTarget {
  readonly store: ChatStore
  readonly #workspace: Workspace
  readonly #inputs: HistoryFile
  readonly #warned = new Set<string>()
  readonly #left = Promise.withResolvers<void>()
  #session: PersonSession
  #interruption: AbortController | undefined
  #isClosing = false
  #work: Promise<void> = Promise.resolve()

  constructor({ workspace, store, session, inputs }: ChatParts) {
    this.#workspace = workspace
    this.store = store
    this.#session = session
    this.#inputs = inputs
    this.#show()
  }

  get agent(): Agent {
    return this.#session.agent
  }

  get ask(): Ask {
    return this.store.ask
  }

  /** Resolves when the person wants to leave. */
  get left(): Promise<void> {
    return this.#left.promise
  }

  now(): Date {
    return new Date()
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.interrupt()
    await this.#work
    await this.#session.close()
  }

  leave(): void {
    this.#left.resolve()
  }

  print(title: string, lines: readonly string[]): void {
    this.#say({ kind: "panel", title, lines })
  }

  notice(text: string): void {
    this.#say({ kind: "notice", tone: "plain", text })
  }

  conversations(): Promise<readonly ConversationListing[]> {
    return conversationsOf(this.#workspace)
  }

  async resume(resumed: ConversationListing): Promise<void> {
    await this.#replace({ resumed })
  }

  async clear(): Promise<void> {
    await this.#replace({ model: this.agent.model.name })
  }

  /** By hand (L4-24). Esc gives up; words typed meanwhile are kept, and answered afterwards. */
  compact(order: CompactRequest["order"]): Promise<void> {
    return this.#busy(async (signal) => {
      const end = await this.#compacting({ work: (given) => this.agent.chat.compact(order, given), signal })
      if (end.kind === "failed") throw end.error
    })
  }

  /** WIN-7: room is made by the model that has read it all; where it cannot be made, the conversation stays with that one. */
  switchModel(name: string): Promise<void> {
    return this.#busy(async (signal) => {
      const { chat, model } = this.agent
      const target = this.#workspace.connection.model(name, chat.settings.values.models)
      const end = await this.#compacting({ work: (given) => this.agent.makeRoomFor(target, given), signal })
      if (end.kind === "done") await this.#reopenWith(name)
      if (end.kind !== "failed") return
      this.#say({ kind: "notice", tone: "error", text: `${end.message} It goes on with ${model.name}.` })
    })
  }

  async #reopenWith(model: string): Promise<void> {
    const { chat, mode, model: before } = this.agent
    const { allowed } = this.#session
    const resumed = (await this.conversations()).find(({ id }) => id === chat.id)
    const reopen = (name: string) =>
      openPersonSession({ ask: this.ask, workspace: this.#workspace, resumed, model: name, mode, allowed })
    await this.#session.close() // a conversation is open in one place only
    try {
      this.#session = await reopen(model)
    } catch (error) {
      this.#session = await reopen(before.name)
      throw error
    }
    this.#refresh()
    this.notice(`${model} goes on from here; before it was ${before.name}.`)
  }

  switchMode(mode: PermissionMode): void {
    this.agent.setMode(mode)
    this.#refresh()
  }

  async rewind(uuid: string): Promise<void> {
    const { chat } = this.agent
    for await (const entry of chat.entries()) {
      if (entry.uuid !== uuid || entry.type !== "user") continue
      if (entry.parentUuid === null) await this.clear()
      else {
        await chat.rewind(entry.parentUuid)
        this.#show()
      }
      const text = textOf(entry.message.content)
      this.store.dispatch({ type: "edited", editor: editorWith(text) })
      return this.notice("What came after is kept in the journal. Change your words, or send them again.")
    }
  }

  expand(nth: number): void {
    const folded = this.store.snapshot().items.flatMap((item) => openedItem(item) ?? [])
    const opened = folded.at(-nth)
    if (opened) this.print(opened.title, opened.lines)
    else
      this.notice(
        folded.length === 0
          ? "Nothing is folded yet."
          : `Only ${counted(folded.length, "thing is", "things are")} folded.`,
      )
  }

  /** Ends what the agent is doing; what it has done so far is kept. */
  interrupt(): void {
    if (!this.#interruption) return
    this.#interruption.abort()
    this.store.dispatch({ type: "work", work: { type: "interrupting" } })
    this.store.dismissAgent()
  }

  /** Takes in a whole input: keeps it for the up key and carries it out. */
  submit(text: string): void {
    if (text.trim() === "") return
    this.store.dispatch({ type: "submitted", text })
    this.#guard(this.#inputs.add(text))
    this.perform(text)
  }

  /** Carries out a command; whatever is none is said to the agent. */
  perform(text: string): void {
    const found = findCommand(text)
    if (!found) this.#guard(this.#send(text.trim()))
    else if (found.type === "unknown") this.#say({ kind: "notice", tone: "warning", text: found.message })
    else if (found.command.needsRest && this.#interruption)
      this.notice(`/${found.command.name} has to wait: interrupt the agent with Esc first.`)
    else this.#guard(Promise.resolve(found.command.run(this, found.argument)))
  }

  /** LOOP-7: what is typed while the agent works is kept at once and delivered at its next turn. */
  async #send(text: string): Promise<void> {
    if (!this.#interruption) return this.#start(text)
    await this.agent.enqueue(text)
    this.#refresh()
    if (!this.#interruption) this.#start(undefined)
  }

  #start(prompt: string | undefined): void {
    this.#interruption = new AbortController()
    const { signal } = this.#interruption
    this.#work = this.#follow(this.agent.query(prompt, { ...this.#workspace.limits, signal }))
      .then(({ reason }) => reason === "answer" || reason === "aborted")
      .catch((error: unknown) => this.#fail(error))
      .then((mayGoOn) => this.#rest(mayGoOn === true))
  }

  /** Work that is no query. Whatever it ends with, words typed meanwhile are then answered. */
  async #busy(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#interruption = new AbortController()
    const running = work(this.#interruption.signal)
    this.#work = running.catch(() => undefined).then(() => this.#rest(true)) // what failed is told by the caller
    await running
  }

  async #compacting(compacting: Omit<Compacting, "agent">): Promise<CompactingEnd> {
    const end = await this.#follow(compactingEvents({ agent: this.agent, ...compacting }))
    if (end.kind === "given-up") this.notice("Given up. Nothing was changed.")
    return end
  }

  /** Shows what happens, and resolves with how it ended. */
  async #follow<End>(events: AsyncGenerator<QueryEvent, End>): Promise<End> {
    this.store.dispatch({ type: "work", work: { type: "working", since: this.now().getTime() } })
    for (;;) {
      const { value, done } = await events.next()
      if (done) return value
      this.store.dispatch({ type: "event", event: value, at: this.now().getTime() })
      if (value.type === "user") await this.#nameOnce(value.text)
      if (CHANGES_STATUS.has(value.type)) this.#refresh()
    }
  }

  /** After the work: words that still wait begin another one, unless the work ended because nothing more can be sent. */
  #rest(mayGoOn: boolean): void {
    this.#interruption = undefined
    this.store.dismissAgent()
    this.store.dispatch({ type: "work", work: { type: "idle" } })
    if (mayGoOn && !this.#isClosing && this.agent.chat.views.context.queued.length > 0) this.#start(undefined)
  }

  /** A list of conversations is read by their titles: without one, the first words stand for it. */
  async #nameOnce(words: string): Promise<void> {
    if (this.agent.chat.views.context.session?.title === undefined)
      await this.agent.chat.setTitle(firstLine(words, TITLE_COLUMNS))
  }

  async #replace(question: Pick<SessionQuestion, "resumed" | "model">): Promise<void> {
    this.store.dispatch({ type: "work", work: { type: "opening" } })
    try {
      const next = await openPersonSession({
        ask: this.ask,
        workspace: this.#workspace,
        mode: this.agent.mode,
        ...question,
      })
      await this.#session.close()
      this.#session = next
      this.#show()
    } finally {
      this.store.dispatch({ type: "work", work: { type: "idle" } })
    }
  }

  #show(): void {
    const { context, compactions } = this.agent.chat.views
    const { tokensAfter } = compactions.last ?? {}
    const items = [
      headingOf(this.agent, this.#workspace.cwd),
      ...pastItems(context.storedMessages(), tokensAfter === undefined ? {} : { tokensAfter }),
    ]
    this.store.dispatch({ type: "opened", status: statusOf(this.agent), queued: queuedOf(this.agent), items })
    for (const text of this.#session.problems) this.#warnOnce(text)
  }

  #refresh(): void {
    this.store.dispatch({ type: "status", status: statusOf(this.agent), queued: queuedOf(this.agent) })
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return
    this.#warned.add(text)
    this.#say({ kind: "notice", tone: "warning", text })
  }

  #say(item: Item): void {
    this.store.dispatch({ type: "said", item })
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.#fail(error))
  }

  #fail(error: unknown): undefined {
    this.#say({ kind: "notice", tone: "error", text: error instanceof Error ? error.message : reasonOf(error) })
  }
}
