/**
 * The size of the context: the API's count for the newest response, plus an estimate of everything since. The meter takes one message at a
 * time; `contextSize` does the same for a list. Also calibrates estimates to the API's counts.
 */
import { renderAttachment } from "../messages/attachment-texts.ts"
import { type AssistantMessage, contentOf, isSentToModel, type Message, type Usage } from "../messages/messages.ts"
import { addMeasure, type Estimator, type Measure, runningMeasure, subtractMeasure } from "./estimate.ts"

/** The size of the context, in tokens. */
export interface ContextSize {
  readonly tokens: number
  /** The tokens that the API counted. 0 if no response has usage. */
  readonly counted: number
  readonly estimated: number
}

const ROUNDING = 1e-6 // removing and adding back an amount may leave a rounding error

/** An estimate rounded up to whole tokens, for display and storage. */
export const toWholeTokens = (estimate: number): number => Math.ceil(estimate - ROUNDING)

/** All tokens of a request and its response. */
export function usageTotal(usage: Usage): number {
  const last = usage.iterations?.findLast((iteration) => iteration.type === "message")
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = last ?? usage
  return input_tokens + output_tokens + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0)
}

export function contextSize(messages: readonly Message[], estimator: Estimator): ContextSize {
  const meter = new ContextMeter(estimator)
  for (const message of messages) meter.add(message)
  return meter.size()
}

/** A calibration sample from a new anchor: the measure of the messages since the last anchor, and their actual tokens. */
export interface CalibrationSample {
  readonly measure: Measure
  readonly actual: number
}

interface MeasuredMessage {
  readonly measure: Measure
  readonly responseId: string | undefined
}

export class ContextMeter {
  readonly #estimator: Estimator
  /** The anchor: the API id of the newest response with usage. Its count includes all parts of that response. */
  #anchorId: string | undefined
  #counted = 0
  #estimated = 0
  /** Messages after the anchor, without parts of the same response. Parts of a response without usage keep its id. */
  #since: MeasuredMessage[] = []
  /** Tokens that decisions have removed since the anchor's count. */
  #removed = 0
  /** Tokens that the server removed from its copy before the anchor's count. `#comesBack`: the next request contains them again. */
  #takenByServer = 0
  #comesBack = false
  /** The measure of all messages in view. */
  #whole = runningMeasure()

  constructor(estimator: Estimator) {
    this.#estimator = estimator
  }

  /** Returns a sample if the message's usage shows the actual size of the messages before it. */
  add(message: Message): CalibrationSample | undefined {
    if (!isSentToModel(message)) return undefined
    if (message.type === "assistant") return this.#addAssistant(message)
    const blocks =
      message.type === "user"
        ? contentOf(message)
        : message.type === "attachment"
          ? renderAttachment(message.attachment)
          : []
    const measure = this.#estimator.measure(blocks)
    addMeasure(this.#whole, measure)
    this.#count(measure)
    return undefined
  }

  /** The measure of all counted messages, including the anchor's. */
  get total(): Measure {
    return this.#whole
  }

  /** The API's count up to the anchor, plus what the server removed from its copy. 0 if anything was added since. */
  get countedTotal(): number {
    return this.#since.length === 0 && this.#removed === 0 ? this.#counted + this.#takenByServer : 0
  }

  /** A decision sends content in another form. */
  replace(before: Measure, after: Measure): void {
    subtractMeasure(this.#whole, before)
    addMeasure(this.#whole, after)
    this.remove(this.#estimator.tokens(before) - this.#estimator.tokens(after))
  }

  /** A decision removed content from the view. `tokens` is an estimate until the next response has usage. */
  remove(tokens: number): void {
    this.#removed += tokens
  }

  /** The server removed these tokens from the request counted by the anchor, and is expected to do so again. */
  removedByServer(tokens: number): void {
    this.#takenByServer = tokens
  }

  /** The server will not remove them again, so the next request is counted in full. */
  restoredNextRequest(): void {
    this.#comesBack = true
  }

  /** Called at a boundary, where earlier counts of the API no longer apply. */
  reset(): void {
    this.#anchorId = undefined
    this.#counted = 0
    this.#estimated = 0
    this.#since = []
    this.#removed = 0
    this.#takenByServer = 0
    this.#comesBack = false
    this.#whole = runningMeasure()
  }

  /**
   * Drops the counts of another program's requests, which include a prompt and messages that ours do not have. Everything is then
   * estimated.
   */
  forgetCounts(): void {
    const whole = this.#whole
    this.reset()
    this.#whole = whole
    this.#count(runningMeasure(whole))
  }

  /** The present size. With `without`: the size if that many tokens were removed and the server removed nothing. */
  size(without?: number): ContextSize {
    const comesBack = this.#comesBack || without !== undefined
    const estimated = this.#estimated + (comesBack ? this.#takenByServer : 0) - this.#removed - (without ?? 0)
    const tokens = Math.max(0, this.#counted + toWholeTokens(estimated))
    return { tokens, counted: this.#counted, estimated: tokens - this.#counted }
  }

  #addAssistant(message: AssistantMessage): CalibrationSample | undefined {
    const { id, usage } = message.message
    const total = usage === undefined ? 0 : usageTotal(usage)
    const measure = this.#estimator.measure(contentOf(message))
    addMeasure(this.#whole, measure)
    if (id !== undefined && id === this.#anchorId) {
      // a later part of the same response: all parts repeat the usage, and the last one has the complete output
      this.#counted = Math.max(this.#counted, total)
      return undefined
    }
    if (usage === undefined || total === 0) {
      this.#count(measure, id)
      return undefined
    }
    // the response may have started in parts without usage; the results between them are not in the count
    const first = id === undefined ? -1 : this.#since.findIndex(({ responseId }) => responseId === id)
    const before = first < 0 ? this.#since : this.#since.slice(0, first)
    const between = first < 0 ? [] : this.#since.slice(first).filter(({ responseId }) => responseId !== id)
    const lesson = this.#lessonOf(usage, before)
    this.#anchorId = id
    this.#counted = total
    this.#estimated = 0
    this.#since = []
    this.#removed = 0
    this.#takenByServer = 0
    this.#comesBack = false
    for (const { measure, responseId } of between) this.#count(measure, responseId)
    return lesson
  }

  #lessonOf(usage: Usage, before: readonly MeasuredMessage[]): CalibrationSample | undefined {
    if (this.#counted === 0 || this.#removed !== 0 || before.length === 0) return undefined
    const actual = usageTotal(usage) - usage.output_tokens - this.#counted
    return { measure: this.#estimator.sum(before.map(({ measure }) => measure)), actual }
  }

  #count(measure: Measure, responseId?: string): void {
    this.#since.push({ measure, responseId })
    this.#estimated += this.#estimator.tokens(measure)
  }
}

// The running factor between estimates and the API's counts. Each response shows how large the entire request was. The first one measures
// the prompt, which later ones share. From then on the difference is attributed to the messages, so that the parts add up to the count.

export interface CalibratedSizes {
  /** Tokens of system prompt, tools and preamble. */
  readonly prompt: number
  /** Tokens for each estimated token of the messages. */
  readonly factor: number
}

export interface CountedContext {
  /** Counted by the API: prompt, messages and the response. */
  readonly counted: number
  /** The best known size of the prompt: measured by an earlier response, or estimated. */
  readonly prompt: { readonly tokens: number; readonly estimate: number; readonly isMeasured: boolean }
  /** Estimated tokens of the messages, without the factor. */
  readonly messages: number
  readonly factor: number
}

const MIN_RELIABLE_TOKENS = 4_000 // with fewer estimated tokens a factor is unreliable, so the difference is attributed to the prompt
const RANGE = { min: 0.5, max: 2 } // outside this range, something other than an estimate is wrong

export function calibrateSizes({ counted, prompt, messages, factor }: CountedContext): CalibratedSizes {
  const expected = prompt.tokens + factor * messages
  const unsure = Math.max(0, MIN_RELIABLE_TOKENS - expected)
  const share = (counted + unsure) / (expected + unsure)
  const settled = prompt.isMeasured
    ? calibrateMessages({ counted, prompt, messages, factor })
    : messages > prompt.tokens
      ? { prompt: prompt.tokens * share, factor: factor * share }
      : { prompt: counted - factor * messages, factor }
  const isUsable = [share, settled.factor, settled.prompt / prompt.estimate].every(isPlausible)
  return isUsable ? settled : { prompt: prompt.tokens, factor }
}

function calibrateMessages({ counted, prompt, messages, factor }: CountedContext): CalibratedSizes {
  const unsure = Math.max(0, MIN_RELIABLE_TOKENS - messages)
  const settled = (counted - prompt.tokens + unsure * factor) / (messages + unsure)
  return { prompt: counted - settled * messages, factor: settled }
}

const isPlausible = (ratio: number): boolean => ratio >= RANGE.min && ratio <= RANGE.max
