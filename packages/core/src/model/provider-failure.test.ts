import { describe, expect, test } from "vitest"
import { ConnectionLostError, ModelAbortedError, type RateLimitedError } from "./errors.ts"
import { asModelError, connectionFailure, modelErrorFrom, type ProviderFailure } from "./provider-failure.ts"

const context = { provider: "anthropic", attempts: 2, secrets: ["plain-word"] }
const errorFor = (failure: Partial<ProviderFailure>) => modelErrorFrom({ message: "", ...failure }, context)
const headers = (given: Readonly<Record<string, string>>) => (name: string) => given[name]

describe("LOOP-5 what a provider says becomes an error a caller can act on", () => {
  test.each<[string, Partial<ProviderFailure>, string]>([
    ["a key it does not know", { status: 401 }, "AuthenticationError"],
    ["a key without the right", { status: 403 }, "AuthenticationError"],
    ["no credit", { status: 402 }, "SpendLimitError"],
    ["a spend limit", { status: 429, code: "enforced_spend_limit_reached" }, "SpendLimitError"],
    ["a used-up quota", { status: 429, code: "insufficient_quota" }, "SpendLimitError"],
    ["a rate limit", { status: 429, type: "rate_limit_error" }, "RateLimitedError"],
    ["overload", { status: 529 }, "OverloadedError"],
    ["a failing server", { status: 500 }, "OverloadedError"],
    ["a server's timeout", { status: 504 }, "OverloadedError"],
    ["a conflict that passes", { status: 409 }, "OverloadedError"],
    ["an invalid request", { status: 400, message: "max_tokens: Field required" }, "InvalidModelRequestError"],
    ["an unknown model", { status: 404 }, "InvalidModelRequestError"],
    ["a prompt too long", { status: 400, message: "prompt is too long: 2 tokens > 1 maximum" }, "PromptTooLongError"],
    ["a body too large", { status: 413, type: "request_too_large" }, "PromptTooLongError"],
    ["a code for it", { status: 400, code: "context_length_exceeded" }, "PromptTooLongError"],
    ["overload in the middle of a stream", { type: "overloaded_error" }, "OverloadedError"],
    ["a stream that breaks for no stated reason", { message: "whatever" }, "ConnectionLostError"],
    ["a rate limit that talks of tokens", { status: 429, message: "prompt is too long for now" }, "RateLimitedError"],
  ])("%s", (_, failure, name) => {
    expect(errorFor(failure).name).toBe(name)
  })

  test("status, request id, attempts and words are kept, the key is not", () => {
    const error = errorFor({ status: 400, message: "no plain-word here", requestId: "req_7" })
    expect(error).toMatchObject({
      status: 400,
      providerMessage: "no [key removed] here",
      requestId: "req_7",
      attempts: 2,
    })
    expect(error.message).not.toContain("plain-word")
  })

  test.each<[Readonly<Record<string, string>>, number | undefined]>([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
    [{ "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", date: "Wed, 21 Oct 2026 07:28:00 GMT" }, 30_000],
    [{ "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined],
  ])("retry-after: %j is %s ms", (given, expected) => {
    const error = errorFor({ status: 429, header: headers(given) }) as RateLimitedError
    expect(error.retryAfterMs).toBe(expected)
  })

  test("x-should-retry: false", () => {
    expect(errorFor({ status: 529, header: headers({ "x-should-retry": "false" }) })).toMatchObject({
      forbidsRetry: true,
    })
  })
})

describe("LOOP-5 network failures", () => {
  const caused = (message: string, cause: unknown) => new Error(message, { cause })
  const coded = (code: string) => Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code })

  test.each([
    [new TypeError("terminated"), "terminated"],
    [caused("fetch failed", coded("ECONNREFUSED")), "ECONNREFUSED"],
    [caused("Connection error.", caused("fetch failed", coded("UND_ERR_SOCKET"))), "UND_ERR_SOCKET"],
    [new Error("Request timed out."), "Request timed out."],
    [new SyntaxError("Unexpected end of JSON input"), "Unexpected end of JSON input"],
  ])("%s", (error, words) => {
    expect(connectionFailure(error)).toBe(words)
    const read = () => undefined
    expect(asModelError(error, { read, context })).toBeInstanceOf(ConnectionLostError)
  })

  test("a fault in a program is no network failure, and our own errors stay", () => {
    const read = () => undefined
    for (const error of [new TypeError("x is not a function"), new ModelAbortedError("a"), "text", undefined]) {
      expect(asModelError(error, { read, context })).toBe(error)
    }
  })
})
