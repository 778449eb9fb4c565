import { describe, expect, test } from "vitest"
import { matchTooLong, parseMaxOutput } from "./too-long-patterns.ts"

/** Real error messages, with their provider and the numbers they contain. */
const SEEN: readonly [
  string,
  {
    provider: string
    tokens?: number
    limit?: number
    gap?: number
    maxOutput?: number
    countsOutput?: boolean
    isBytes?: boolean
  },
][] = [
  ["prompt is too long: 215000 tokens > 200000 maximum", { provider: "anthropic", tokens: 215_000, limit: 200_000 }],
  ["Prompt is too long", { provider: "anthropic" }],
  [
    "input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    { provider: "anthropic", tokens: 208_059, limit: 200_000, maxOutput: 11_941, countsOutput: true },
  ],
  ["Input is too long for requested model.", { provider: "bedrock" }],
  ["Input Tokens Exceeded: Number of input tokens exceeds maximum length.", { provider: "bedrock" }],
  [
    "Unable to submit request because the input token count is 2097153 but model only supports up to 1048576.",
    { provider: "vertex", tokens: 2_097_153, limit: 1_048_576 },
  ],
  [
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    { provider: "google", tokens: 1_196_265, limit: 1_048_575 },
  ],
  [
    "The input token count exceeds the maximum number of tokens allowed 1048576.",
    { provider: "google", limit: 1_048_576 },
  ],
  [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012 tokens. Please reduce the length of the messages.",
    { provider: "openai", tokens: 130_012, limit: 128_000 },
  ],
  [
    "This model's maximum context length is 8191 tokens, however you requested 10346 tokens (10341 in your prompt; 5 for the completion).",
    { provider: "openai", tokens: 10_346, limit: 8_191, countsOutput: true },
  ],
  [
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    { provider: "openai" },
  ],
  ["context_length_exceeded", { provider: "openai" }],
  [
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 in the output).",
    { provider: "openrouter", tokens: 140_000, limit: 131_072, countsOutput: true },
  ],
  ["prompt too long; exceeded max context length by 4021 tokens", { provider: "ollama", gap: 4_021 }],
  ["the input length exceeds the context length", { provider: "ollama" }],
  [
    "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it",
    { provider: "llama.cpp", tokens: 9_001, limit: 8_192 },
  ],
  [
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    { provider: "xai", tokens: 537_812, limit: 131_072 },
  ],
  ["capability_rejected: prompt_too_long", { provider: "gateway" }],
  ["request_too_large Request exceeds the maximum size", { provider: "anthropic", isBytes: true }],
]

describe("LOOP-5 a prompt that is too long is recognised", () => {
  test.each(SEEN)("%s", (words, expected) => {
    const { reason, ...found } = matchTooLong(words)!
    expect(found).toEqual(expected)
    expect(reason).not.toBe("")
  })

  test.each([
    "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-5",
    "This request would exceed your organization's rate limit of 50,000 input tokens per minute",
    "messages.3.content.0: text content blocks must be non-empty",
    "The maximum tokens you requested exceeds the model limit of 4096.",
    "Overloaded",
  ])("and nothing else is: %s", (words) => {
    expect(matchTooLong(words)).toBeUndefined()
  })
})

describe("LOOP-5 a refusal of the answer's size alone says how much output is allowed", () => {
  test.each([
    ["max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3", 8_192],
    ["max_tokens is too large: 32000. This model supports at most 16384 completion tokens.", 16_384],
    ["`max_tokens` must be less than or equal to `8192`, the maximum value for this model", 8_192],
    ["Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8_192],
    [
      "This model's maximum context length is 32768 tokens. However, you requested 37000 tokens (5000 in the messages, 32000 in the completion).",
      27_768,
    ],
    [
      "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 5000 input tokens (32000 > 32768 - 5000).",
      27_768,
    ],
    [
      "This model's maximum context length is 8191 tokens, however you requested 8700 tokens (8000 in your prompt; 700 for the completion).",
      undefined,
    ],
    ["prompt is too long: 215000 tokens > 200000 maximum", undefined],
  ])("%s", (words, max) => {
    expect(parseMaxOutput(words)).toBe(max)
  })
})
