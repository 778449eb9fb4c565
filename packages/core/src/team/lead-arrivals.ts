/**
 * What reaches the lead: results of agents that ended, then messages. Results come from the journal's own account of what was delivered,
 * so each comes exactly once, also after a crash.
 */
import type { Arrival, Arrivals } from "../agent/companions.ts"
import type { AgentRecord } from "../views/record/agents.ts"
import { Inbox } from "./inbox.ts"

/** Where else things for the lead come from, such as a mailbox. */
export interface ArrivalSource
  extends Pick<Arrivals, "take" | "hasAny" | "notices">,
    Partial<Pick<Arrivals, "whenAny">> {
  /** A query begins. The result is called when it has ended. */
  follow?(): () => void
  close(): Promise<void>
}

export interface LeadArrivalsParts {
  /** Agents that ended and whose result the lead does not have. */
  readonly due: () => readonly AgentRecord[]
  readonly resultOf: (record: AgentRecord) => Promise<Arrival>
  /** Whether an agent works that could bring something. */
  readonly isWorking: () => boolean
}

export class LeadArrivals implements Arrivals {
  readonly inbox = new Inbox()
  readonly #parts: LeadArrivalsParts
  readonly #sources: ArrivalSource[] = []
  #notices: string[] = []
  readonly #waiting = new Set<() => void>()

  constructor(parts: LeadArrivalsParts) {
    this.#parts = parts
  }

  addSource(source: ArrivalSource): void {
    this.#sources.push(source)
  }

  async take(): Promise<readonly Arrival[]> {
    const results = await Promise.all(this.#parts.due().map((record) => this.#parts.resultOf(record)))
    const others = await Promise.all(this.#sources.map((source) => source.take()))
    return [...results, ...this.inbox.arrivals(), ...others.flat()]
  }

  notices(): readonly string[] {
    const own = this.#notices
    this.#notices = []
    return [...own, ...this.#sources.flatMap((source) => source.notices?.() ?? [])]
  }

  /** Says something to the person, with the next arrivals. */
  notice(text: string): void {
    this.#notices.push(text)
  }

  async close(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.close()))
  }

  get hasAny(): boolean {
    return this.#parts.due().length > 0 || this.inbox.size > 0 || this.#sources.some(({ hasAny }) => hasAny)
  }

  async whenAny(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      if (signal.aborted) return false
      if (this.hasAny) return true
      if (this.#parts.isWorking()) await this.nextChange(signal)
      else if (!(await this.#fromElsewhere(signal))) return this.hasAny && !signal.aborted
    }
  }

  follow(): () => void {
    const ends = this.#sources.map((source) => source.follow?.())
    return () => {
      for (const end of ends) end?.()
    }
  }

  /** Waits for the sources, until something changes here. `false` where nothing more comes. */
  async #fromElsewhere(signal: AbortSignal): Promise<boolean> {
    const stop = new AbortController()
    const either = AbortSignal.any([signal, stop.signal])
    let hasChanged = false
    const change = this.nextChange(either).then(() => {
      hasChanged = !either.aborted
      stop.abort()
    })
    const more = await Promise.all(this.#sources.map(async (source) => source.whenAny?.(either)))
    stop.abort()
    await change
    return hasChanged || more.includes(true)
  }

  /** Something ended, began or arrived. */
  changed(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  nextChange(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener("abort", wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener("abort", wake)
    })
  }
}
