/** The models of a team's agents. Each is asked through the lead's own client, and keeps what the settings say about models. */
import type { SingleAgentOptions } from "../agent/options.ts"
import { chooseModel } from "../model/choose-model.ts"
import type { Model } from "../model/model.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { canonicalModelId, findModel, MODEL_FACTS } from "../tokens/models.ts"

export interface ModelSources {
  readonly options: Pick<SingleAgentOptions, "env" | "summariser">
  readonly settings: EffectiveSettings
  /** Comes first. Default: a model of the lead's provider with the lead's client. */
  readonly modelNamed?: ((id: string) => Model) | undefined
}

const CLAUDE = /^claude-/
const FAMILIES: ReadonlySet<string> = new Set(["opus", "sonnet", "haiku", "fable", "mythos"])

/** Whether the name is a family of Claude models, not the id of one. */
const isModelFamily = (name: string): boolean => FAMILIES.has(name.toLowerCase())

/**
 * The id of the model that an order or a definition asks for. `undefined` means the lead's own. Definitions name families of Claude
 * models; where the lead is another model, or there is no way to reach Claude models, they mean the lead's own too.
 */
export function wantedModel(wanted: string | undefined, lead: Model, { modelNamed }: ModelSources): string | undefined {
  const reachesClaude = modelNamed !== undefined || lead.sibling !== undefined
  if (wanted !== undefined && isModelFamily(wanted) && !(isClaude(lead) && reachesClaude)) return undefined
  const id = modelOf({ model: wanted })
  return id === lead.name ? undefined : id
}

const isClaude = ({ name }: Model): boolean => CLAUDE.test(canonicalModelId(name))

/** A model by its id. Throws where it cannot be used, such as without a key. */
export async function modelById(id: string, lead: Model, sources: ModelSources): Promise<Model> {
  const { modelNamed, settings, options } = sources
  const { env = process.env } = options
  const given = modelNamed?.(id) ?? lead.sibling?.(id) ?? id
  const { models, cacheLifetime } = settings.values
  return chooseModel({ model: given, env, models, cacheLifetime })
}

/** The summariser, with the lead's client where it is an id. */
export async function summariserOf(lead: Model, sources: ModelSources): Promise<Model | undefined> {
  const { summariser, env = process.env } = sources.options
  if (summariser === undefined) return undefined
  if (typeof summariser === "string") return modelById(summariser, lead, sources)
  const { models, cacheLifetime } = sources.settings.values
  return chooseModel({ model: summariser, env, models, cacheLifetime })
}

/** For small side tasks: the summariser, else the cheapest Claude model for a lead that is one, else the lead's own model. */
export async function cheapestModel(lead: Model, sources: ModelSources): Promise<Model> {
  const chosen = await summariserOf(lead, sources)
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

/** A model id, or `undefined` for the model of its parent. A family means its newest model in the model table that has a price. */
export function modelOf({ model }: { readonly model?: string | undefined }): string | undefined {
  const name = model?.toLowerCase()
  if (name === undefined || name === "inherit") return undefined
  if (!isModelFamily(name)) return model
  return MODEL_FACTS.find(({ id, price }) => id.startsWith(`claude-${name}-`) && price !== undefined)?.id
}
