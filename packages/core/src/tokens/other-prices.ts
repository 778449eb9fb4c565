/**
 * Prices of OpenAI's and Google's models, for the costs of recorded conversations. Data only; `models.ts` looks them up. Their windows are
 * not here: a conversation with such a model takes them from the settings or from the safe defaults.
 *
 * A row has the standard rate that the providers' price pages (developers.openai.com/api/docs/pricing, ai.google.dev/gemini-api/docs/pricing)
 * gave on `OTHER_PRICES_DATE` for text, as public price tables quote them. Rates for batches, priority and audio, and the hourly price of
 * storing an explicit Gemini cache are left out. A model without a row has no known price.
 */
import type { ModelFacts, Price } from "./model-facts.ts"

export const OTHER_PRICES_DATE = "2026-11-18"

export type ModelPrices = Required<Pick<ModelFacts, "price">> & Pick<ModelFacts, "longPrompt">

/** Dollars per million tokens. */
interface Rates {
  readonly input: number
  readonly cached: number
  readonly output: number
}

/** Writing to the cache costs nothing extra: the tokens are ordinary input. */
const freeWrites = ({ input, cached, output }: Rates): Price => ({
  ...{ input, output, cacheRead: cached },
  ...{ cacheWrite5m: input, cacheWrite1h: input },
})

/** From gpt-5.6 on, writes cost a quarter more, and those that are kept for 12 hours 2.5 times the input. */
const paidWrites = (rates: Rates): Price => ({
  ...freeWrites(rates),
  ...{ cacheWrite5m: rates.input * 1.25, cacheWrite1h: rates.input * 2.5 },
})

const OPENAI_LONG = 272_000 // tokens of input, from gpt-5.4 on
const GEMINI_LONG = 200_000

/** Above the limit, the whole request costs twice the input and cache rates and 1.5 times the output rate. */
const doubled = ({ input, cached, output }: Rates): Rates => ({
  input: input * 2,
  cached: cached * 2,
  output: output * 1.5,
})

type Pricing = (rates: Rates) => ModelPrices

const flat: Pricing = (rates) => ({ price: freeWrites(rates) })
const from54: Pricing = (rates) => ({
  price: freeWrites(rates),
  longPrompt: { above: OPENAI_LONG, price: freeWrites(doubled(rates)) },
})
const from56: Pricing = (rates) => ({
  price: paidWrites(rates),
  longPrompt: { above: OPENAI_LONG, price: paidWrites(doubled(rates)) },
})
const geminiPro: Pricing = (rates) => ({
  price: freeWrites(rates),
  longPrompt: { above: GEMINI_LONG, price: freeWrites(doubled(rates)) },
})

const row = (id: string, pricing: Pricing, [input, cached, output]: readonly [number, number, number]) =>
  [id, pricing({ input, cached, output })] as const

/** By id: input, cached input, output. */
export const OTHER_PRICES: ReadonlyMap<string, ModelPrices> = new Map([
  row("gpt-6.1-sol", from56, [2, 0.1, 10]),
  row("gpt-6.1-terra", from56, [1, 0.05, 5]),
  row("gpt-6-astra", from56, [10, 1, 50]),
  row("gpt-6-sol", from56, [2, 0.2, 10]),
  row("gpt-6-luna", from56, [0.1, 0.01, 0.5]),
  // 5, 0.50 and 30 until the autumn of 2026
  row("gpt-5.6-sol", from56, [4, 0.4, 20]),
  row("gpt-5.6", from56, [4, 0.4, 20]),
  row("gpt-5.6-terra", from56, [2, 0.2, 12]),
  // one table says that its long prompts begin at 200,000 tokens
  row("gpt-5.6-luna", from56, [0.2, 0.02, 1.2]),
  row("gpt-5.5", from54, [5, 0.5, 30]),
  row("gpt-5.4", from54, [2.5, 0.25, 15]),
  row("gpt-5.4-mini", flat, [0.75, 0.075, 4.5]),
  row("gpt-5.4-nano", flat, [0.2, 0.02, 1.25]),
  row("gpt-5.3-codex", flat, [1.75, 0.175, 14]),
  row("gpt-5.2", flat, [1.75, 0.175, 14]),
  row("gpt-5.2-codex", flat, [1.75, 0.175, 14]),
  row("gpt-5.1", flat, [1.25, 0.125, 10]),
  row("gpt-5.1-codex", flat, [1.25, 0.125, 10]),
  row("gpt-5.1-codex-max", flat, [1.25, 0.125, 10]),
  row("gpt-5.1-codex-mini", flat, [0.25, 0.025, 2]),
  row("gpt-5", flat, [1.25, 0.125, 10]),
  row("gpt-5-codex", flat, [1.25, 0.125, 10]),
  row("gpt-5-mini", flat, [0.25, 0.025, 2]),
  row("gpt-5-nano", flat, [0.05, 0.005, 0.4]),
  row("codex-mini", flat, [1.5, 0.375, 6]),
  row("gpt-4.1", flat, [2, 0.5, 8]),
  row("gpt-4.1-mini", flat, [0.4, 0.1, 1.6]),
  row("gpt-4.1-nano", flat, [0.1, 0.025, 0.4]),
  row("o3", flat, [2, 0.5, 8]),
  row("o4-mini", flat, [1.1, 0.275, 4.4]),
  // until the end of 2026, then twice as much
  row("gemini-3.7-flash", flat, [0.75, 0.075, 3.75]),
  row("gemini-3.6-flash", flat, [0.75, 0.075, 3.75]),
  row("gemini-3.5-flash", flat, [1.5, 0.15, 9]),
  row("gemini-3.5-flash-lite", flat, [0.3, 0.03, 2.5]),
  row("gemini-3.1-pro-preview", geminiPro, [2, 0.2, 12]),
  row("gemini-3.1-flash-lite", flat, [0.25, 0.025, 1.5]),
  row("gemini-3-pro-preview", geminiPro, [2, 0.2, 12]),
  row("gemini-3-flash-preview", flat, [0.5, 0.05, 3]),
  row("gemini-2.5-pro", geminiPro, [1.25, 0.125, 10]),
  row("gemini-2.5-flash", flat, [0.3, 0.03, 2.5]),
  row("gemini-2.5-flash-lite", flat, [0.1, 0.01, 0.4]),
])
