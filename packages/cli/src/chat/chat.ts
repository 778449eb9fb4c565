/**
 * The chat between screen and agent: takes what the person does, lets the agent work, and keeps what is shown up to date. It knows nothing
 * of ink.
 */
import type { ConversationListing } from "@strata/core"
import type { Agent, PermissionMode, QueryEnd, QueryEvent } from "@strata/core/agent"
import { reasonOf, textOf } from "@strata/core/parts"
import { conversationsOf, openSession, type Session, type SessionQuestion, type Workspace } from "../session.ts"
import { firstLine, TITLE_CHARACTERS } from "../wording.ts"
import { editorWith } from "./editor.ts"
import { type HistoryFile, historyFile } from "./input-history.ts"
import { pastItems } from "./past-items.ts"
import { type Ask, personAt } from "./person.ts"
import { type CommandTarget, findCommand } from "./slash-commands.ts"
import { headingOf, queuedOf, statusOf } from "./snapshot.ts"
import type { Item } from "./state.ts"
import { ChatStore } from "./store.ts"

/** Events behind which the figures of the status line may be others. */
const CHANGES_STATUS: ReadonlySet<QueryEvent["type"]> = new Set(["request", "response", "tool-result", "done"])

interface ChatParts {
  readonly workspace: Workspace
  readonly store: ChatStore
  readonly session: Session
  readonly inputs: HistoryFile
}

export async function openChat(workspace: Workspace, resumed: ConversationListing | undefined): Promise<Chat> {
  const inputs = historyFile(workspace.root, workspace.project)
  const store = new ChatStore(await inputs.read())
  const session = await openWith(store, { workspace, resumed })
  return new Chat({ workspace, store, session, inputs })
}

/** A session whose agent asks the person in front of the screen. */
async function openWith(store: ChatStore, question: Omit<SessionQuestion, "person">): Promise<Session> {
  let session: Session | undefined
  const person = personAt({
    ask: store.ask,
    project: question.workspace.cwd,
    allow: (rule) => session?.agent.allow(rule),
  })
  session = await openSession({ ...question, person })
  return session
}

export class Chat implements CommandTarget {
  readonly store: ChatStore
  readonly #workspace: Workspace
  readonly #inputs: HistoryFile
  readonly #warned = new Set<string>()
  readonly #left = Promise.withResolvers<void>()
  #session: Session
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

  async switchModel(model: string): Promise<void> {
    const { chat, mode, model: before } = this.agent
    const resumed = (await this.conversations()).find(({ id }) => id === chat.id)
    const reopen = (name: string) => openWith(this.store, { workspace: this.#workspace, resumed, model: name, mode })
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
    const folded = this.store
      .snapshot()
      .items.filter((item) => (item.kind === "tool" && item.outcome) || item.kind === "thinking")
    const item = folded.at(-nth)
    if (item?.kind === "thinking") this.print("Thinking", item.text.split("\n"))
    else if (item?.kind === "tool") this.print(`${item.name} ${item.summary}`, item.outcome!.whole.split("\n"))
    else this.notice(folded.length === 0 ? "Nothing is folded yet." : `Only ${folded.length} things are folded.`)
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
    this.#work = this.#follow(prompt, this.#interruption.signal)
      .catch((error: unknown) => this.#fail(error))
      .then((end) => this.#rest(end))
  }

  async #follow(prompt: string | undefined, signal: AbortSignal): Promise<QueryEnd["reason"] | undefined> {
    let end: QueryEnd["reason"] | undefined
    this.store.dispatch({ type: "work", work: { type: "working", since: this.now().getTime() } })
    for await (const event of this.agent.query(prompt, { ...this.#workspace.limits, signal })) {
      this.store.dispatch({ type: "event", event, at: this.now().getTime() })
      if (event.type === "user") await this.#nameOnce(event.text)
      if (event.type === "done") end = event.reason
      if (CHANGES_STATUS.has(event.type)) this.#refresh()
    }
    return end
  }

  /** After the work: words that still wait begin another one, unless the work ended because nothing more can be sent. */
  #rest(end: QueryEnd["reason"] | undefined): void {
    this.#interruption = undefined
    this.store.dismissAgent()
    this.store.dispatch({ type: "work", work: { type: "idle" } })
    const mayGoOn = !this.#isClosing && (end === "answer" || end === "aborted")
    if (mayGoOn && this.agent.chat.views.context.queued.length > 0) this.#start(undefined)
  }

  /** A list of conversations is read by their titles: without one, the first words stand for it. */
  async #nameOnce(words: string): Promise<void> {
    if (this.agent.chat.views.context.session?.title === undefined)
      await this.agent.chat.setTitle(firstLine(words, TITLE_CHARACTERS))
  }

  async #replace(question: Pick<SessionQuestion, "resumed" | "model">): Promise<void> {
    this.store.dispatch({ type: "work", work: { type: "opening" } })
    try {
      const next = await openWith(this.store, { workspace: this.#workspace, mode: this.agent.mode, ...question })
      await this.#session.close()
      this.#session = next
      this.#show()
    } finally {
      this.store.dispatch({ type: "work", work: { type: "idle" } })
    }
  }

  #show(): void {
    const items = [
      headingOf(this.agent, this.#workspace.cwd),
      ...pastItems(this.agent.chat.views.context.storedMessages()),
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
