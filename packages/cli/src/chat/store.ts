/** Stores the state of a chat, notifies listeners of changes, and asks the user questions. */
import { errorReason } from "@strata/core/base"
import { type Dialog, type DialogAnswer, pressInDialog } from "./dialog.ts"
import { historyOf } from "./input-history.ts"
import type { Intent } from "./keys.ts"
import type { Pastes } from "./pastes.ts"
import { type ChatAction, reduce } from "./reduce.ts"
import { type ChatState, initialState, type Status } from "./state.ts"
import type { Ask } from "./terminal-user.ts"

/** Status before a conversation is open. */
const NO_CONVERSATION: Status = {
  model: "",
  mode: "ask",
  percentLeft: 100,
  fill: "fine",
  dollars: 0,
  isPriceIncomplete: false,
  turns: 0,
}

/** Time without a key press before a question of the agent accepts keys, so that typing cannot answer it by accident. */
export const QUIET_MS = 500

/** Schedules a callback and returns a function that cancels it. */
export type Pause = (ms: number, then: () => void) => () => void

const realPause: Pause = (ms, then) => {
  const timer = setTimeout(then, ms)
  return () => clearTimeout(timer)
}

export interface ChatStoreOptions {
  readonly pause?: Pause
  /** Replaces long texts in the input line with labels. */
  readonly pastes?: Pastes
}

const sentenceOf = (error: unknown) => (error instanceof Error ? error.message : errorReason(error))

export class ChatStore {
  readonly #listeners = new Set<() => void>()
  readonly #answers = new Map<string, (answer: DialogAnswer) => void>()
  #state: ChatState
  #asked = 0
  #isNotifying = false
  readonly #pause: Pause
  readonly #pastes: Pastes | undefined
  #cancelPause: () => void = () => {}
  /** Id of the last dialog that was drawn. */
  #painted: string | undefined

  constructor(inputs: readonly string[], { pause = realPause, pastes }: ChatStoreOptions = {}) {
    this.#pause = pause
    this.#pastes = pastes
    this.#state = initialState(NO_CONVERSATION, historyOf(inputs))
  }

  readonly snapshot = (): ChatState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  dispatch(action: ChatAction): void {
    this.#state = reduce(this.#state, action)
    if (this.#isNotifying) return
    // batches the many changes of a stream into one draw
    this.#isNotifying = true
    setImmediate(() => {
      this.#isNotifying = false
      for (const listener of this.#listeners) listener()
    })
  }

  say(text: string, tone: "plain" | "warning" | "error"): void {
    this.dispatch({ type: "said", item: { kind: "notice", tone, text } })
  }

  /** Shows an error. */
  fail(error: unknown): void {
    this.say(sentenceOf(error), "error")
  }

  /** Shows why a message was not sent, and puts it back into the input. */
  giveBack(text: string, error: unknown): void {
    this.putBack(text)
    this.fail(error)
  }

  /** Puts a message that was not sent back into the input. */
  putBack(text: string): void {
    this.dispatch({ type: "returned", text: this.abbreviate(text, { isWritten: true }) ?? "" })
  }

  /**
   * The text for the input line, with a label if it is long. If it is too long for a message, it shows a warning and returns `undefined`.
   */
  abbreviate(text: string, given: { readonly isWritten?: boolean } = {}): string | undefined {
    const abbreviated = this.#pastes?.abbreviate(text, given) ?? { state: "abbreviated", text }
    if (abbreviated.state === "abbreviated") return abbreviated.text
    this.say(abbreviated.why, "warning")
    return undefined
  }

  /** The line with the texts of its labels. */
  inFull(line: string): string {
    return this.#pastes?.inFull(line) ?? line
  }

  readonly ask: Ask = (draft) => {
    const id = `question-${++this.#asked}`
    const { promise, resolve } = Promise.withResolvers<DialogAnswer>()
    this.#answers.set(id, resolve)
    this.dispatch({ type: "asked", dialog: { selected: 0, from: "command", ...draft, id } })
    return promise
  }

  /** Called when the dialog is on the screen. A dialog that the user requested takes keys at once. */
  painted(id: string): void {
    const [dialog] = this.#state.dialogs
    if (dialog?.id !== id || this.#painted === id) return
    this.#painted = id
    if (dialog.from === "command") this.dispatch({ type: "ready", id })
    else this.#readyWhenQuiet(id)
  }

  /** Restarts the delay, because the user is still typing. */
  postpone(id: string): void {
    if (this.#painted === id) this.#readyWhenQuiet(id)
  }

  #readyWhenQuiet(id: string): void {
    this.#cancelPause()
    this.#cancelPause = this.#pause(QUIET_MS, () => this.dispatch({ type: "ready", id }))
  }

  pressInDialog(dialog: Dialog, intent: Intent): DialogAnswer | undefined {
    const step = pressInDialog(dialog, intent)
    if (step.type === "open") this.dispatch({ type: "dialog", dialog: step.dialog })
    else this.#answer(dialog.id, step.answer)
    return step.type === "answered" ? step.answer : undefined
  }

  /** Closes the agent's questions, because it no longer waits for answers. Questions of working sub-agents stay open. */
  dismissAgent(working: readonly string[] = []): void {
    const open = this.#state.dialogs.filter(
      ({ from, agent }) => from === "agent" && (agent === undefined || !working.includes(agent)),
    )
    for (const { id } of open) this.#answer(id, { type: "dismissed" })
  }

  /** Closes a question that no longer needs an answer. */
  dismiss(title: string): void {
    const open = this.#state.dialogs.filter((dialog) => dialog.title === title)
    for (const { id } of open) this.#answer(id, { type: "dismissed" })
  }

  /** Closes the questions of sub-agents that have ended. */
  dismissSubAgents(working: readonly string[]): void {
    const open = this.#state.dialogs.filter(({ agent }) => agent !== undefined && !working.includes(agent))
    for (const { id } of open) this.#answer(id, { type: "dismissed" })
  }

  #answer(id: string, answer: DialogAnswer): void {
    const reply = answer.type === "chosen" && answer.reply !== undefined ? { reply: this.inFull(answer.reply) } : {}
    this.#answers.get(id)?.({ ...answer, ...reply })
    this.#answers.delete(id)
    this.dispatch({ type: "answered", id })
  }
}
