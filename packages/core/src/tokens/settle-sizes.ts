/**
 * The running factor between estimates and what the API counts. Each response tells how large the whole request was. The first one measures
 * the prompt, which later ones share. From then on the messages take the difference, so that the parts add up to the count.
 */

export interface SettledSizes {
  /** Tokens of system prompt, tools and preamble. */
  readonly prompt: number
  /** Tokens for each estimated token of the messages. */
  readonly factor: number
}

export interface CountedWhole {
  /** By the API: prompt, messages and the response. */
  readonly counted: number
  /** As far as it is known: measured by an earlier response, or estimated. */
  readonly prompt: { readonly tokens: number; readonly estimate: number; readonly isMeasured: boolean }
  /** Estimated tokens of the messages, without the factor. */
  readonly messages: number
  readonly factor: number
}

const STEADY = 4_000 // estimated tokens: fewer say little about a factor, so the prompt takes the difference
const RANGE = { least: 0.5, most: 2 } // outside of it something other than an estimate is wrong

export function settleSizes({ counted, prompt, messages, factor }: CountedWhole): SettledSizes {
  const expected = prompt.tokens + factor * messages
  const unsure = Math.max(0, STEADY - expected)
  const share = (counted + unsure) / (expected + unsure)
  const settled = prompt.isMeasured
    ? bySteps({ counted, prompt, messages, factor })
    : messages > prompt.tokens
      ? { prompt: prompt.tokens * share, factor: factor * share }
      : { prompt: counted - factor * messages, factor }
  const isUsable = [share, settled.factor, settled.prompt / prompt.estimate].every(isPlausible)
  return isUsable ? settled : { prompt: prompt.tokens, factor }
}

function bySteps({ counted, prompt, messages, factor }: CountedWhole): SettledSizes {
  const unsure = Math.max(0, STEADY - messages)
  const settled = (counted - prompt.tokens + unsure * factor) / (messages + unsure)
  return { prompt: counted - settled * messages, factor: settled }
}

const isPlausible = (ratio: number): boolean => ratio >= RANGE.least && ratio <= RANGE.most
