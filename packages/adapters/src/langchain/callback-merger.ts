/**
 * Makes several rounds of a model look like one run to its listeners: token streams, events, tracers. A listener receives one start, the
 * visible chunks, and one end with the final response. Listeners that a model object was created with are not included.
 */
import { type Fields, isRecord, type LangChainMessage } from "./shapes.ts"
import { type Chunk, VisibleChunks } from "./visible-chunks.ts"

type Listener = Readonly<Record<PropertyKey, unknown>>
type CallbackArguments = readonly unknown[]

/** A list of listeners as LangChain passes it. */
interface Manager {
  copy(): Manager
  handlers: Listener[]
  inheritableHandlers: Listener[]
}

export class CallbackMerger {
  readonly #visible: VisibleChunks
  readonly #listeners = new Map<Listener, ListenerCallbacks>()
  #round = -1

  constructor(hidden: string) {
    this.#visible = new VisibleChunks(hidden)
  }

  /** The listeners of the next round. The end of the previous round is discarded. */
  callbacks(given: unknown): unknown {
    this.#round++
    const quiet = new Map<unknown, Listener>()
    const quieted = (listener: Listener) => {
      if (!isRecord(listener)) return listener
      const made = quiet.get(listener) ?? this.#callbacksOf(listener).quiet(this.#round)
      quiet.set(listener, made)
      return made
    }
    if (Array.isArray(given)) return given.map(quieted)
    if (!isManager(given)) return given
    const manager = given.copy()
    manager.handlers = manager.handlers.map(quieted)
    manager.inheritableHandlers = manager.inheritableHandlers.map(quieted)
    return manager
  }

  /** Ends the run, with the final response if there is one. */
  async end(message?: LangChainMessage): Promise<void> {
    for (const hearing of this.#listeners.values()) await hearing.end(message)
  }

  #callbacksOf(listener: Listener): ListenerCallbacks {
    const known = this.#listeners.get(listener) ?? new ListenerCallbacks(listener, this.#visible)
    this.#listeners.set(listener, known)
    return known
  }
}

const isManager = (given: unknown): given is Manager => isRecord(given) && typeof given.copy === "function"

/** A listener's last callback of a round, held until the end. */
interface HeldCallback {
  readonly name: "handleLLMEnd" | "handleLLMError"
  readonly words: CallbackArguments
}

type Methods = Readonly<Record<string, (...words: unknown[]) => unknown>>

/** The callbacks of one listener. They may come late, but in order: LangChain queues them. */
class ListenerCallbacks {
  readonly #listener: Listener
  readonly #visible: VisibleChunks
  /** The run id that the listener knows: that of the first round. */
  #runId: unknown
  #round = 0
  #held: HeldCallback | undefined
  #isOver = false
  #message: LangChainMessage | undefined
  #hasChunks = false
  #finish: CallbackArguments | undefined

  constructor(listener: Listener, visible: VisibleChunks) {
    this.#listener = listener
    this.#visible = visible
  }

  /** The listener for one round. Callbacks that do not concern the response run on the original object, which may have private fields. */
  quiet(round: number): Listener {
    this.#round = round
    this.#held = undefined
    const own: Methods = {
      handleChatModelStart: (...words) => this.#start("handleChatModelStart", words),
      handleLLMStart: (...words) => this.#start("handleLLMStart", words),
      _createRunForChatModelStart: (...words) => this.#start("_createRunForChatModelStart", words),
      _createRunForLLMStart: (...words) => this.#start("_createRunForLLMStart", words),
      handleLLMNewToken: (...words) => this.#token(words, round),
      handleChatModelStreamEvent: (...words) => this.#event(words, round),
      handleLLMEnd: (...words) => this.#hold({ name: "handleLLMEnd", words }, round),
      handleLLMError: (...words) => this.#hold({ name: "handleLLMError", words }, round),
    }
    return new Proxy(this.#listener, {
      get(target, key) {
        const value = Reflect.get(target, key)
        if (typeof value !== "function") return value
        return typeof key === "string" && key in own ? own[key] : value.bind(target)
      },
    })
  }

  async end(message: LangChainMessage | undefined): Promise<void> {
    this.#isOver = true
    this.#message = message
    await this.#release()
  }

  #call(name: string, words: CallbackArguments): unknown {
    const call = this.#listener[name]
    return typeof call === "function" ? Reflect.apply(call, this.#listener, words) : undefined
  }

  #start(name: string, words: CallbackArguments): unknown {
    this.#runId ??= words[2]
    return this.#runId === words[2] ? this.#call(name, words) : undefined
  }

  #token([token, place, runId, parent, tags, fields]: CallbackArguments, round: number): unknown {
    this.#runId ??= runId
    const { chunk } = (fields ?? {}) as { readonly chunk?: Chunk }
    const visible = isRecord(chunk?.message) ? this.#visible.chunk(chunk, round) : chunk
    if (chunk && !visible) return undefined
    this.#hasChunks ||= chunk !== undefined
    const more = chunk ? { ...(fields as Fields), chunk: visible } : fields
    return this.#call("handleLLMNewToken", [token, place, this.#runId, parent, tags, more])
  }

  #event([event, runId, ...more]: CallbackArguments, round: number): unknown {
    this.#runId ??= runId
    if ((event as Fields).event === "message-finish") this.#finish = [event, ...more]
    const visible = this.#visible.event(event as Fields, round)
    return visible && this.#call("handleChatModelStreamEvent", [visible, this.#runId, ...more])
  }

  /** Holds the end, because it is not known yet whether this is the last round. */
  async #hold(held: HeldCallback, round: number): Promise<void> {
    this.#runId ??= held.words[1]
    if (round < this.#round) return
    this.#held = held
    await this.#release()
  }

  async #release(): Promise<void> {
    if (!this.#held || !this.#isOver) return
    const { name, words } = this.#held
    this.#held = undefined
    const [first, , ...more] = words
    const message = this.#message
    if (name === "handleLLMError" || !message) {
      await this.#call(name, [first, this.#runId, ...more])
      return
    }
    await this.#sendLastChunk(message, more)
    await this.#call(name, [withMessage(first as Fields, message), this.#runId, ...more])
  }

  async #sendLastChunk(message: LangChainMessage, [parent, tags]: CallbackArguments): Promise<void> {
    const chunk = this.#hasChunks ? this.#visible.end(message) : undefined
    const place = { prompt: 0, completion: 0 }
    if (chunk) await this.#call("handleLLMNewToken", ["", place, this.#runId, parent, tags, { chunk }])
    if (!this.#finish) return
    const [event, ...more] = this.#finish
    const { usage_metadata: usage } = message
    const whole = usage ? { ...(event as Fields), usage } : event
    await this.#call("handleChatModelStreamEvent", [whole, this.#runId, ...more])
  }
}

function withMessage(output: Fields, message: LangChainMessage): Fields {
  const [[generation = {}] = []] = (output.generations ?? []) as readonly (readonly Fields[])[]
  return { ...output, generations: [[{ ...generation, message }]] }
}
