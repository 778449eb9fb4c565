/** One call of a model: as many requests as it takes, and one response. A failure of Strata never prevents the response. */
import type { ApiBody, RequestPlan } from "../clients/plan.ts"
import { responseOf } from "./answer.ts"
import { type BindableModel, type BoundModel, boundOptions } from "./bound-model.ts"
import { CallbackMerger } from "./callback-merger.ts"
import { fromBody } from "./from-body.ts"
import { callsTool, mergeRounds } from "./merged-message.ts"
import { refusalOf } from "./refusal.ts"
import { type LangChainRequest, requestOf } from "./request.ts"
import { type CallOptions, dialectOf, type Fields, isRecord, type LangChainMessage, nameOf } from "./shapes.ts"

/** Access to the conversations for a call. */
export interface ConversationLookup {
  take(request: LangChainRequest): Promise<RequestPlan | undefined>
  readonly conversation?: string | undefined
  readonly log: (line: string) => void
}

export interface ModelCallOptions {
  readonly model: BindableModel
  /** The model with its tools. */
  readonly binding: BoundModel
  readonly tools: readonly unknown[]
  readonly kwargs: Fields | undefined
  readonly lookup: ConversationLookup
  readonly input: unknown
  readonly options: CallOptions
}

interface TakenPlan {
  readonly plan: RequestPlan
  readonly request: LangChainRequest
}

export class ModelCall {
  readonly #parts: ModelCallOptions
  readonly #all: CallOptions

  constructor(parts: ModelCallOptions) {
    this.#parts = parts
    this.#all = { ...boundOptions(parts.binding), ...parts.options }
  }

  async answer(): Promise<LangChainMessage> {
    const { binding, input, options } = this.#parts
    const taken = await this.#take()
    if (!taken) return binding.invoke(input, options)
    if (taken.plan.refusal !== undefined) throw new Error(taken.plan.refusal)
    try {
      return await this.#runRounds(taken)
    } catch (error) {
      if (!(error instanceof StrataFailure)) throw error
      this.#logFailure(error)
      await taken.plan.brokeOff(undefined)
      return binding.invoke(input, options)
    }
  }

  #logFailure(error: unknown): void {
    this.#parts.lookup.log(`LangChain: the agent continues without Strata, ${reasonOf(error)}`)
  }

  async #take(): Promise<TakenPlan | undefined> {
    const { model, input, tools, lookup } = this.#parts
    try {
      const request = requestOf({ model, input, options: this.#all, tools, conversation: lookup.conversation })
      const plan = request && (await lookup.take(request))
      return plan && { plan, request }
    } catch (error) {
      this.#logFailure(error)
      return undefined
    }
  }

  /** Sends requests until a response no longer calls Strata's tool. */
  async #runRounds(taken: TakenPlan): Promise<LangChainMessage> {
    const { hiddenTool: hidden } = taken.plan
    const run = hidden === undefined ? undefined : new CallbackMerger(hidden)
    const rounds: LangChainMessage[] = []
    try {
      for (let body = taken.plan.body; ; ) {
        const { message, sent } = await this.#sendRound(body, { ...taken, run, isFirst: rounds.length === 0 })
        rounds.push(message)
        const next = await this.#record(message, { ...taken, sent: sent ?? taken.request.body })
        if (next === undefined) break
        body = next
      }
    } catch (error) {
      await run?.end()
      throw error
    }
    const whole = hidden === undefined ? rounds[0]! : mergeRounds(rounds, hidden)
    await run?.end(whole)
    return whole
  }

  /** Sends a request. If the server refuses it, sends the plan's replacement once. */
  async #sendRound(body: ApiBody | undefined, round: CallRound) {
    const { plan, isFirst, run } = round
    try {
      return { message: await this.#invoke(body, run), sent: body }
    } catch (error) {
      const refusal = isFirst && !this.#all.signal?.aborted ? refusalOf(error) : undefined
      if (error instanceof StrataFailure) throw error
      if (!refusal) await plan.brokeOff(undefined)
      const other = refusal && (await plan.refused(refusal))
      if (other === undefined) throw error
      return { message: await this.#sentAgain(other, round), sent: other }
    }
  }

  async #sentAgain(body: ApiBody, { plan, run }: CallRound): Promise<LangChainMessage> {
    try {
      return await this.#invoke(body, run)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal) await plan.refused({ ...refusal, isFinal: true })
      else if (!(error instanceof StrataFailure)) await plan.brokeOff(undefined)
      throw error
    }
  }

  /** Records the response. Returns the next body if it calls only Strata's tool. */
  async #record(message: LangChainMessage, { plan, request, sent }: TakenPlan & { readonly sent: ApiBody }) {
    const { model } = this.#parts
    const { hiddenTool: hidden } = plan
    try {
      const asked = { model: nameOf(model, request.body), dialect: dialectOf(model), body: sent }
      const response = responseOf(message, asked)
      const next = hidden !== undefined && callsTool(message, hidden) ? await plan.again(response) : undefined
      if (next === undefined) await plan.answered(response)
      return next
    } catch (error) {
      this.#logFailure(error)
      await plan.brokeOff(undefined)
      return undefined
    }
  }

  async #invoke(body: ApiBody | undefined, run: CallbackMerger | undefined): Promise<LangChainMessage> {
    const { binding, input, options } = this.#parts
    const made = body && this.#convert(body)
    const callbacks = run ? { callbacks: run.callbacks(options.callbacks) } : {}
    if (!made) return binding.invoke(input, { ...options, ...callbacks })
    const [messages, tools] = made
    return binding.invoke(messages, { ...options, ...callbacks, ...(tools ? { tools } : {}) })
  }

  #convert(body: ApiBody): readonly [readonly LangChainMessage[], readonly unknown[] | undefined] {
    const { model, input } = this.#parts
    const dialect = dialectOf(model)
    try {
      const keepsBreakpoints = dialect === "anthropic" || hasBreakpoints(input)
      const tools =
        dialect === "anthropic" ? (body.tools as readonly unknown[] | undefined) : this.#withStrataTool(body)
      return [fromBody(body, { dialect, keepsBreakpoints }), tools]
    } catch (error) {
      throw new StrataFailure(reasonOf(error))
    }
  }

  /** Adds Strata's tool to the client's, in the shape of the model's package. */
  #withStrataTool({ tools }: ApiBody): readonly unknown[] | undefined {
    const { model, tools: own, kwargs } = this.#parts
    const definitions = (Array.isArray(tools) ? tools : []) as readonly Fields[]
    if (definitions.length !== own.length + 1) return undefined
    const names = new Set(own.map((tool) => toolName(tool)))
    const at = definitions.findIndex(({ name }) => !names.has(name))
    if (at < 0) return undefined
    const { name, description, input_schema: schema } = definitions[at]!
    const together = model.bindTools(own.toSpliced(at, 0, { name, description, schema }), kwargs)
    return boundOptions(together).tools
  }
}

/** Whether the client sets cache breakpoints, which shows that its provider accepts them. */
const hasBreakpoints = (input: unknown): boolean =>
  Array.isArray(input) &&
  input.some(
    ({ content }: LangChainMessage) =>
      Array.isArray(content) && content.some((part) => isRecord(part) && part.cache_control),
  )

interface CallRound extends TakenPlan {
  readonly run: CallbackMerger | undefined
  readonly isFirst: boolean
}

/** An error before anything was sent. */
class StrataFailure extends Error {}

const toolName = (tool: unknown): unknown => {
  if (typeof tool !== "object" || tool === null) return undefined
  const { name, function: inner } = tool as { readonly name?: unknown; readonly function?: unknown }
  return isRecord(inner) ? inner.name : name
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
