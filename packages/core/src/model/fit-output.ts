/**
 * Asks again with less output where a server refuses only the size of the answer: small and local models have less room than was asked for.
 * A refusal comes before the first event, so nothing is sent twice.
 */
import type { ModelRequest } from "../messages/request.ts"
import { ModelError } from "./errors.ts"
import type { AttemptWatch, ModelEvent } from "./model.ts"

interface Fitting {
  readonly attempt: (request: ModelRequest) => AsyncIterable<ModelEvent>
  readonly watch?: AttemptWatch | undefined
}

export async function* fitOutput(request: ModelRequest, { attempt, watch }: Fitting): AsyncGenerator<ModelEvent> {
  try {
    yield* attempt(request)
  } catch (error) {
    const most = error instanceof ModelError ? error.mostOutput : undefined
    if (most === undefined || most >= request.max_tokens) throw error
    watch?.refused?.(error)
    yield* attempt({ ...request, max_tokens: most })
  }
}
