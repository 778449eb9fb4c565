/**
 * The permits of a conversation's agents among all agents that work for the project at once, over all processes. An agent has one while it
 * works. A teammate that waits has none.
 */
import type { Clock } from "../base/clock.ts"
import { type Ids, randomIds } from "../base/clock.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { PermitAttempt, TakenPermit } from "../journal/permit.ts"

const PAUSE_MS = 5_000 // other processes do not say when a permit is free

export interface AgentPermitsParts {
  readonly lead: () => Pick<Conversation, "agentPermit" | "flags">
  readonly clock: Clock
  /** A permit may be free by now. */
  readonly onChance: () => void
  /** No id of a permit reaches a journal. Default: random. */
  readonly ids?: Ids
}

export class AgentPermits {
  readonly #parts: AgentPermitsParts
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: AgentPermitsParts) {
    this.#parts = parts
  }

  /** All are asked for at once and answered in the order of the calls: agents are numbered in the order in which they were ordered. */
  take(): Promise<PermitAttempt> {
    const { lead, ids = randomIds } = this.#parts
    const { flags } = lead()
    const asked = lead().agentPermit({ id: ids.uuid(), max: flags.figures["max-agents-project"] })
    const answered = this.#last.then(() => asked)
    this.#last = Promise.allSettled([asked, answered])
    return answered
  }

  /** For a teammate that has a message. Nothing while all are taken: it is called when it should ask again. */
  async takeAgain(signal: AbortSignal): Promise<TakenPermit | undefined> {
    const attempt = await this.take()
    if (attempt.state === "acquired") return attempt.permit
    const { clock, onChance } = this.#parts
    const cancel = keptAlive(clock, onChance)
    signal.addEventListener("abort", cancel, { once: true })
    return undefined
  }
}

/** A run must not end while one of its agents waits for its turn. */
function keptAlive(clock: Clock, call: () => void): () => void {
  if (clock.after) return clock.after(PAUSE_MS, call)
  const timer = setTimeout(call, PAUSE_MS)
  return () => clearTimeout(timer)
}
