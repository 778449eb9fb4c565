/** Holds the state of a chat, notifies listeners of changes, and asks the person questions. */
import { errorReason } from "@strata/core/base"
import { type Dialog, type DialogAnswer, pressInDialog } from "./dialog.ts"
import { historyOf } from "./input-history.ts"
import type { Intent } from "./keys.ts"
import type { Pastes } from "./pastes.ts"
import { type ChatAction, reduce } from "./reduce.ts"
import { type ChatState, initialState, type Status } from "./state.ts"
import type { Ask } from "./terminal-user.ts"

/** Shown until a conversation is open. */
const NO_CONVERSATION: Status = {
  model: "",
  mode: "ask",
  percentLeft: 100,
  fill: "fine",
  dollars: 0,
  isPriceIncomplete: false,
  turns: 0,
}

/** How long the keyboard must rest before a question of the agent takes keys: what someone is typing must not answer it. */
export const QUIET_MS = 500

/** Calls back after a while; the result cancels it. */
export type Pause = (ms: number, then: () => void) => () => void

const realPause: Pause = (ms, then) => {
  const timer = setTimeout(then, ms)
  return () => clearTimeout(timer)
}

export interface ChatStoreOptions {
  readonly pause?: Pause
  /** Keeps long texts out of the input line. */
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
  /** The last dialog that was on the screen. */
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
    // a stream brings many changes at once: draw them together
    this.#isNotifying = true
    setImmediate(() => {
      this.#isNotifying = false
      for (const listener of this.#listeners) listener()
    })
  }

  say(text: string, tone: "plain" | "warning" | "error"): void {
    this.dispatch({ type: "said", item: { kind: "notice", tone, text } })
  }

  /** Shows why something failed. */
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

  /** What belongs into the input line for a text. `undefined` for one that is too long for a message: then the person sees why. */
  abbreviate(text: string, given: { readonly isWritten?: boolean } = {}): string | undefined {
    const abbreviated = this.#pastes?.abbreviate(text, given) ?? { state: "abbreviated", text }
    if (abbreviated.state === "abbreviated") return abbreviated.text
    this.say(abbreviated.why, "warning")
    return undefined
  }

  /** What the person means by a line. */
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

  /** The dialog is on the screen. One that the person asked for takes keys at once. */
  painted(id: string): void {
    const [dialog] = this.#state.dialogs
    if (dialog?.id !== id || this.#painted === id) return
    this.#painted = id
    if (dialog.from === "command") this.dispatch({ type: "ready", id })
    else this.#readyWhenQuiet(id)
  }

  /** The person is still typing, so the dialog waits longer. */
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

  /** Closes the agent's questions: it no longer waits for an answer. Sub-agents that still work keep theirs. */
  dismissAgent(working: readonly string[] = []): void {
    const open = this.#state.dialogs.filter(
      ({ from, agent }) => from === "agent" && (agent === undefined || !working.includes(agent)),
    )
    for (const { id } of open) this.#answer(id, { type: "dismissed" })
  }

  /** Closes a question that needs no answer any more. */
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
