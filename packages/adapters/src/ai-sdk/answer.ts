/**
 * Carries out a plan: sends what it says, passes the answer on, and tells the plan what became of it. An answer that only asks a tool of
 * ours is continued by the next one.
 */
import { setTimeout } from "node:timers/promises"
import {
  type CallOptions,
  estimateUsage,
  PartCollector,
  readFailure,
  type StreamPart,
  untilAborted,
} from "@strata/core/ai-sdk"
import { findModel } from "@strata/core/tokens"
import type { Body, Plan } from "../callers/plan.ts"
import { type Call, callWith } from "./call.ts"
import { type GenerateResult, type GivenModel, partsOf, type StreamResult } from "./given-model.ts"
import { Splice } from "./splice.ts"

const MAX_RETRIES = 2 // as the AI SDK's own
const MAX_WAIT = 60 // seconds

/** One answer to a call, from the first request to the last part. */
export class Course {
  readonly #plan: Plan
  readonly #call: Call
  readonly #log: (line: string) => void
  readonly #splice: Splice
  /** What is sent in this round. */
  #body: Body
  #collector: PartCollector
  #hasFailed = false
  #isOver = false

  constructor(plan: Plan, call: Call, { body, log }: { readonly body: Body; readonly log: (line: string) => void }) {
    this.#plan = plan
    this.#call = call
    this.#log = log
    this.#body = plan.body ?? body
    this.#splice = new Splice({ hiddenTool: plan.hiddenTool, params: call.params })
    this.#collector = this.#newCollector()
  }

  async stream(): Promise<StreamResult> {
    const model = this.#call.model as unknown as GivenModel
    const send = (options: CallOptions) => model.doStream(options)
    const first = await this.#first(send)
    const stop = new AbortController()
    const parts = this.#parts(first.stream, async (body) => (await this.#sendNext(body, send)).stream, stop.signal)
    const stream = new ReadableStream<StreamPart>({
      async pull(controller) {
        const next = await parts.next()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
      cancel() {
        stop.abort()
        void parts.return(undefined).catch(() => undefined) // it may wait for a server
      },
    })
    return { ...first, stream }
  }

  async generate(): Promise<GenerateResult> {
    const model = this.#call.model as unknown as GivenModel
    const send = (options: CallOptions) => model.doGenerate(options)
    let result = await this.#first(send)
    const isJson = this.#call.params.responseFormat?.type === "json"
    let content: readonly StreamPart[] = []
    for (;;) {
      for (const part of partsOf(result)) this.#seen(part)
      const next = await this.#ended()
      const seen = result.content.filter((part) => !isCallOf(part, this.#plan.hiddenTool))
      if (!next) return { ...result, content: [...content, ...seen], ...this.#end(result) }
      content = [...content, ...seen.filter(({ type }) => !isJson || (type as string) !== "text")]
      this.#nextRound(next)
      try {
        result = await this.#sendNext(next, send)
      } catch (error) {
        await this.#brokeOff()
        throw error
      }
    }
  }

  /** The first request. One that the server refuses is sent again as the plan says. */
  async #first<T>(send: (options: CallOptions) => PromiseLike<T>): Promise<T> {
    const { body } = this.#plan
    try {
      return await send(body ? callWith(body, this.#call) : this.#call.params)
    } catch (error) {
      const other = await this.#refused(error)
      if (!other) throw error
      this.#body = other
      try {
        return await send(callWith(other, this.#call))
      } catch (second) {
        await this.#refused(second, true)
        throw second
      }
    }
  }

  /** The SDK repeats only the first request of a step: where the server is busy with a later one, we do. */
  async #sendNext<T>(body: Body, send: (options: CallOptions) => PromiseLike<T>): Promise<T> {
    const { abortSignal: signal } = this.#call.params
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(callWith(body, this.#call))
      } catch (error) {
        const { isRetryable, responseHeaders } = (error ?? {}) as Refused
        if (!isRetryable || attempt > MAX_RETRIES || signal?.aborted) throw error
        const said = Number(responseHeaders?.["retry-after"])
        const seconds = Math.min(said >= 0 ? said : 2 ** attempt, MAX_WAIT)
        await setTimeout(seconds * 1000, undefined, signal ? { signal } : {})
      }
    }
  }

  async #refused(error: unknown, isFinal = false): Promise<Body | undefined> {
    const { statusCode: status, responseBody, data } = (error ?? {}) as Refused
    if (status === undefined || status < 400) {
      await this.#brokeOff()
      return undefined
    }
    this.#isOver = isFinal
    const said = parsed(responseBody) ?? data ?? { error: { message: readFailure(error)?.message ?? String(error) } }
    const other = await this.#tell("refused", () =>
      this.#plan.refused({ status, error: said, ...(isFinal ? { isFinal } : {}) }),
    )
    this.#isOver ||= other === undefined
    return isFinal ? undefined : other
  }

  async *#parts(
    first: ReadableStream<StreamPart>,
    send: (body: Body) => Promise<ReadableStream<StreamPart>>,
    stopped: AbortSignal,
  ): AsyncGenerator<StreamPart, void> {
    const { abortSignal } = this.#call.params
    const signal = abortSignal ? AbortSignal.any([abortSignal, stopped]) : stopped
    try {
      for (let stream = first; ; ) {
        for await (const part of untilAborted(stream, signal)) {
          yield* this.#seen(part)
        }
        signal.throwIfAborted()
        const next = await this.#ended()
        if (!next) break
        this.#nextRound(next)
        stream = await send(next)
      }
      yield* this.#splice.end()
    } catch (error) {
      await this.#brokeOff()
      if (signal.aborted) throw error
      yield { type: "error", error }
    } finally {
      await this.#brokeOff() // the program went away
    }
  }

  /** What the program sees of a part. */
  #seen(part: StreamPart): readonly StreamPart[] {
    this.#hasFailed ||= part.type === "error" || isCut(part)
    this.#collector.take(part)
    return this.#splice.take(part)
  }

  /** The round has come to its end. What is sent next, if it only asked our tool. */
  async #ended(): Promise<Body | undefined> {
    const message = this.#hasFailed ? undefined : this.#message()
    if (!message) {
      await this.#brokeOff()
      return undefined
    }
    const next = await this.#tell("again", () => this.#plan.again(message))
    if (next) return next
    this.#isOver = true
    await this.#tell("answered", () => this.#plan.answered(message))
    return undefined
  }

  #message(): Body | undefined {
    const { modelId } = this.#call.model
    const request = this.#body as never
    const estimate = (content: readonly never[]) => estimateUsage({ request, content, facts: findModel(modelId).facts })
    const response = this.#collector.response(estimate as never)
    return response && ({ type: "message", role: "assistant", ...response } as unknown as Body)
  }

  #nextRound(body: Body): void {
    this.#splice.nextRound()
    this.#body = body
    this.#collector = this.#newCollector()
  }

  #newCollector(): PartCollector {
    return new PartCollector(this.#call.model.modelId, { preservesParts: true })
  }

  /** The end of an answer that came whole. */
  #end({ finishReason, usage }: GenerateResult): Pick<GenerateResult, "finishReason" | "usage"> {
    const last = this.#splice.end().at(-1)
    return last?.type === "finish" ? { finishReason: last.finishReason, usage: last.usage } : { finishReason, usage }
  }

  async #brokeOff(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    const partial = this.#collector.partial() as Body | undefined
    await this.#tell("brokeOff", () => this.#plan.brokeOff(partial))
  }

  /** A plan that fails now cannot harm the answer. */
  async #tell<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call()
    } catch (error) {
      this.#log(`${what}: ${error instanceof Error ? error.message : error}`)
      return undefined
    }
  }
}

/** What an error of the AI SDK says about a refusal, from any copy of it. */
interface Refused {
  readonly statusCode?: number
  readonly isRetryable?: boolean
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly responseBody?: string
  readonly data?: unknown
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

/** Some providers end a stream that was cut off like any other, but cannot say why it ended. */
const isCut = (part: StreamPart): boolean =>
  part.type === "finish" && part.finishReason.unified === "other" && part.finishReason.raw === undefined

const isCallOf = (part: StreamPart, tool: string | undefined): boolean =>
  tool !== undefined && part.type === "tool-call" && part.toolName === tool
