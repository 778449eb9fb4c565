/** The models a simulator offers, and the routes that list them. Options change or extend the models core knows. */
import { findModel } from "@strata/core"
import type { ModelFacts } from "@strata/core/tokens"
import { MODEL_FACTS } from "@strata/core/tokens"
import { BETA } from "./api-dialect.ts"
import { ApiError } from "./api-error.ts"
import { type PageQuery, pageOf } from "./paging.ts"

/** Facts to change for a known model, or to set for a new one, by model id. */
export type ModelOverrides = NonNullable<Parameters<typeof findModel>[1]>

/** A model that only this simulator has accepts what every current model accepts, because its clients assume that. */
const ADDED_MODEL_ACCEPTS: ModelFacts["accepts"] = {
  overflowingOutput: true,
  prefill: true,
  thinkingBudget: true,
  adaptiveThinking: true,
  thinkingOff: true,
  thinksUnasked: false,
  omitsThinking: false,
  forcedTools: true,
  systemMessages: true,
  earlierThinking: true,
  boundThinking: false,
  contextManagement: true,
  signedSummaries: true,
  toolReferences: true,
  cacheEditing: false,
}
const LONG_WINDOW = 1_000_000
const WITH_LONG_CONTEXT = /^claude-sonnet-4/ // the models that the beta is for; later ones have the long window without it
const DATED = /^(?<id>.+)-\d{8}$/

export class ModelCatalog {
  private readonly overrides: ModelOverrides
  private readonly ids: readonly string[]

  constructor(overrides: ModelOverrides = {}) {
    const known = new Set(MODEL_FACTS.map(({ id }) => id))
    this.overrides = Object.fromEntries(
      Object.entries(overrides).map(([id, facts]) =>
        known.has(id) ? [id, facts] : [id, { ...facts, accepts: { ...ADDED_MODEL_ACCEPTS, ...facts?.accepts } }],
      ),
    )
    this.ids = [...new Set([...known, ...Object.keys(overrides)])]
  }

  /** Finds a model by a name the API accepts: its id, alone or with a date. A beta may give it a larger window. */
  find(name: string, betas: ReadonlySet<string> = new Set()): ModelFacts | undefined {
    const id = this.ids.includes(name) ? name : DATED.exec(name)?.groups?.id
    if (!id || !this.ids.includes(id)) return undefined
    const facts = { ...findModel(id, this.overrides).facts, id }
    const isLong = betas.has(BETA.longContext) && WITH_LONG_CONTEXT.test(id)
    return isLong ? { ...facts, window: Math.max(facts.window, LONG_WINDOW) } : facts
  }

  list(): readonly ModelFacts[] {
    return this.ids.flatMap((id) => this.find(id) ?? [])
  }
}

export function listModels(catalog: ModelCatalog, query: PageQuery) {
  const page = pageOf(catalog.list(), query, "model")
  return { ...page, data: page.data.map((model) => describeModel(model)) }
}

export function showModel(catalog: ModelCatalog, name: string) {
  const model = catalog.find(name)
  if (!model) throw new ApiError(404, `model: ${name}`)
  return describeModel(model, name)
}

const supported = (value: boolean) => ({ supported: value })

/** A model in the format of `/v1/models`. */
function describeModel(facts: ModelFacts, name = facts.id) {
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
      batch: supported(true),
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
      server_tools: { ...supported(true), code_execution: supported(false), web_search: supported(true) },
      structured_outputs: supported(true),
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
