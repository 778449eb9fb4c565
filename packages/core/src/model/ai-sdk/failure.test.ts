import { describe, expect, test } from "vitest"
import { modelErrorFrom } from "../provider-failure.ts"
import { readFailure } from "./ai-sdk.ts"

const context = { provider: "openai.responses", attempts: 1, secrets: [] }
const named = (name: string, fields: object = {}) => Object.assign(new Error("It failed"), { name, ...fields })
const body = (error: object) => ({ responseBody: JSON.stringify({ error }) })

describe("LOOP-5 errors of the AI SDK", () => {
  test.each<[string, unknown, string]>([
    [
      "a quota",
      named("AI_APICallError", { statusCode: 429, ...body({ code: "insufficient_quota", message: "no" }) }),
      "SpendLimitError",
    ],
    [
      "a window",
      named("AI_APICallError", { statusCode: 400, ...body({ code: "context_length_exceeded", message: "no" }) }),
      "PromptTooLongError",
    ],
    ["a proxy's page", named("AI_APICallError", { statusCode: 502, responseBody: "<html>" }), "OverloadedError"],
    ["no answer", named("AI_APICallError", { isRetryable: true }), "ConnectionLostError"],
    ["an answer that broke off", named("AI_APICallError", { statusCode: 200 }), "ConnectionLostError"],
    ["no key", named("AI_LoadAPIKeyError"), "AuthenticationError"],
    ["something a model cannot do", named("AI_UnsupportedFunctionalityError"), "InvalidModelRequestError"],
    ["a bare object", { type: "overloaded_error", message: "Overloaded" }, "OverloadedError"],
    ["a wrapped object", { error: { type: "rate_limit_error", message: "slow" } }, "RateLimitedError"],
    ["a text", "something broke", "ConnectionLostError"],
  ])("%s", (_, error, name) => {
    expect(modelErrorFrom(readFailure(error)!, context).name).toBe(name)
  })

  test("the provider's words are taken, not those around them", () => {
    const error = named("AI_APICallError", { statusCode: 400, ...body({ message: "bad field" }) })
    expect(readFailure(error)?.message).toBe("bad field")
  })

  test("a fault in a program is not one of them", () => {
    expect(readFailure(new TypeError("x is not a function"))).toBeUndefined()
    expect(readFailure(undefined)).toBeUndefined()
  })
})
