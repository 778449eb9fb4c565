/** One call of a model: as many requests as it takes, and one answer. A failure of ours never keeps the caller from its answer. */
import type { Body, Plan } from "../callers/plan.ts"
import { responseOf } from "./answer.ts"
import { type Bindable, type Bound, boundOptions } from "./bound.ts"
import { fromBody } from "./from-body.ts"
import { callsTool, oneAnswer } from "./one-answer.ts"
import { OneRun } from "./one-run.ts"
import { refusalOf } from "./refusal.ts"
import { type LangChainRequest, requestOf } from "./request.ts"
import { type CallOptions, dialectOf, type Fields, isRecord, type LangChainMessage, nameOf } from "./shapes.ts"

/** What a call is made through. */
export interface Door {
  take(request: LangChainRequest): Promise<Plan | undefined>
  readonly conversation?: string | undefined
  readonly log: (line: string) => void
}

export interface ExchangeParts {
  readonly model: Bindable
  /** The model with its tools. */
  readonly binding: Bound
  readonly tools: readonly unknown[]
  readonly kwargs: Fields | undefined
  readonly door: Door
  readonly input: unknown
  readonly options: CallOptions
}

interface Taken {
  readonly plan: Plan
  readonly request: LangChainRequest
}

export class Exchange {
  readonly #parts: ExchangeParts
  readonly #all: CallOptions

  constructor(parts: ExchangeParts) {
    this.#parts = parts
    this.#all = { ...boundOptions(parts.binding), ...parts.options }
  }

  async answer(): Promise<LangChainMessage> {
    const { binding, input, options } = this.#parts
    const taken = await this.#taken()
    if (!taken) return binding.invoke(input, options)
    if (taken.plan.refusal !== undefined) throw new Error(taken.plan.refusal)
    try {
      return await this.#rounds(taken)
    } catch (error) {
      if (!(error instanceof OursFailed)) throw error
      this.#failed(error)
      await taken.plan.brokeOff(undefined)
      return binding.invoke(input, options)
    }
  }

  #failed(error: unknown): void {
    this.#parts.door.log(`LangChain: the agent goes on without Strata, ${reasonOf(error)}`)
  }

  async #taken(): Promise<Taken | undefined> {
    const { model, input, tools, door } = this.#parts
    try {
      const request = requestOf({ model, input, options: this.#all, tools, conversation: door.conversation })
      const plan = request && (await door.take(request))
      return plan && { plan, request }
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }

  /** Until an answer asks no more of our tool. */
  async #rounds(taken: Taken): Promise<LangChainMessage> {
    const { hiddenTool: hidden } = taken.plan
    const run = hidden === undefined ? undefined : new OneRun(hidden)
    const rounds: LangChainMessage[] = []
    try {
      for (let body = taken.plan.body; ; ) {
        const { message, sent } = await this.#answered(body, { ...taken, run, isFirst: rounds.length === 0 })
        rounds.push(message)
        const next = await this.#noted(message, { ...taken, sent: sent ?? taken.request.body })
        if (next === undefined) break
        body = next
      }
    } catch (error) {
      await run?.end()
      throw error
    }
    const whole = hidden === undefined ? rounds[0]! : oneAnswer(rounds, hidden)
    await run?.end(whole)
    return whole
  }

  /** What the server refuses is sent once more in another form, if there is one. */
  async #answered(body: Body | undefined, round: Round) {
    const { plan, isFirst, run } = round
    try {
      return { message: await this.#sent(body, run), sent: body }
    } catch (error) {
      const refusal = isFirst && !this.#all.signal?.aborted ? refusalOf(error) : undefined
      if (error instanceof OursFailed) throw error
      if (!refusal) await plan.brokeOff(undefined)
      const other = refusal && (await plan.refused(refusal))
      if (other === undefined) throw error
      return { message: await this.#sentAgain(other, round), sent: other }
    }
  }

  async #sentAgain(body: Body, { plan, run }: Round): Promise<LangChainMessage> {
    try {
      return await this.#sent(body, run)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal) await plan.refused({ ...refusal, isFinal: true })
      else if (!(error instanceof OursFailed)) await plan.brokeOff(undefined)
      throw error
    }
  }

  /** Records the answer. What is sent next if it only asks our tool. */
  async #noted(message: LangChainMessage, { plan, request, sent }: Taken & { readonly sent: Body }) {
    const { model } = this.#parts
    const { hiddenTool: hidden } = plan
    try {
      const asked = { model: nameOf(model, request.body), dialect: dialectOf(model), body: sent }
      const response = responseOf(message, asked)
      const next = hidden !== undefined && callsTool(message, hidden) ? await plan.again(response) : undefined
      if (next === undefined) await plan.answered(response)
      return next
    } catch (error) {
      this.#failed(error)
      await plan.brokeOff(undefined)
      return undefined
    }
  }

  async #sent(body: Body | undefined, run: OneRun | undefined): Promise<LangChainMessage> {
    const { binding, input, options } = this.#parts
    const made = body && this.#made(body)
    const heard = run ? { callbacks: run.callbacks(options.callbacks) } : {}
    if (!made) return binding.invoke(input, { ...options, ...heard })
    const [messages, tools] = made
    return binding.invoke(messages, { ...options, ...heard, ...(tools ? { tools } : {}) })
  }

  #made(body: Body): readonly [readonly LangChainMessage[], readonly unknown[] | undefined] {
    const { model, input } = this.#parts
    const dialect = dialectOf(model)
    try {
      const keepsMarks = dialect === "anthropic" || hasMarks(input)
      const tools = dialect === "anthropic" ? (body.tools as readonly unknown[] | undefined) : this.#withOurs(body)
      return [fromBody(body, { dialect, keepsMarks }), tools]
    } catch (error) {
      throw new OursFailed(reasonOf(error))
    }
  }

  /** Our tool among the caller's, in the shape that the model's package gives it. */
  #withOurs({ tools }: Body): readonly unknown[] | undefined {
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

/** Whether the caller marks what may be cached: then its provider takes marks. */
const hasMarks = (input: unknown): boolean =>
  Array.isArray(input) &&
  input.some(
    ({ content }: LangChainMessage) =>
      Array.isArray(content) && content.some((part) => isRecord(part) && part.cache_control),
  )

interface Round extends Taken {
  readonly run: OneRun | undefined
  readonly isFirst: boolean
}

/** Nothing has been sent. */
class OursFailed extends Error {}

const toolName = (tool: unknown): unknown => {
  if (typeof tool !== "object" || tool === null) return undefined
  const { name, function: inner } = tool as { readonly name?: unknown; readonly function?: unknown }
  return isRecord(inner) ? inner.name : name
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
