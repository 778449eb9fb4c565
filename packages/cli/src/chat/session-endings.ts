/**
 * Closes sessions in the background, one after another. Closing waits a limited time for the extraction of memories; if it takes longer,
 * they are written when the conversation is continued.
 */
import { pluralize } from "../display/numbers.ts"
import { workingAgents } from "./snapshot.ts"
import type { ChatStore } from "./store.ts"
import type { UserSession } from "./user-session.ts"

/** Limit for an extraction of a few requests, because the user wants to leave. */
const MEMORY_TIMEOUT_MS = 10_000

export class SessionEndings {
  readonly #store: ChatStore
  readonly #hurried = Promise.withResolvers<void>()
  #finishing: Promise<void> = Promise.resolve()

  constructor(store: ChatStore) {
    this.#store = store
  }

  /** Resolves when all sessions are closed. */
  get done(): Promise<void> {
    return this.#finishing
  }

  /** Stops waiting for memories. */
  hurry(): void {
    this.#hurried.resolve()
  }

  close(session: UserSession): void {
    this.sayStopped(session)
    const { extracting } = session.agent
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, MEMORY_TIMEOUT_MS)
    const isAnswered = !this.isAskedAboutMemory
    const written = extracting && isAnswered ? Promise.race([extracting, late, this.#hurried.promise]) : undefined
    const closed = (written ?? Promise.resolve()).finally(() => clearTimeout(timer)).then(() => session.close())
    const before = this.#finishing
    this.#finishing = closed.then(() => before)
    this.#finishing.catch((error: unknown) => this.#store.fail(error))
  }

  /** Reports that sub-agents were stopped, because they work only while their conversation is open. Their journals stay. */
  sayStopped({ agent }: UserSession): void {
    const working = workingAgents(agent).length
    if (working > 0)
      this.#store.say(`${pluralize(working, "agent is", "agents are")} stopped. /agents shows what they did.`, "plain")
  }

  get isAskedAboutMemory(): boolean {
    return this.#store.snapshot().dialogs.some(({ from }) => from === "background")
  }
}
