/**
 * The input of a tool call, parsed from the text that a model wrote. A valid input keeps the model's own spelling. An unusable one (cut
 * off at the token limit, not JSON, not an object) must not end the conversation and cannot be sent back, because the API accepts only
 * objects. The call then has the input `{}`, and a symbol property, which `JSON.stringify` ignores, holds the text and the reason. The
 * loop calls `getUnusableInput` before it runs a call and answers with an error result, so that the model can correct it. After a crash
 * the property is lost, but then the call has no result either and is answered as interrupted.
 */
import { withExactInput } from "../messages/exact-json.ts"

const UNUSABLE = Symbol("an input that cannot be used")

export interface UnusableInput {
  /** The text as far as the model wrote it. */
  readonly text: string
  /** The reason, phrased for the model. */
  readonly reason: string
}

/** The unusable input of a call, which must not run. `undefined` if the input is usable. */
export function getUnusableInput(call: object): UnusableInput | undefined {
  return (call as { readonly [UNUSABLE]?: UnusableInput })[UNUSABLE]
}

/** The call with the parsed input. An empty text is an empty input, because calls without arguments are streamed that way. */
export function withInputText<T extends { readonly input: unknown }>(
  call: T,
  { text, stopReason }: { readonly text: string; readonly stopReason: string | null },
): T {
  if (text.trim() === "") return { ...call, input: {} }
  const reason = inputProblem(text, stopReason)
  return reason === undefined ? withExactInput(call, text) : { ...call, input: {}, [UNUSABLE]: { text, reason } }
}

function inputProblem(text: string, stopReason: string | null): string | undefined {
  try {
    const input: unknown = JSON.parse(text)
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return undefined
    return `it must be a JSON object, but it is ${Array.isArray(input) ? "a list" : `${JSON.stringify(input)?.slice(0, 40)}`}.`
  } catch (error) {
    if (stopReason === "max_tokens" || stopReason === "model_context_window_exceeded") {
      return `it was cut off after ${text.length} characters, where the answer reached its limit. Do it in smaller steps.`
    }
    return `it is not valid JSON (${(error as SyntaxError).message}).`
  }
}
