/**
 * Recognizes error messages for prompts that do not fit. Providers share no error code for it, so the text is matched. Each row names the
 * provider and the meaning; the groups `tokens`, `input`, `output`, `limit` and `gap` capture numbers. Rows with numbers come before those
 * without.
 */

export interface TooLongMatch {
  /** The probable author of the text: gateways pass on the text of others. */
  readonly provider: string
  readonly reason: string
  readonly tokens?: number
  readonly limit?: number
  /** The excess, if the text gives only that. */
  readonly gap?: number
  /** The largest output with which the prompt fits. */
  readonly maxOutput?: number
  /** Input and output together must fit. */
  readonly countsOutput?: boolean
  /** The limit is in bytes, not tokens. */
  readonly isBytes?: boolean
}

interface TooLongPattern {
  readonly provider: string
  readonly reason: string
  readonly pattern: RegExp
}

const INPUT = "the input is larger than the window"
const INPUT_AND_OUTPUT = "input and reserved output together are larger than the window"
const BYTES = "the body has too many bytes"

const TOO_LONG_PATTERNS: readonly TooLongPattern[] = [
  {
    provider: "anthropic", // Bedrock and Vertex pass on the same sentence for Claude
    reason: INPUT,
    pattern: /prompt is too long: (?<tokens>[\d,]+) tokens > (?<limit>[\d,]+)/i,
  },
  {
    provider: "anthropic", // only models before 4.5: later ones stop at the end of the window
    reason: INPUT_AND_OUTPUT,
    pattern: /exceed context limit: (?<input>[\d,]+) \+ (?<output>[\d,]+) > (?<limit>[\d,]+)/i,
  },
  {
    provider: "openrouter", // "This endpoint's …", with an estimate of its own
    reason: INPUT_AND_OUTPUT,
    pattern: /endpoint's maximum context length is (?<limit>[\d,]+) tokens.*?requested about (?<tokens>[\d,]+)/is,
  },
  {
    provider: "openai", // and vLLM: "(1000 in the messages, 32000 in the completion)"
    reason: INPUT_AND_OUTPUT,
    pattern:
      /maximum context length is (?<limit>[\d,]+) tokens.*?\((?<input>[\d,]+) (?:tokens )?in (?:the|your) (?:messages|prompt|input).*?(?<output>[\d,]+) (?:tokens )?(?:in|for) the (?:completion|output)/is,
  },
  {
    provider: "vllm",
    reason: INPUT_AND_OUTPUT,
    pattern:
      /is too large: (?<output>[\d,]+)\. This model's maximum context length is (?<limit>[\d,]+) tokens and your request has (?<input>[\d,]+) input/is,
  },
  {
    provider: "openai", // also vLLM and others that use its protocol
    reason: INPUT,
    pattern:
      /maximum context length is (?<limit>[\d,]+) tokens.*?(?:resulted in|requested|has) (?:a total of )?(?<tokens>[\d,]+)/is,
  },
  {
    provider: "google",
    reason: INPUT,
    pattern:
      /input token count \(?(?<tokens>[\d,]+)\)? exceeds the maximum number of tokens allowed \(?(?<limit>[\d,]+)/i,
  },
  {
    provider: "google", // without the input's count
    reason: INPUT,
    pattern: /input token count exceeds the maximum number of tokens allowed \(?(?<limit>[\d,]+)/i,
  },
  {
    provider: "vertex",
    reason: INPUT,
    pattern: /input token count is (?<tokens>[\d,]+) but model only supports up to (?<limit>[\d,]+)/i,
  },
  {
    provider: "xai",
    reason: INPUT,
    pattern: /maximum prompt length is (?<limit>[\d,]+) but the request contains (?<tokens>[\d,]+)/i,
  },
  {
    provider: "ollama", // reports only the difference
    reason: INPUT,
    pattern: /prompt too long; exceeded (?:max )?context length by (?<gap>[\d,]+)/i,
  },
  {
    provider: "llama.cpp",
    reason: INPUT,
    pattern: /request \((?<tokens>[\d,]+) tokens\) exceeds the available context size \((?<limit>[\d,]+)/i,
  },
  { provider: "gateway", reason: "a gateway knows the window", pattern: /capability_rejected: prompt_too_long/i },
  { provider: "anthropic", reason: INPUT, pattern: /prompt is too long/i },
  { provider: "anthropic", reason: INPUT_AND_OUTPUT, pattern: /input length and `?max_tokens`? exceed context limit/i },
  { provider: "bedrock", reason: INPUT, pattern: /input is too long for requested model/i },
  { provider: "bedrock", reason: INPUT, pattern: /number of input tokens exceeds maximum length/i }, // Nova
  { provider: "openai", reason: INPUT, pattern: /context_length_exceeded|exceeds the context window of this model/i },
  { provider: "openai", reason: INPUT, pattern: /maximum context length is (?<limit>[\d,]+)/i },
  { provider: "ollama", reason: INPUT, pattern: /prompt too long|input length exceeds the context length/i },
  { provider: "llama.cpp", reason: INPUT, pattern: /exceeds the available context size/i },
  // bytes, not tokens; a shorter conversation still helps
  {
    provider: "anthropic",
    reason: BYTES,
    pattern: /request_too_large|maximum allowed number of bytes/i,
  },
]

/** What a provider's text says about a prompt that does not fit. `undefined` if it is about something else. */
export function matchTooLong(words: string): TooLongMatch | undefined {
  for (const { provider, reason, pattern } of TOO_LONG_PATTERNS) {
    const match = pattern.exec(words)
    if (!match) continue
    const { tokens, input, output, limit, gap } = match.groups ?? {}
    const size =
      tokens ?? (input !== undefined && output !== undefined ? `${parseCount(input) + parseCount(output)}` : undefined)
    const room = input !== undefined && limit !== undefined ? parseCount(limit) - parseCount(input) : 0
    return {
      provider,
      reason,
      ...(size === undefined ? {} : { tokens: parseCount(size) }),
      ...(limit === undefined ? {} : { limit: parseCount(limit) }),
      ...(gap === undefined ? {} : { gap: parseCount(gap) }),
      ...(room >= MIN_OUTPUT ? { maxOutput: room } : {}),
      ...(reason === INPUT_AND_OUTPUT ? { countsOutput: true } : {}),
      ...(reason === BYTES ? { isBytes: true } : {}),
    }
  }
  return undefined
}

/** If less output than this fits, a shorter response does not help: the conversation has to shrink. */
const MIN_OUTPUT = 1_000 // tokens

/** Error messages for an output limit above the model's maximum, independent of the prompt. */
const OUTPUT_PATTERNS: readonly RegExp[] = [
  /max_tokens: [\d,]+ > (?<most>[\d,]+), which is the maximum allowed number of output tokens/i, // Anthropic
  /supports at most (?<most>[\d,]+) (?:completion|output) tokens/i, // OpenAI
  /max_(?:completion_|output_)?tokens\W{1,3}(?:must be|should be) (?:less than or equal to|at most|<=) \W?(?<most>[\d,]+)/i,
  /range of max_(?:completion_|output_)?tokens is \[\d+, ?(?<most>[\d,]+)\]/i,
]

/** The largest output that a refusal allows. `undefined` if it is about something else. */
export function parseMaxOutput(words: string): number | undefined {
  const tooLong = matchTooLong(words)
  if (tooLong) return tooLong.maxOutput
  for (const pattern of OUTPUT_PATTERNS) {
    const max = pattern.exec(words)?.groups?.most
    if (max !== undefined && parseCount(max) > 0) return parseCount(max)
  }
  return undefined
}

const parseCount = (digits: string) => Number(digits.replaceAll(",", ""))
