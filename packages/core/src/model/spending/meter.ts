/**
 * Meters the cost of one conversation's requests, however they end. A complete response is counted where it is recorded. Requests that end
 * early, are repeated or whose response is not recorded are journaled here, with the usage that the server reported at the start of the
 * response, or else estimated.
 */
import type { Clock, Ids } from "../../base/clock.ts"
import type { RequestSource } from "../../base/enums.ts"
import { type DecisionDraft, type Entry, isDecision } from "../../journal/entries.ts"
import { estimateSpending, type InFlightLog, type SentRequest } from "../../journal/in-flight.ts"
import { type Usage, usableUsage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import type { Settings } from "../../settings/settings.ts"
import { costOfUsage, findModel } from "../../tokens/models.ts"
import { ConnectionLostError, ModelAbortedError, ModelError, StalledError } from "../errors.ts"
import {
  type AttemptObserver,
  type Model,
  type ModelResponse,
  type StreamOptions,
  type WarmOptions,
  type WarmResponse,
  wrapModel,
} from "../model.ts"
import { type CostBudget, type EstimatedRequest, RequestEstimate } from "./budget.ts"

const CHARACTERS_PER_TOKEN = 4 // of a response, a high estimate: text that was generated but not sent is unknown

const UNSENT = { characters: 0, isSent: false } as const
const WORK_SOURCES: ReadonlySet<RequestSource> = new Set(["main", "agent"])

export interface MeterDependencies {
  readonly budget: CostBudget
  readonly clock: Clock
  readonly ids: Ids
  /** The purpose of requests that do not specify one. */
  readonly source: RequestSource
}

/** The parts of an open conversation that the meter needs. */
export interface MeteredConversation {
  readonly record: {
    append(drafts: readonly DecisionDraft[]): Promise<unknown>
    readonly journal: { readonly inFlight?: InFlightLog | undefined }
  }
  /** Model facts from the settings. */
  readonly models: Settings["models"]
  /** Learns from a refused request or output size. */
  readonly limits?: { refused(attempt: RefusedAttempt): void }
}

export interface RefusedAttempt {
  readonly error: unknown
  readonly model: Pick<Model, "name" | "provider" | "address">
  /** Estimated input tokens. */
  readonly estimate: number
}

export class Meter {
  readonly parts: MeterDependencies
  readonly #estimate = new RequestEstimate()
  #conversation: MeteredConversation | undefined
  /** Responses that are not in the journal yet, by id. */
  readonly #unrecorded = new Map<string, { readonly request: string; readonly draft: DecisionDraft }>()

  constructor(parts: MeterDependencies) {
    this.parts = parts
  }

  /** Starts metering. */
  use(conversation: MeteredConversation): void {
    this.#conversation = conversation
  }

  /** Settles a response once it is in the journal. */
  recorded(entry: Entry): void {
    const id = isDecision(entry)
      ? entry.subtype === "spent" && entry.responseId
      : entry.type === "assistant" && entry.message.id
    if (id) this.#settle(id)
  }

  #settle(responseId: string): void {
    const answer = this.#unrecorded.get(responseId)
    if (!answer) return
    this.#unrecorded.delete(responseId)
    this.#conversation?.record.journal.inFlight?.finished(answer.request)
  }

  /** Journals the responses that were not recorded. Called before the journal closes. */
  async close(): Promise<void> {
    const drafts = [...this.#unrecorded.values()].map(({ draft }) => draft)
    if (drafts.length > 0) await this.#conversation?.record.append(drafts)
  }

  /**
   * Called before a request is sent. Waits for room in the cost budget, and throws a `CostLimitError` if it is used up. Returns
   * `undefined` while the conversation is still opening.
   */
  async send(request: ModelRequest, { model, options = {} }: SendOptions): Promise<MeteredRequest | undefined> {
    const conversation = this.#conversation
    if (!conversation) return undefined
    const { budget, clock, ids } = this.parts
    const { purpose = this.parts.source, ...caching } = options
    const estimated = { request, purpose, caching, now: clock.now().getTime() }
    const metered = new MeteredRequest({
      ...{ conversation, budget, model, estimated, id: ids.uuid(), signal: options.signal },
      estimate: this.#estimate,
      onAnswer: (responseId, answer) => {
        // a progress line is recorded in the conversation of the lead
        if (purpose !== "progress") this.#unrecorded.set(responseId, answer)
        else conversation.record.journal.inFlight?.finished(answer.request)
      },
    })
    await metered.reserve()
    metered.sending()
    return metered
  }
}

interface SendOptions {
  readonly model: Pick<Model, "name" | "provider" | "address">
  readonly options?: StreamOptions | undefined
}

interface MeteredRequestOptions {
  readonly conversation: MeteredConversation
  readonly budget: CostBudget
  readonly model: SendOptions["model"]
  readonly id: string
  readonly signal: AbortSignal | undefined
  readonly estimated: EstimatedRequest
  readonly estimate: RequestEstimate
  readonly onAnswer: (responseId: string, answer: { readonly request: string; readonly draft: DecisionDraft }) => void
}

/** One request, with all its attempts. */
class MeteredRequest implements AttemptObserver {
  readonly #parts: MeteredRequestOptions
  readonly #sent: SentRequest
  readonly #min: number
  /** `undefined` if the limit refused an attempt, or the request has ended. */
  #reserved: number | undefined
  /** The current attempt. */
  #attempt: { begun?: SentRequest; characters: number; error?: unknown; isSent: boolean } = UNSENT
  #isOver = false
  #attempts = 0

  constructor(parts: MeteredRequestOptions) {
    const { estimated, estimate, id } = parts
    const { request, purpose, now } = estimated
    this.#parts = parts
    const at = new Date(now).toISOString()
    this.#sent = { id, purpose, model: request.model, usage: estimate.estimateUsage(estimated), at }
    this.#min = this.#dollars({ model: request.model, usage: estimate.estimateMinUsage(estimated) })
  }

  async reserve(): Promise<void> {
    const { budget, model, signal } = this.#parts
    const estimate = this.#dollars(this.#sent)
    const isWork = WORK_SOURCES.has(this.#sent.purpose)
    // main work is not refused because of an estimate; background work can wait
    await budget.reserve({ estimate, min: isWork ? this.#min : estimate, isWork, provider: model.provider, signal })
    this.#reserved = estimate
    this.#attempts++
  }

  sending(): void {
    if (this.#attempt.isSent) return
    this.#attempt = { ...this.#attempt, isSent: true }
    this.#inFlight?.sent(this.#named())
  }

  started({ id, model, usage }: Parameters<AttemptObserver["started"]>[0]): void {
    this.sending()
    const counted = usableUsage(usage)
    if (!counted) return
    this.#attempt.begun = { ...this.#named(), model, usage: counted, responseId: id }
    const output = Math.max(counted.output_tokens, this.#sent.usage.output_tokens)
    this.#inFlight?.sent({ ...this.#attempt.begun, usage: { ...counted, output_tokens: output } })
  }

  failed(error: unknown): void {
    if (this.#attempt.error !== error) this.refused(error)
    this.#attempt = { ...this.#attempt, error }
  }

  refused(error: unknown): void {
    const { conversation, model } = this.#parts
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = this.#sent.usage
    const estimate = input_tokens + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0)
    conversation.limits?.refused({ error, model, estimate })
  }

  meterStream(characters: number): void {
    this.sending() // a custom model may not have reported it
    this.#attempt.characters += characters
  }

  /** The attempt failed and will be repeated after a pause, which needs a reservation too. */
  async retried(): Promise<void> {
    await this.#endAttempt()
    this.#attempt = UNSENT
    await this.reserve()
  }

  answered({ id, model, usage: given }: Pick<ModelResponse, "id" | "model" | "usage">): void {
    const { estimate, estimated, onAnswer } = this.#parts
    const usage = usableUsage(given)
    if (!usage) return // it is estimated when the request ends
    this.#isOver = true
    estimate.learn(estimated, usage)
    this.#release(this.#dollars({ model, usage }))
    const { purpose } = this.#sent
    const draft = { type: "strata", subtype: "spent", purpose, model, responseId: id, usage } as const
    if (id) onAnswer(id, { request: this.#named().id, draft })
    else this.#inFlight?.finished(this.#named().id)
  }

  /** Called if there was nothing to send. */
  notSent(): void {
    this.#isOver = true
    this.#release(0)
    this.#inFlight?.finished(this.#named().id)
  }

  /** Ends the metering of the request, in any case. */
  async end(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    await this.#endAttempt()
  }

  async #endAttempt(): Promise<void> {
    const { conversation } = this.#parts
    const spent = this.#spent()
    this.#release(spent ? this.#dollars(spent) : 0)
    const { id } = this.#named()
    // if the journal cannot be written, the conversation's own next entry fails; the log keeps the request for the next opening
    try {
      if (spent) await conversation.record.append([estimateSpending(spent)])
      this.#inFlight?.finished(id)
    } catch {}
  }

  /** The cost of the attempt. `undefined` if it was free. */
  #spent(): SentRequest | undefined {
    const { begun, characters, error, isSent } = this.#attempt
    if (!isSent) return undefined
    const output = Math.ceil(characters / CHARACTERS_PER_TOKEN)
    const counted = (usage: Usage) => ({ ...usage, output_tokens: Math.max(usage.output_tokens, output) })
    if (begun) return { ...begun, usage: counted(begun.usage) }
    if (!mayBeBilled(error)) return undefined
    return { ...this.#named(), usage: counted({ ...this.#sent.usage, output_tokens: 0 }) }
  }

  #release(spent: number): void {
    if (this.#reserved === undefined) return
    this.#parts.budget.settle({ reserved: this.#reserved, spent })
    this.#reserved = undefined
  }

  get #inFlight(): InFlightLog | undefined {
    return this.#parts.conversation.record.journal.inFlight
  }

  /** The request with an id per attempt, because each attempt is billed. */
  #named(): SentRequest {
    return { ...this.#sent, id: `${this.#sent.id}-${this.#attempts}` }
  }

  #dollars({ model, usage }: Pick<SentRequest, "model" | "usage">): number {
    const cost = costOfUsage(findModel(model, this.#parts.conversation.models).facts, usage)
    return cost.known ? cost.dollars : 0
  }
}

/** Whether the server may have processed a request without starting a response. A refusal with a status is free. */
function mayBeBilled(error: unknown): boolean {
  if (error === undefined) return true // the reader stopped
  if (error instanceof ModelAbortedError || error instanceof StalledError) return true
  if (error instanceof ConnectionLostError) return !error.isUnreachable && error.status === undefined
  return !(error instanceof ModelError)
}

// A model whose requests are metered and checked against the cost limit before they are sent.

/** The model inside each metered model. A sub-agent gets its lead's model, and its requests must not be counted twice. */
const unmetered = new WeakMap<Model, Model>()

/** The model without another conversation's meter. */
export const withoutMeter = (model: Model): Model => unmetered.get(model) ?? model

export function meteredModel(given: Model, meter: Meter): Model {
  const model = withoutMeter(given)
  const metered = wrapModel(model, {
    stream: (request, options) => streamed(model, { request, options, meter }),
    warm: (request, options) => meterWarm(model, { request, options, meter }),
    wrapSibling: (sibling) => meteredModel(sibling, meter),
  })
  unmetered.set(metered, model)
  return metered
}

interface MeteredCall<T> {
  readonly request: ModelRequest
  readonly options: T | undefined
  readonly meter: Meter
}

async function* streamed(
  model: Model,
  { request, options, meter }: MeteredCall<StreamOptions>,
): ReturnType<Model["stream"]> {
  const sent = await meter.send(request, { model, options })
  if (!sent) return yield* model.stream(request, options)
  try {
    for await (const event of model.stream(request, { ...options, attempts: sent })) {
      if (event.type === "response") sent.answered(event.response)
      else if (event.type === "retry") await sent.retried()
      else sent.meterStream(event.text.length)
      yield event
    }
  } catch (error) {
    sent.failed(error)
    throw error
  } finally {
    await sent.end()
  }
}

async function meterWarm(
  model: Model,
  { request, options, meter }: MeteredCall<WarmOptions>,
): Promise<WarmResponse | undefined> {
  const asked = { ...request, max_tokens: 0 }
  const sent = await meter.send(asked, { model, options: { ...options, purpose: "keep-warm" } })
  try {
    const response = await model.warm?.(request, options)
    if (response) sent?.answered(response)
    else sent?.notSent()
    return response
  } catch (error) {
    sent?.failed(error)
    throw error
  } finally {
    await sent?.end()
  }
}
