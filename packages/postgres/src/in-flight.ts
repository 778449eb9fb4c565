/** Requests whose cost is not in the journal yet, noted on the server. No one waits for it: notes go out together, in their order. */

import { usableUsage } from "@strata/core/messages"
import type { InFlightLog, KeptRequests, SentRequest } from "@strata/core/store"

interface InFlightParts {
  /** What earlier processes left: a list of texts, as JSON. */
  readonly sent: string | undefined
  /** Notes what was sent and what is over. */
  readonly note: (ids: readonly string[], requests: readonly string[], over: readonly string[]) => Promise<void>
}

export class InFlight implements InFlightLog, KeptRequests {
  readonly #note: InFlightParts["note"]
  #kept: readonly SentRequest[]
  readonly #sent = new Map<string, string>()
  readonly #over = new Set<string>()
  #noting: Promise<void> | undefined

  constructor({ sent, note }: InFlightParts) {
    this.#note = note
    this.#kept = sent === undefined ? [] : (JSON.parse(sent) as readonly string[]).flatMap(requestIn)
  }

  sent(request: SentRequest): void {
    this.#over.delete(request.id)
    this.#sent.set(request.id, JSON.stringify(request))
    this.#later()
  }

  over(id: string): void {
    this.#sent.delete(id)
    this.#over.add(id)
    this.#later()
  }

  unsettled(): readonly SentRequest[] {
    return this.#kept
  }

  clear(): void {
    for (const { id } of this.#kept) this.over(id)
    this.#kept = []
  }

  /** Resolves when nothing is left to note. */
  async settled(): Promise<void> {
    while (this.#noting) await this.#noting
  }

  /** What fails is lost: it is an estimate, and the conversation goes on. */
  #later(): void {
    this.#noting ??= Promise.resolve().then(async () => {
      const [sent, over] = [[...this.#sent], [...this.#over]]
      this.#sent.clear()
      this.#over.clear()
      await this.#note(
        sent.map(([id]) => id),
        sent.map(([, request]) => request),
        over,
      ).catch(() => undefined)
      this.#noting = undefined
      if (this.#sent.size + this.#over.size > 0) this.#later()
    })
  }
}

function requestIn(text: string): readonly SentRequest[] {
  const request = JSON.parse(text) as SentRequest
  return usableUsage(request.usage) ? [request] : []
}
