/**
 * Looks up a model by any of its names: with a date, a provider's prefix or a `[1m]` suffix. An unknown model gets safe
 * defaults and a notice, and never a price of zero.
 */
import { grouped } from "../base/grouped.ts"
import { remembering } from "../base/remembering.ts"
import {
  MODEL_FACTS,
  type ModelFacts,
  OFFLINE_MODEL_FACTS,
  type TokenizerFamily,
  UNKNOWN_MODEL,
} from "./model-facts.ts"
import { OTHER_PRICES } from "./other-prices.ts"

/** The facts about a model, or why they are unknown. */
export type ModelLookup =
  | { readonly known: true; readonly facts: ModelFacts }
  | { readonly known: false; readonly facts: ModelFacts; readonly notice: string }

/** What the settings may say about a model. They win over the table. */
export type ModelOverride = Partial<Omit<ModelFacts, "id" | "accepts">> & { accepts?: Partial<ModelFacts["accepts"]> }

const LONG_CONTEXT_SUFFIX = "[1m]"
const LONG_CONTEXT_BETA = "context-1m-2025-08-07"
export const LONG_WINDOW = 1_000_000 // tokens

/** The name to send: without the `[1m]` suffix, which only selects the window. */
export function sentModelName(name: string): string {
  return asksForMillion(name) ? name.slice(0, -LONG_CONTEXT_SUFFIX.length).trimEnd() : name
}

export function asksForMillion(name: string): boolean {
  return name.toLowerCase().endsWith(LONG_CONTEXT_SUFFIX)
}

/** The beta header without which the API gives a `[1m]` model its usual window. Newer models have the large one anyway. */
export function windowBetas(name: string, { window }: Pick<ModelFacts, "window">): readonly string[] {
  return asksForMillion(name) && window < LONG_WINDOW ? [LONG_CONTEXT_BETA] : []
}

/** `us.anthropic.claude-sonnet-4-5-20250929-v1:0` and `anthropic/claude-sonnet-4-5` are both `claude-sonnet-4-5`. */
export const canonicalModelId = remembering((name): string =>
  sentModelName(name)
    .toLowerCase()
    .replace(/^.*[/]/, "")
    .replace(/^(?:[a-z]{2,6}\.)?anthropic\./, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/[-@]\d{8}$/, "")
    .replace(/-\d{4}-\d{2}-\d{2}$/, "") // OpenAI's way
    .replace(/-latest$/, ""),
)

const byId = new Map([...MODEL_FACTS, OFFLINE_MODEL_FACTS].map((facts) => [facts.id, facts]))

type Overrides = Readonly<Record<string, ModelOverride>>

const NO_OVERRIDES: Overrides = {}
/** Settings do not change while they are in use, and a turn asks for its model a dozen times. */
const lookups = new WeakMap<Overrides, (name: string) => ModelLookup>()

/** The facts about a model, by any of its names: window, output, price, what it accepts. */
export function findModel(
  name: string,
  overrides: Readonly<Record<string, ModelOverride>> = NO_OVERRIDES,
): ModelLookup {
  const find = lookups.get(overrides) ?? remembering((each) => lookUp(each, overrides))
  lookups.set(overrides, find)
  return find(name)
}

function lookUp(name: string, overrides: Overrides): ModelLookup {
  const id = canonicalModelId(name)
  const found = byId.get(id)
  const key = [id, name].find((each) => Object.hasOwn(overrides, each))
  const override = key === undefined ? undefined : overrides[key]
  const base = found ?? { ...UNKNOWN_MODEL, id, family: guessFamily(id), ...OTHER_PRICES.get(id) }
  const facts = override ? { ...base, ...override, id, accepts: { ...base.accepts, ...override.accepts } } : base
  if (found || override) return { known: true, facts }
  return {
    known: false,
    facts,
    notice: `The model "${id}" is not in the model table. A window of ${grouped(facts.window)} tokens is assumed${facts.price ? "" : ", and its price is unknown"}. Set its figures under "models" in the settings.`,
  }
}

function guessFamily(id: string): TokenizerFamily {
  const generation = Number(/^claude-[a-z]+-(\d+)/.exec(id)?.[1] ?? 0)
  if (generation >= 5) return "claude-5" // newer models probably share the newest known tokenizer
  if (id.startsWith("claude")) return "claude-4"
  if (/^(?:gpt-[4-6]|o[1-9]|codex)/.test(id)) return "gpt-5"
  return "unknown"
}
