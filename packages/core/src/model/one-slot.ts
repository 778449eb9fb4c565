/**
 * A local server often has one slot: it works on one request at a time and remembers one prefix. Work in the background would make the person
 * wait for it, so it waits until no query runs, and gives the slot up when the next one begins. What it sent is then sent again.
 */
import type { RequestSource } from "../base/vocabulary.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { Model, ModelEvent, StreamOptions } from "./model.ts"
import { modelAround } from "./model-around.ts"

/** The person does not wait for these. */
const IN_BACKGROUND: ReadonlySet<RequestSource> = new Set(["notes", "memory", "dream", "progress"])

/** Providers of the AI SDK that stand for a server on the person's own machine. */
const LOCAL_PROVIDER = /^(?:ollama|llama|llamacpp|lm-?studio)\b/i

const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)

/** Whether requests to this address go to a program on this machine. */
export const isOnThisMachine = (address: string | undefined): boolean =>
  address !== undefined && URL.canParse(address) && isLoopback(new URL(address))

/** How many requests the model's server works on at a time. `undefined`: many. */
export const slotsOf = ({ facts, provider }: Pick<Model, "facts" | "provider">, set?: number): number | undefined =>
  set ?? facts.slots ?? (LOCAL_PROVIDER.test(provider) ? 1 : undefined)

/** Who has the slot: the queries of a conversation, or work in the background. */
export class Slot {
  #queries = 0
  /** Aborted when a query begins. */
  #lent = new AbortController()
  #freed = Promise.withResolvers<void>()

  /** A query begins. Returns a function that ends it. */
  claim(): () => void {
    this.#queries++
    this.#lent.abort(new Error("the conversation goes on"))
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (--this.#queries > 0) return
      this.#lent = new AbortController()
      this.#freed.resolve()
      this.#freed = Promise.withResolvers()
    }
  }

  /** Resolves when no query runs, with a signal that ends when one begins. */
  async lent(signal: AbortSignal): Promise<AbortSignal> {
    while (this.#queries > 0) {
      signal.throwIfAborted()
      const { promise, reject } = Promise.withResolvers<never>()
      const stop = () => reject(signal.reason)
      signal.addEventListener("abort", stop, { once: true })
      await Promise.race([this.#freed.promise, promise]).finally(() => signal.removeEventListener("abort", stop))
    }
    return this.#lent.signal
  }
}

export function oneSlotModel(model: Model, slot: Slot): Model {
  return modelAround(model, {
    stream: (request, options = {}) =>
      options.purpose && IN_BACKGROUND.has(options.purpose)
        ? whenFree(model, { request, options, slot })
        : model.stream(request, options),
    again: (sibling) => oneSlotModel(sibling, slot),
  })
}

interface Waiting {
  readonly request: ModelRequest
  readonly options: StreamOptions
  readonly slot: Slot
}

async function* whenFree(model: Model, { request, options, slot }: Waiting): AsyncGenerator<ModelEvent> {
  const own = options.signal ?? new AbortController().signal
  for (let attempt = 1; ; attempt++) {
    const lent = await slot.lent(own)
    try {
      return yield* model.stream(request, { ...options, signal: AbortSignal.any([own, lent]) })
    } catch (error) {
      if (own.aborted || !lent.aborted) throw error
      yield { type: "retry", attempt, delayMs: 0, reason: "the conversation goes on" }
    }
  }
}
