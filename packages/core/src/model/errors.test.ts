import { describe, expect, test } from "vitest"
import {
  AuthenticationError,
  InvalidModelRequestError,
  MissingKeyError,
  ModelAbortedError,
  ModelError,
  OverloadedError,
  PromptTooLongError,
  RateLimitedError,
} from "./errors.ts"
import { redact } from "./redact.ts"

const provider = "anthropic"

describe("LOOP-5 errors are sentences for a person", () => {
  test("what happened, what was kept, what to do", () => {
    expect(new PromptTooLongError({ tokens: 215_000, limit: 200_000 }, { provider }).message).toBe(
      "The request is too long for Anthropic (215,000 tokens, the limit is 200,000, 15,000 too many). There was no answer. Everything in the conversation is kept. Compact the conversation, go back to an earlier message, or use a model with a larger window.",
    )
    expect(new RateLimitedError({ provider, status: 429, retryAfterMs: 61_500, attempts: 3 }).message).toBe(
      "Anthropic reports that its rate limit is reached after 3 attempts (429). Everything in the conversation is kept. Try again in 62 seconds.",
    )
    expect(
      new InvalidModelRequestError({
        provider,
        status: 400,
        providerMessage: "max_tokens: Field required",
        requestId: "req_1",
      }).message,
    ).toBe(
      `Anthropic refuses the request (400, request req_1): "max_tokens: Field required". Everything in the conversation is kept. Sending it again will not help. The provider's message says what to change.`,
    )
    expect(new ModelAbortedError(provider).message).toBe(
      "The request to Anthropic was stopped before it was answered. Everything in the conversation is kept.",
    )
  })

  test("a model that is not there: the name may be wrong, or the provider", () => {
    const unknown = new InvalidModelRequestError({ provider, status: 404, providerMessage: "model: gpt-4o" })
    expect(unknown.message).toBe(
      `Anthropic refuses the request (404): "model: gpt-4o". Everything in the conversation is kept. Check the name of the model. Names go to the Messages API: for a model of another provider, set ANTHROPIC_BASE_URL to a server that offers it there. In code, you can pass a model of the AI SDK.`,
    )
    expect(new MissingKeyError("openai.chat").message).toMatch(
      /^There is no key for OpenAI, .*option "client": new Anthropic/,
    )
  })

  test("sizes that were not reported are left out, and a gap is taken as reported", () => {
    expect(new PromptTooLongError({}, { provider }).message).toMatch(/^The request is too long for Anthropic\. /)
    expect(new PromptTooLongError({ gap: 12 }, { provider })).toMatchObject({ gap: 12, tokens: undefined })
  })

  test("every kind is a ModelError with its own name", () => {
    const errors = [
      new OverloadedError({ provider }),
      new AuthenticationError({ provider }),
      new ModelAbortedError(provider),
    ]
    expect(errors.every((error) => error instanceof ModelError)).toBe(true)
    expect(errors.map(({ name }) => name)).toEqual(["OverloadedError", "AuthenticationError", "ModelAbortedError"])
  })
})

describe("keys never get into a text", () => {
  test.each([
    ["sk-ant-api03-abcdef", "Incorrect API key provided: sk-ant-api03-abcdef."],
    ["AIzaSyA1234567890abcdefghij", "https://x/v1beta?alt=sse&key=AIzaSyA1234567890abcdefghij"],
    ["hunter2hunter2", "GET https://gateway.example/v1?api_key=hunter2hunter2&x=1 failed"],
    ["abc.def.ghi", "authorization: Bearer abc.def.ghi"],
    ["swordfish", '{"x-api-key": "swordfish"}'],
  ])("%s", (key, text) => {
    const error = new AuthenticationError({ provider, providerMessage: text })
    expect(
      `${redact(text)} ${error.message} ${error.providerMessage} ${JSON.stringify(error)} ${error.stack}`,
    ).not.toContain(key)
  })

  test("a key in use is removed whatever it looks like", () => {
    expect(redact("bad key: plain-word", ["plain-word"])).toBe("bad key: [key removed]")
    expect(redact("nothing to hide", [""])).toBe("nothing to hide")
    expect(redact("key=ab12, and ab123 stays", ["ab12"])).toBe("key=[key removed], and ab123 stays")
  })

  test.each([
    `it refuses access (HTTP 401). Put a key into its headers: "Authorization": "Bearer \${NAME}"`,
    "The header authorization must have the token: Bearer TOKEN.",
    "Send Authorization: Bearer <your key>, or x-api-key: YOUR_API_KEY.",
    "Bearer authentication is required. No Bearer token was sent with https://x/v1?key=<key>.",
    "There is no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or pass the option client.",
    "Your key begins with sk-ant-... and is in the console.",
  ])("what says where a key belongs stays: %s", (text) => {
    expect(redact(text, ["a", "1"])).toBe(text)
  })

  test("ordinary words stay", () => {
    const text = 'messages.3: text "task-list" is too long, see https://docs.example/token?page=2'
    expect(redact(text)).toBe(text)
  })
})
