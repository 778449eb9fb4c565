/**
 * Limits how many agents work for a project at once, across all processes: a working agent holds a permit, and a teammate that waits for
 * messages holds none.
 */
import type { Clock } from "../base/clock.ts"
import { type Ids, randomIds } from "../base/clock.ts"
import type { Engine } from "../conversation/engine.ts"
import type { PermitAttempt, PermitRequest, TakenPermit } from "../journal/permit.ts"

const PAUSE_MS = 5_000 // other processes do not report when they release a permit

export interface AgentPermitsDependencies {
  readonly attachLead: () => Engine
  readonly clock: Clock
  /** Called when a retry may succeed. */
  readonly onChance: () => void
  /** Source of permit ids. They never reach a journal. Default: random. */
  readonly ids?: Ids
}

export class AgentPermits {
  readonly #parts: AgentPermitsDependencies
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: AgentPermitsDependencies) {
    this.#parts = parts
  }

  /** Requests run concurrently, but their results arrive in call order, because agents are numbered in the order they were started. */
  take(): Promise<PermitAttempt> {
    const { attachLead, ids = randomIds } = this.#parts
    const engine = attachLead()
    const requested = takePermit(engine, { id: ids.uuid(), max: engine.flags.figures["max-agents-project"] })
    const answered = this.#last.then(() => requested)
    this.#last = Promise.allSettled([requested, answered])
    return answered
  }

  /**
   * Requests a permit for a teammate with a new message. Resolves with `undefined` while all are taken, and then calls `onChance` after a
   * pause.
   */
  async takeAgain(signal: AbortSignal): Promise<TakenPermit | undefined> {
    const attempt = await this.take()
    if (attempt.state === "acquired") return attempt.permit
    const { clock, onChance } = this.#parts
    const cancel = callBeforeExit(clock, onChance)
    signal.addEventListener("abort", cancel, { once: true })
    return undefined
  }
}

/** Requests one at once, in no order. */
export const takePermit = ({ parts, namespace }: Engine, wanted: PermitRequest): Promise<PermitAttempt> =>
  parts.store.permit({ project: namespace, name: "agents" }).take(wanted)

/** Schedules a call and keeps the process running until then, so that it does not exit while an agent waits for a permit. */
function callBeforeExit(clock: Clock, call: () => void): () => void {
  if (clock.after) return clock.after(PAUSE_MS, call)
  const timer = setTimeout(call, PAUSE_MS)
  return () => clearTimeout(timer)
}
