/** The models a simulator offers, and the routes that list them. Options change or extend the models core knows. */
import type { ModelFacts } from "@strata/core/internal"
import { MODEL_FACTS } from "@strata/core/internal/tokens/model-facts"
import { findModel } from "@strata/core/internal/tokens/models"
import { ApiError, invalidRequest } from "./api-error.ts"

/** By model id: figures to change for a known model, or to set for a new one. */
export type ModelOverrides = NonNullable<Parameters<typeof findModel>[1]>

const DATED = /^(?<id>.+)-\d{8}$/
const DEFAULT_PAGE = 20 // models, where the client names no limit
const LARGEST_PAGE = 1000

export class ModelCatalog {
  private readonly overrides: ModelOverrides
  private readonly ids: readonly string[]

  constructor(overrides: ModelOverrides = {}) {
    this.overrides = overrides
    this.ids = [...new Set([...MODEL_FACTS.map(({ id }) => id), ...Object.keys(overrides)])]
  }

  /** Finds a model by a name the API accepts: its id, alone or with a date. */
  find(name: string): ModelFacts | undefined {
    const id = this.ids.includes(name) ? name : DATED.exec(name)?.groups?.id
    if (!id || !this.ids.includes(id)) return undefined
    return { ...findModel(id, this.overrides).facts, id }
  }

  list(): readonly ModelFacts[] {
    return this.ids.flatMap((id) => this.find(id) ?? [])
  }
}

export interface PageQuery {
  readonly limit?: string | undefined
  readonly afterId?: string | undefined
  readonly beforeId?: string | undefined
}

export function listModels(catalog: ModelCatalog, { limit, afterId, beforeId }: PageQuery) {
  const size = limit === undefined ? DEFAULT_PAGE : Number(limit)
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_PAGE) {
    throw invalidRequest(`limit: Input should be an integer from 1 to ${LARGEST_PAGE}`)
  }
  const all = catalog.list()
  const place = (id: string) => {
    const index = all.findIndex((model) => model.id === id)
    if (index < 0) throw invalidRequest(`No model has the id ${id}`)
    return index
  }
  const page = beforeId
    ? all.slice(Math.max(0, place(beforeId) - size), place(beforeId))
    : all.slice(afterId ? place(afterId) + 1 : 0).slice(0, size)
  const last = page.at(-1)
  return {
    data: page.map((model) => describeModel(model)),
    first_id: page[0]?.id ?? null,
    last_id: last?.id ?? null,
    has_more: beforeId ? page[0] !== undefined && page[0] !== all[0] : last !== undefined && last !== all.at(-1),
  }
}

export function showModel(catalog: ModelCatalog, name: string) {
  const model = catalog.find(name)
  if (!model) throw new ApiError(404, `model: ${name}`)
  return describeModel(model, name)
}

const supported = (value: boolean) => ({ supported: value })

/** A model as `/v1/models` describes it. */
export function describeModel(facts: ModelFacts, name = facts.id) {
  const { accepts } = facts
  return {
    type: "model",
    id: name,
    display_name: displayName(facts.id),
    created_at: "2026-01-01T00:00:00Z", // core has no release dates
    deprecated_at: null,
    retires_at: null,
    lifecycle: "active",
    line: /haiku|sonnet|opus|fable|mythos/.exec(facts.id)?.[0] ?? null,
    max_input_tokens: facts.window,
    max_tokens: facts.maxOutput,
    capabilities: {
      batch: supported(false),
      citations: supported(false),
      code_execution: supported(false),
      context_management: {
        supported: accepts.contextManagement,
        clear_thinking_20251015: supported(accepts.contextManagement),
        clear_tool_uses_20250919: supported(accepts.contextManagement),
        compact_20260112: supported(accepts.contextManagement),
      },
      effort: {
        supported: accepts.adaptiveThinking,
        low: supported(accepts.adaptiveThinking),
        medium: supported(accepts.adaptiveThinking),
        high: supported(accepts.adaptiveThinking),
        xhigh: supported(accepts.adaptiveThinking),
        max: supported(accepts.adaptiveThinking),
      },
      image_input: supported(true),
      pdf_input: supported(true),
      server_tools: { ...supported(false), code_execution: supported(false), web_search: supported(false) },
      structured_outputs: supported(false),
      thinking: {
        supported: true,
        types: {
          adaptive: supported(accepts.adaptiveThinking),
          between_tools: supported(accepts.adaptiveThinking),
          disabled: supported(accepts.thinkingOff),
          enabled: supported(accepts.thinkingBudget),
        },
      },
    },
  }
}

/** `claude-opus-5-5` is shown as "Claude Opus 5.5". */
const displayName = (id: string) =>
  id
    .replace(/(\d)-(\d)/g, "$1.$2")
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ")
