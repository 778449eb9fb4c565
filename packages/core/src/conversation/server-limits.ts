/**
 * What the servers of a conversation really take, where a refusal has shown it: for each model at its address. The journal and the
 * store keep it. The newest word counts.
 */

import { reasonOf } from "../base/errors.ts"
import { Queue } from "../base/queue.ts"
import { addressOf } from "../model/address.ts"
import { PromptTooLongError } from "../model/errors.ts"
import type { Model } from "../model/model.ts"
import type { RefusedAttempt } from "../model/spending/meter.ts"
import { recogniseTooLong } from "../model/too-long-patterns.ts"
import { type LearntLimit, learntSentence, limitIn, limitKey } from "../tokens/learnt-limit.ts"
import type { Thresholds } from "../tokens/window.ts"
import type { KeptLimit } from "../views/record/limits.ts"
import { forgetLimits, type KeptLimits, keepLimit, type SharedFiles } from "./kept-limits.ts"
import type { ConversationRecord } from "./record.ts"

export interface ServerLimitsParts {
  readonly record: ConversationRecord
  /** The name of the conversation's model. */
  readonly model: string
  readonly shared: SharedLimits
  readonly window: { of(model: Named): Thresholds }
}

/** What the store keeps for all conversations, as it was when this one was opened. */
export interface SharedLimits extends KeptLimits {
  readonly files: SharedFiles
}

type Named = Pick<Model, "name" | "provider" | "address">

export class ServerLimits {
  readonly #parts: ServerLimitsParts
  /** As far as the journal does not have them yet, or never has: those of the store. */
  readonly #known: Map<string, KeptLimit>
  readonly #writes = new Queue()

  constructor(parts: ServerLimitsParts) {
    this.#parts = parts
    this.#known = new Map(parts.shared.limits.map((limit) => [limitKey(limit), limit]))
  }

  of(model: Named): KeptLimit | undefined {
    if (this.#known.size === 0 && this.#parts.record.views.limits.size === 0) return undefined // a turn asks often
    const key = limitKey({ model: model.name, address: addressOf(model) })
    const { forgotten = "" } = this.#parts.shared
    return [this.#parts.record.views.limits.get(key), this.#known.get(key)]
      .filter((limit) => limit !== undefined)
      .filter(({ learnt }) => learnt > forgotten)
      .sort((a, b) => (a.learnt < b.learnt ? 1 : -1))[0]
  }

  /** Learns from a refusal. It counts at once; the journal and the store follow. */
  refused({ error, model, estimate }: RefusedAttempt): void {
    if (!(error instanceof PromptTooLongError)) return
    const { record, shared, window, model: own } = this.#parts
    const believed = window.of(model)
    const { tokens, counted: accepted } = record.views.context.size()
    // the API has counted most of the conversation; what asks about it is larger, and a lower limit is the safer one
    const size = model.name === own ? Math.min(estimate, tokens) : estimate
    const found = limitIn(error, { estimate: size, accepted, believed })
    if (!found) return
    const limit: LearntLimit = { model: model.name, address: addressOf(model), ...found }
    const kept = { ...limit, learnt: record.clock.now().toISOString() }
    this.#known.set(limitKey(limit), kept)
    const isSmaller = limit.tokens < believed.window
    if (isSmaller) record.events.emit("notice", { message: learntSentence(limit, believed.window) })
    void this.#writes.run(async () => {
      await record.append([{ type: "strata", subtype: "limit-learnt", ...limit }])
      if (!limit.isAssumed) await keepLimit(shared.files, kept)
    })
  }

  /** What a loop of the caller's own got in place of an answer. */
  async noteRefusal(thrown: unknown, model: Named): Promise<boolean> {
    const error = asRefusal(thrown, model.provider)
    if (!error) return false
    this.refused({ error, model, estimate: this.#parts.record.views.context.size().tokens })
    await this.settled()
    return true
  }

  async forget(model: Named): Promise<boolean> {
    const limit = this.of(model)
    if (!limit) return false
    const { record, shared } = this.#parts
    const which = { model: limit.model, address: limit.address }
    this.#known.delete(limitKey(which))
    await this.settled()
    await record.append([{ type: "strata", subtype: "limit-forgotten", ...which }])
    await forgetLimits(shared.files, which)
    return true
  }

  /** Resolves when what was learnt is written. A store that cannot be written costs one more refusal later. */
  settled(): Promise<void> {
    return this.#writes.settled()
  }
}

/** Our own error, or one of any SDK by what it says. */
function asRefusal(thrown: unknown, provider: string): PromptTooLongError | undefined {
  if (thrown instanceof PromptTooLongError) return thrown
  const said = reasonOf(thrown)
  const sizes = recogniseTooLong(said)
  return sizes && new PromptTooLongError(sizes, { provider, said })
}
