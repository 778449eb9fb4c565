/**
 * The window of a conversation's model: how much fits, how full it is, and how long the server is asked to keep what it caches of it. From
 * the model, the settings, and what servers have shown: the limits that refusals taught, which the journal and the store keep.
 */

import type { CacheLifetime } from "../base/enums.ts"
import { errorReason } from "../base/errors.ts"
import { SerialQueue } from "../base/work.ts"
import { type MemoryFiles, updateText } from "../journal/memory-files.ts"
import { modelAddress } from "../model/address.ts"
import { PromptTooLongError } from "../model/errors.ts"
import type { Model } from "../model/model.ts"
import type { RefusedAttempt } from "../model/spending/meter.ts"
import { matchTooLong } from "../model/too-long-patterns.ts"
import type { Settings } from "../settings/settings.ts"
import { findModel, windowBetas } from "../tokens/models.ts"
import {
  allowedCompaction,
  computeWindowUsage,
  describeLearnedLimit,
  type LearnedLimit,
  learnLimit,
  limitKey,
  type Thresholds,
  thresholdsFor,
  type WindowUsage,
} from "../tokens/window.ts"
import { messageLifetime } from "../views/cache/cache-history.ts"
import type { StoredLimit } from "../views/record/decisions.ts"
import type { ConversationRecord } from "./record.ts"

/** A model, as its limits are known by. */
export type NamedModel = Pick<Model, "name" | "provider" | "address">

export interface WindowParts {
  readonly record: ConversationRecord
  /** The conversation's own. */
  readonly model: NamedModel
  /** Those that its requests are sent with. */
  readonly betas: readonly string[]
  readonly values: Settings
  /** Limits that the store keeps for all conversations. */
  readonly shared: SharedLimits
}

export class Window {
  readonly #parts: WindowParts
  /** What servers really take, where a refusal has shown it. */
  readonly limits: ServerLimits
  /** By the name of the model. */
  readonly #known = new Map<string, { readonly learned: unknown; readonly thresholds: Thresholds }>()

  constructor(parts: WindowParts) {
    this.#parts = parts
    const { record, model, shared } = parts
    this.limits = new ServerLimits({ record, model: model.name, shared, window: this })
  }

  get model(): NamedModel {
    return this.#parts.model
  }

  get current(): Thresholds {
    return this.of(this.model)
  }

  of(model: NamedModel): Thresholds {
    const learned = this.limits.of(model)
    const { name } = model
    const { values, betas: own } = this.#parts
    const known = this.#known.get(name)
    if (known && known.learned === learned) return known.thresholds
    const found = findModel(name, values.models)
    const betas = name === this.model.name ? own : windowBetas(name, found.facts)
    const thresholds = thresholdsFor({ name, values, betas, learned }, found)
    this.#known.set(name, { learned, thresholds })
    return thresholds
  }

  /** How full it is. */
  fill(): WindowUsage {
    const { record, values } = this.#parts
    return computeWindowUsage(record.views.context.size().tokens, this.current, allowedCompaction(values).auto)
  }

  /** How long the server is asked to keep what the next request caches: by the setting, or as the planner decided last. */
  get lifetime(): CacheLifetime {
    const { record, values } = this.#parts
    return values.cacheLifetime === "auto" ? messageLifetime(record.views.cacheHistory.chosen) : values.cacheLifetime
  }
}

// What the servers of a conversation really take, where a refusal has shown it: for each model at its address. The journal and the store
// keep it. The newest word counts.

// The limits that servers have shown, in one small text of the store, so that the next conversation begins with them. A text that cannot be
// read counts as empty: a limit is learnt again by one refusal.

export const LIMITS = "limits.json"
const VERSION = 1
const MAX = 200 // limits: the oldest go first

export interface KeptLimits {
  readonly limits: readonly StoredLimit[]
  /** What was learnt before this time no longer counts, also in journals. ISO 8601. */
  readonly forgotten?: string
}

/** Those that all projects of a store share. */
export type SharedFiles = Pick<MemoryFiles, "read" | "install">

export const readLimits = async (files: SharedFiles): Promise<KeptLimits> =>
  limitsIn(await files.read(LIMITS).catch(() => undefined))

export function limitsIn(text: string | undefined): KeptLimits {
  try {
    const found = JSON.parse(text ?? "") as Partial<KeptLimits & { version: number }>
    if (found.version !== VERSION || !Array.isArray(found.limits)) return { limits: [] }
    const limits = found.limits.filter(isLimit)
    return typeof found.forgotten === "string" ? { limits, forgotten: found.forgotten } : { limits }
  } catch {
    return { limits: [] }
  }
}

export async function keepLimit(files: SharedFiles, limit: StoredLimit): Promise<void> {
  await updateText(files, LIMITS, (text) => {
    const { limits, ...rest } = limitsIn(text)
    const others = limits.filter((each) => limitKey(each) !== limitKey(limit))
    return written({ ...rest, limits: [...others, limit].slice(-MAX) })
  })
}

/** Forgets one limit, or all of them. Resolves with those that were there. */
export async function forgetLimits(
  files: SharedFiles,
  which: { readonly at: Date } | Pick<LearnedLimit, "model" | "address">,
): Promise<readonly StoredLimit[]> {
  const isMeant = (limit: StoredLimit) => "at" in which || limitKey(limit) === limitKey(which)
  let forgotten: readonly StoredLimit[] = []
  await updateText(files, LIMITS, (text) => {
    const { limits, ...rest } = limitsIn(text)
    forgotten = limits.filter(isMeant)
    const left = limits.filter((limit) => !isMeant(limit))
    return written({ ...rest, limits: left, ...("at" in which ? { forgotten: which.at.toISOString() } : {}) })
  })
  return forgotten
}

const written = (content: KeptLimits): string => `${JSON.stringify({ version: VERSION, ...content }, undefined, 2)}\n`

function isLimit(value: unknown): value is StoredLimit {
  const { model, address, tokens, learned } = (value ?? {}) as Partial<StoredLimit>
  const areTexts = [model, address, learned].every((each) => typeof each === "string")
  return areTexts && typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0
}

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
  readonly #known: Map<string, StoredLimit>
  readonly #writes = new SerialQueue()

  constructor(parts: ServerLimitsParts) {
    this.#parts = parts
    this.#known = new Map(parts.shared.limits.map((limit) => [limitKey(limit), limit]))
  }

  of(model: Named): StoredLimit | undefined {
    if (this.#known.size === 0 && this.#parts.record.views.limits.size === 0) return undefined // a turn asks often
    const key = limitKey({ model: model.name, address: modelAddress(model) })
    const { forgotten = "" } = this.#parts.shared
    return [this.#parts.record.views.limits.get(key), this.#known.get(key)]
      .filter((limit) => limit !== undefined)
      .filter(({ learned }) => learned > forgotten)
      .sort((a, b) => (a.learned < b.learned ? 1 : -1))[0]
  }

  /** Learns from a refusal. It counts at once; the journal and the store follow. */
  refused({ error, model, estimate }: RefusedAttempt): void {
    if (!(error instanceof PromptTooLongError)) return
    const { record, shared, window, model: own } = this.#parts
    const believed = window.of(model)
    const { tokens, counted: accepted } = record.views.context.size()
    // the API has counted most of the conversation; what asks about it is larger, and a lower limit is the safer one
    const size = model.name === own ? Math.min(estimate, tokens) : estimate
    const found = learnLimit(error, { estimate: size, accepted, believed })
    if (!found) return
    const limit: LearnedLimit = { model: model.name, address: modelAddress(model), ...found }
    const kept = { ...limit, learned: record.clock.now().toISOString() }
    this.#known.set(limitKey(limit), kept)
    const isSmaller = limit.tokens < believed.window
    if (isSmaller) record.events.emit("notice", { message: describeLearnedLimit(limit, believed.window) })
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
    return this.#writes.whenIdle()
  }
}

/** Our own error, or one of any SDK by what it says. */
function asRefusal(thrown: unknown, provider: string): PromptTooLongError | undefined {
  if (thrown instanceof PromptTooLongError) return thrown
  const providerMessage = errorReason(thrown)
  const sizes = matchTooLong(providerMessage)
  return sizes && new PromptTooLongError(sizes, { provider, providerMessage })
}
