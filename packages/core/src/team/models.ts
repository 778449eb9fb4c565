/** Models of a team's agents. They use the lead's client, and the model settings apply to them. */
import type { SingleAgentOptions } from "../agent/options.ts"
import { chooseModel } from "../model/choose-model.ts"
import type { Model } from "../model/model.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { canonicalModelId, findModel, MODEL_FACTS } from "../tokens/models.ts"

export interface ModelSources {
  readonly options: Pick<SingleAgentOptions, "env" | "summariser">
  readonly settings: EffectiveSettings
  /** Creates a model by its id, before other ways are tried. Default: a model of the lead's provider with the lead's client. */
  readonly modelNamed?: ((id: string) => Model) | undefined
}

const CLAUDE = /^claude-/
const FAMILIES: ReadonlySet<string> = new Set(["opus", "sonnet", "haiku", "fable", "mythos"])

/** Whether the name is a family of Claude models rather than a model id. */
const isModelFamily = (name: string): boolean => FAMILIES.has(name.toLowerCase())

/**
 * The model id that a task or a definition requests. `undefined` means the lead's own model. Definitions name families of Claude models. If
 * the lead is not a Claude model, or Claude models cannot be reached, a family also means the lead's own model.
 */
export function requestedModelId(
  requested: string | undefined,
  lead: Model,
  { modelNamed }: ModelSources,
): string | undefined {
  const reachesClaude = modelNamed !== undefined || lead.sibling !== undefined
  if (requested !== undefined && isModelFamily(requested) && !(isClaude(lead) && reachesClaude)) return undefined
  const id = resolveModelId({ model: requested })
  return id === lead.name ? undefined : id
}

const isClaude = ({ name }: Model): boolean => CLAUDE.test(canonicalModelId(name))

/** Creates a model by its id. Throws if it cannot be used, for example without an API key. */
export async function modelById(id: string, lead: Model, sources: ModelSources): Promise<Model> {
  const { modelNamed, settings, options } = sources
  const { env = process.env } = options
  const source = modelNamed?.(id) ?? lead.sibling?.(id) ?? id
  const { models, cacheLifetime } = settings.values
  return chooseModel({ model: source, env, models, cacheLifetime })
}

/** Creates the summariser. If the option is a model id, it uses the lead's client. */
export async function summariserFor(lead: Model, sources: ModelSources): Promise<Model | undefined> {
  const { summariser, env = process.env } = sources.options
  if (summariser === undefined) return undefined
  if (typeof summariser === "string") return modelById(summariser, lead, sources)
  const { models, cacheLifetime } = sources.settings.values
  return chooseModel({ model: summariser, env, models, cacheLifetime })
}

/**
 * The model for small side tasks: the summariser if set, else the cheapest Claude model if the lead is a Claude model, else the lead's
 * model.
 */
export async function cheapestModel(lead: Model, sources: ModelSources): Promise<Model> {
  const chosen = await summariserFor(lead, sources)
  if (chosen) return chosen
  const id = CLAUDE.test(lead.name) && lead.sibling ? cheapestClaude(sources.settings) : undefined
  return id === undefined || id === lead.name ? lead : modelById(id, lead, sources)
}

function cheapestClaude({ values }: EffectiveSettings): string | undefined {
  const priced = MODEL_FACTS.flatMap(({ id }) => {
    const { price } = findModel(id, values.models).facts
    return price && CLAUDE.test(id) ? [{ id, dollars: price.input + price.output }] : []
  })
  return priced.toSorted((a, b) => a.dollars - b.dollars)[0]?.id
}

/** Resolves a model name to an id. `undefined` means the parent's model. A family means its newest model with a known price. */
export function resolveModelId({ model }: { readonly model?: string | undefined }): string | undefined {
  const name = model?.toLowerCase()
  if (name === undefined || name === "inherit") return undefined
  if (!isModelFamily(name)) return model
  return MODEL_FACTS.find(({ id, price }) => id.startsWith(`claude-${name}-`) && price !== undefined)?.id
}
