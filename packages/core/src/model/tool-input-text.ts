/**
 * The input of a tool call, from the text a model wrote. A good one keeps the model's own spelling (MSG-5). One that cannot be used (cut
 * off at the token limit, not JSON, not an object) must neither end the conversation nor be sent back, since the API takes objects only:
 * the call then has the input `{}` and carries along what was written and why it is of no use, invisible to `JSON.stringify`. The loop
 * asks `unusableInputOf` before it runs a call and answers with an error result, so that the model can mend it. After a crash the mark is
 * gone, but then the call has no result either and is answered as interrupted.
 */
import { withExactInput } from "../messages/exact-json.ts"

const UNUSABLE = Symbol("an input that cannot be used")

export interface UnusableInput {
  /** As far as the model wrote it. */
  readonly text: string
  /** To be told to the model. */
  readonly why: string
}

/** Why a call must not be run, where its input is of no use. */
export function unusableInputOf(call: object): UnusableInput | undefined {
  return (call as { readonly [UNUSABLE]?: UnusableInput })[UNUSABLE]
}

/** The call with the input that stands in `text`. No text is an empty input: calls without arguments are streamed like that. */
export function withInputText<T extends { readonly input: unknown }>(
  call: T,
  { text, stopReason }: { readonly text: string; readonly stopReason: string | null },
): T {
  if (text.trim() === "") return { ...call, input: {} }
  const why = troubleWith(text, stopReason)
  return why === undefined ? withExactInput(call, text) : { ...call, input: {}, [UNUSABLE]: { text, why } }
}

function troubleWith(text: string, stopReason: string | null): string | undefined {
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
