/**
 * Carries out a plan: sends its request, relays the response, and reports the outcome to the plan. If a response calls only a Strata tool,
 * the next response continues it.
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
import type { ApiBody, RequestPlan } from "../clients/plan.ts"
import { type AiSdkCall, callWith } from "./call.ts"
import { MergedParts } from "./merged-parts.ts"
import { type GenerateResult, partsOf, type StreamResult, type WrappedModel } from "./wrapped-model.ts"

const MAX_RETRIES = 2 // the AI SDK's own default
const MAX_WAIT = 60 // seconds

/** Relays one response to a call, from the first request to the last part. */
export class AnswerRelay {
  readonly #plan: RequestPlan
  readonly #call: AiSdkCall
  readonly #log: (line: string) => void
  readonly #splice: MergedParts
  /** The body sent in this round. */
  #body: ApiBody
  #collector: PartCollector
  #hasFailed = false
  #isOver = false

  constructor(
    plan: RequestPlan,
    call: AiSdkCall,
    { body, log }: { readonly body: ApiBody; readonly log: (line: string) => void },
  ) {
    this.#plan = plan
    this.#call = call
    this.#log = log
    this.#body = plan.body ?? body
    this.#splice = new MergedParts({ hiddenTool: plan.hiddenTool, params: call.params })
    this.#collector = this.#newCollector()
  }

  async stream(): Promise<StreamResult> {
    const model = this.#call.model as unknown as WrappedModel
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
        void parts.return(undefined).catch(() => undefined) // not awaited: it may wait for a server
      },
    })
    return { ...first, stream }
  }

  async generate(): Promise<GenerateResult> {
    const model = this.#call.model as unknown as WrappedModel
    const send = (options: CallOptions) => model.doGenerate(options)
    let result = await this.#first(send)
    const isJson = this.#call.params.responseFormat?.type === "json"
    let content: readonly StreamPart[] = []
    for (;;) {
      for (const part of partsOf(result)) this.#relay(part)
      const next = await this.#endRound()
      const seen = result.content.filter((part) => !isCallOf(part, this.#plan.hiddenTool))
      if (!next) return { ...result, content: [...content, ...seen], ...this.#end(result) }
      content = [...content, ...seen.filter(({ type }) => !isJson || (type as string) !== "text")]
      this.#nextRound(next)
      try {
        result = await this.#sendNext(next, send)
      } catch (error) {
        await this.#reportBreak()
        throw error
      }
    }
  }

  /** Sends the first request. If the server refuses it, sends the plan's replacement. */
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

  /** Sends a later request of the same step. The SDK retries only the first one, so this retries if the server is busy. */
  async #sendNext<T>(body: ApiBody, send: (options: CallOptions) => PromiseLike<T>): Promise<T> {
    const { abortSignal: signal } = this.#call.params
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(callWith(body, this.#call))
      } catch (error) {
        const { isRetryable, responseHeaders } = (error ?? {}) as SdkError
        if (!isRetryable || attempt > MAX_RETRIES || signal?.aborted) throw error
        const serverDelay = Number(responseHeaders?.["retry-after"])
        const seconds = Math.min(serverDelay >= 0 ? serverDelay : 2 ** attempt, MAX_WAIT)
        await setTimeout(seconds * 1000, undefined, signal ? { signal } : {})
      }
    }
  }

  async #refused(error: unknown, isFinal = false): Promise<ApiBody | undefined> {
    const { statusCode: status, responseBody, data } = (error ?? {}) as SdkError
    if (status === undefined || status < 400) {
      await this.#reportBreak()
      return undefined
    }
    this.#isOver = isFinal
    const serverError = parsed(responseBody) ??
      data ?? { error: { message: readFailure(error)?.message ?? String(error) } }
    const other = await this.#report("refused", () =>
      this.#plan.refused({ status, error: serverError, ...(isFinal ? { isFinal } : {}) }),
    )
    this.#isOver ||= other === undefined
    return isFinal ? undefined : other
  }

  async *#parts(
    first: ReadableStream<StreamPart>,
    send: (body: ApiBody) => Promise<ReadableStream<StreamPart>>,
    stopped: AbortSignal,
  ): AsyncGenerator<StreamPart, void> {
    const { abortSignal } = this.#call.params
    const signal = abortSignal ? AbortSignal.any([abortSignal, stopped]) : stopped
    try {
      for (let stream = first; ; ) {
        for await (const part of untilAborted(stream, signal)) {
          yield* this.#relay(part)
        }
        signal.throwIfAborted()
        const next = await this.#endRound()
        if (!next) break
        this.#nextRound(next)
        stream = await send(next)
      }
      yield* this.#splice.end()
    } catch (error) {
      await this.#reportBreak()
      if (signal.aborted) throw error
      yield { type: "error", error }
    } finally {
      await this.#reportBreak() // the program stopped reading
    }
  }

  /** The parts that the program receives for a part of the model. */
  #relay(part: StreamPart): readonly StreamPart[] {
    this.#hasFailed ||= part.type === "error" || isCut(part)
    this.#collector.take(part)
    return this.#splice.take(part)
  }

  /** Ends a round. Returns the body of the next one if the response called only a Strata tool. */
  async #endRound(): Promise<ApiBody | undefined> {
    const message = this.#hasFailed ? undefined : this.#message()
    if (!message) {
      await this.#reportBreak()
      return undefined
    }
    const next = await this.#report("again", () => this.#plan.again(message))
    if (next) return next
    this.#isOver = true
    await this.#report("answered", () => this.#plan.answered(message))
    return undefined
  }

  #message(): ApiBody | undefined {
    const { modelId } = this.#call.model
    const request = this.#body as never
    const estimate = (content: readonly never[]) => estimateUsage({ request, content, facts: findModel(modelId).facts })
    const response = this.#collector.response(estimate as never)
    return response && ({ type: "message", role: "assistant", ...response } as unknown as ApiBody)
  }

  #nextRound(body: ApiBody): void {
    this.#splice.nextRound()
    this.#body = body
    this.#collector = this.#newCollector()
  }

  #newCollector(): PartCollector {
    return new PartCollector(this.#call.model.modelId, { preservesParts: true })
  }

  /** The end of a complete response. */
  #end({ finishReason, usage }: GenerateResult): Pick<GenerateResult, "finishReason" | "usage"> {
    const last = this.#splice.end().at(-1)
    return last?.type === "finish" ? { finishReason: last.finishReason, usage: last.usage } : { finishReason, usage }
  }

  async #reportBreak(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    const partial = this.#collector.partial() as ApiBody | undefined
    await this.#report("brokeOff", () => this.#plan.brokeOff(partial))
  }

  /** Reports to the plan. An error of the plan cannot affect the response. */
  async #report<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call()
    } catch (error) {
      this.#log(`${what}: ${error instanceof Error ? error.message : error}`)
      return undefined
    }
  }
}

/** Fields of an AI SDK error that describe a refusal, independent of the SDK's version. */
interface SdkError {
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

/** Whether a stream was cut off. Some providers end such a stream normally, but without a reason. */
const isCut = (part: StreamPart): boolean =>
  part.type === "finish" && part.finishReason.unified === "other" && part.finishReason.raw === undefined

const isCallOf = (part: StreamPart, tool: string | undefined): boolean =>
  tool !== undefined && part.type === "tool-call" && part.toolName === tool
