/**
 * The window of a conversation's model: how much fits, how full it is, and how long the server is asked to keep what it caches of it. From
 * the model, the settings, and what servers have shown.
 */
import type { CacheLifetime } from "../base/vocabulary.ts"
import type { Model } from "../model/model.ts"
import { compactionAllowed, type Settings } from "../settings/settings.ts"
import { findModel, windowBetas } from "../tokens/models.ts"
import { type Fill, fillOf, type Thresholds, thresholdsFor } from "../tokens/window.ts"
import { lifetimeIn } from "../views/cache/cache-history.ts"
import { ServerLimits, type SharedLimits } from "./limits.ts"
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
  readonly #known = new Map<string, { readonly learnt: unknown; readonly thresholds: Thresholds }>()

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
    const learnt = this.limits.of(model)
    const { name } = model
    const { values, betas: own } = this.#parts
    const known = this.#known.get(name)
    if (known && known.learnt === learnt) return known.thresholds
    const found = findModel(name, values.models)
    const betas = name === this.model.name ? own : windowBetas(name, found.facts)
    const thresholds = thresholdsFor({ name, values, betas, learnt }, found)
    this.#known.set(name, { learnt, thresholds })
    return thresholds
  }

  /** How full it is. */
  fill(): Fill {
    const { record, values } = this.#parts
    return fillOf(record.views.context.size().tokens, this.current, compactionAllowed(values).auto)
  }

  /** How long the server is asked to keep what the next request caches: by the setting, or as the planner decided last. */
  get lifetime(): CacheLifetime {
    const { record, values } = this.#parts
    return values.cacheLifetime === "auto" ? lifetimeIn(record.views.cacheHistory.chosen) : values.cacheLifetime
  }
}
