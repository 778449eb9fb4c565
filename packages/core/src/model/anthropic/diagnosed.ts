/**
 * Asks the provider why its cache no longer has what an earlier request left there. Servers that do not know the question refuse it: then the
 * request is sent without it, and so are all later ones. A refusal comes before the first event, so nothing is sent twice.
 */
import type { ModelRequest } from "../../messages/request.ts"
import { ModelError } from "../errors.ts"
import type { ModelEvent } from "../model.ts"

export class Diagnosis {
  #isKnown = true

  /** `previous`: the id of the answer before. */
  async *ask(
    { request, previous }: { readonly request: ModelRequest; readonly previous: string | undefined },
    attempt: (request: ModelRequest) => AsyncIterable<ModelEvent>,
  ): AsyncGenerator<ModelEvent> {
    if (previous === undefined || !this.#isKnown) return yield* attempt(request)
    try {
      yield* attempt({ ...request, diagnostics: { previous_message_id: previous } })
    } catch (error) {
      if (!(error instanceof ModelError) || !/diagnostics|previous_message_id/.test(error.said ?? "")) throw error
      this.#isKnown = false
      yield* attempt(request)
    }
  }
}
