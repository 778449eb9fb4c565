/**
 * The window of a conversation's model: its size, its usage, and the cache lifetime. Determined by the model, the settings, and limits
 * learned from refusals, which the journal and the store record.
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

/** Identifies a model for learned limits. */
export type NamedModel = Pick<Model, "name" | "provider" | "address">

export interface WindowDependencies {
  readonly record: ConversationRecord
  /** The conversation's model. */
  readonly model: NamedModel
  /** Betas that its requests are sent with. */
  readonly betas: readonly string[]
  readonly values: Settings
  /** Learned limits that the store shares between conversations. */
  readonly shared: SharedLimits
}

export class Window {
  readonly #parts: WindowDependencies
  /** Limits of servers learned from refusals. */
  readonly limits: ServerLimits
  /** Thresholds by model name. */
  readonly #known = new Map<string, { readonly learned: unknown; readonly thresholds: Thresholds }>()

  constructor(parts: WindowDependencies) {
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

  /** Usage of the window. */
  fill(): WindowUsage {
    const { record, values } = this.#parts
    return computeWindowUsage(record.views.context.size().tokens, this.current, allowedCompaction(values).auto)
  }

  /** Requested cache lifetime of the next request: from the setting, or the planner's last decision. */
  get lifetime(): CacheLifetime {
    const { record, values } = this.#parts
    return values.cacheLifetime === "auto" ? messageLifetime(record.views.cacheHistory.chosen) : values.cacheLifetime
  }
}

// Limits of servers learned from refusals, for each model at its address. The journal and the store record them, and the newest applies.
// The store has them in one small text, so that later conversations start with them. An unreadable text counts as empty: a limit is learned
// again from one refusal.

// The limits that servers have shown, in one small text of the store, so that the next conversation begins with them. A text that cannot be
// read counts as empty: a limit is learnt again by one refusal.

export const LIMITS = "limits.json"
const VERSION = 1
const MAX_LIMITS = 200 // limits; the oldest are removed first

export interface StoredLimits {
  readonly limits: readonly StoredLimit[]
  /** Limits learned before this time are ignored, including those in journals. ISO 8601. */
  readonly forgotten?: string
}

/** Files that all projects of a store share. */
export type LimitFiles = Pick<MemoryFiles, "read" | "install">

export const readLimits = async (files: LimitFiles): Promise<StoredLimits> =>
  limitsIn(await files.read(LIMITS).catch(() => undefined))

export function limitsIn(text: string | undefined): StoredLimits {
  try {
    const found = JSON.parse(text ?? "") as Partial<StoredLimits & { version: number }>
    if (found.version !== VERSION || !Array.isArray(found.limits)) return { limits: [] }
    const limits = found.limits.filter(isLimit)
    return typeof found.forgotten === "string" ? { limits, forgotten: found.forgotten } : { limits }
  } catch {
    return { limits: [] }
  }
}

export async function storeLimit(files: LimitFiles, limit: StoredLimit): Promise<void> {
  await updateText(files, LIMITS, (text) => {
    const { limits, ...rest } = limitsIn(text)
    const others = limits.filter((each) => limitKey(each) !== limitKey(limit))
    return serialize({ ...rest, limits: [...others, limit].slice(-MAX_LIMITS) })
  })
}

/** Forgets one limit, or all. Resolves with the forgotten ones. */
export async function forgetLimits(
  files: LimitFiles,
  which: { readonly at: Date } | Pick<LearnedLimit, "model" | "address">,
): Promise<readonly StoredLimit[]> {
  const isMeant = (limit: StoredLimit) => "at" in which || limitKey(limit) === limitKey(which)
  let forgotten: readonly StoredLimit[] = []
  await updateText(files, LIMITS, (text) => {
    const { limits, ...rest } = limitsIn(text)
    forgotten = limits.filter(isMeant)
    const left = limits.filter((limit) => !isMeant(limit))
    return serialize({ ...rest, limits: left, ...("at" in which ? { forgotten: which.at.toISOString() } : {}) })
  })
  return forgotten
}

const serialize = (content: StoredLimits): string =>
  `${JSON.stringify({ version: VERSION, ...content }, undefined, 2)}\n`

function isLimit(value: unknown): value is StoredLimit {
  const { model, address, tokens, learned } = (value ?? {}) as Partial<StoredLimit>
  const areTexts = [model, address, learned].every((each) => typeof each === "string")
  return areTexts && typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0
}

export interface ServerLimitsDependencies {
  readonly record: ConversationRecord
  /** Name of the conversation's model. */
  readonly model: string
  readonly shared: SharedLimits
  readonly window: { of(model: NamedServerModel): Thresholds }
}

/** Shared limits in the store at the time of opening. */
export interface SharedLimits extends StoredLimits {
  readonly files: LimitFiles
}

type NamedServerModel = Pick<Model, "name" | "provider" | "address">

export class ServerLimits {
  readonly #parts: ServerLimitsDependencies
  /** Limits of the store, and new ones that are not in the journal yet. */
  readonly #known: Map<string, StoredLimit>
  readonly #writes = new SerialQueue()

  constructor(parts: ServerLimitsDependencies) {
    this.#parts = parts
    this.#known = new Map(parts.shared.limits.map((limit) => [limitKey(limit), limit]))
  }

  of(model: NamedServerModel): StoredLimit | undefined {
    if (this.#known.size === 0 && this.#parts.record.views.limits.size === 0) return undefined // a turn calls this often
    const key = limitKey({ model: model.name, address: modelAddress(model) })
    const { forgotten = "" } = this.#parts.shared
    return [this.#parts.record.views.limits.get(key), this.#known.get(key)]
      .filter((limit) => limit !== undefined)
      .filter(({ learned }) => learned > forgotten)
      .sort((a, b) => (a.learned < b.learned ? 1 : -1))[0]
  }

  /** Learns a limit from a refusal. It applies at once; the journal and the store are updated afterwards. */
  refused({ error, model, estimate }: RefusedAttempt): void {
    if (!(error instanceof PromptTooLongError)) return
    const { record, shared, window, model: own } = this.#parts
    const believed = window.of(model)
    const { tokens, counted: accepted } = record.views.context.size()
    // the API has counted most of the conversation; the estimate of a side request is higher, and a lower limit is safer
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
      if (!limit.isAssumed) await storeLimit(shared.files, kept)
    })
  }

  /** Handles an error that a custom loop received instead of a response. */
  async noteRefusal(thrown: unknown, model: NamedServerModel): Promise<boolean> {
    const error = toRefusal(thrown, model.provider)
    if (!error) return false
    this.refused({ error, model, estimate: this.#parts.record.views.context.size().tokens })
    await this.settled()
    return true
  }

  async forget(model: NamedServerModel): Promise<boolean> {
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

  /** Resolves when learned limits are written. If the store cannot be written, one more refusal follows later. */
  settled(): Promise<void> {
    return this.#writes.whenIdle()
  }
}

/** Converts an error of any SDK by its message. */
function toRefusal(thrown: unknown, provider: string): PromptTooLongError | undefined {
  if (thrown instanceof PromptTooLongError) return thrown
  const providerMessage = errorReason(thrown)
  const sizes = matchTooLong(providerMessage)
  return sizes && new PromptTooLongError(sizes, { provider, providerMessage })
}
