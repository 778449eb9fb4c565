/**
 * One request of the loop: prepares and sends it and records the response. If the API refuses the request and a change can help, it is
 * changed and sent again.
 */
import { formatNumber } from "../../base/text.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import { leaveOutReceived, withholdMedia } from "../../conversation/refused-content.ts"
import { textOf } from "../../messages/blocks.ts"
import { InvalidModelRequestError, PromptTooLongError } from "../../model/errors.ts"
import type { Model, ModelResponse, RateLimit } from "../../model/model.ts"
import { maxStoredCharacters, streamLimits } from "../../model/stream.ts"
import { type Cost, costOfUsage } from "../../tokens/models.ts"
import type { CacheKeeper } from "./keep-warm.ts"
import type { QueryEvent } from "./query-events.ts"
import type { ToolRun } from "./run-tools.ts"

export interface AskModelOptions {
  readonly conversation: Conversation
  readonly model: Model
  readonly tools: Pick<ToolRun, "now">
  readonly signal?: AbortSignal
  /** Called with the provider's remaining rate limits. */
  readonly onLimits?: (limits: readonly RateLimit[]) => void
  /** Cost limit for the complete conversation, in dollars. */
  readonly costLimit?: number
  /** Keeps the server's cache warm until the next request. */
  readonly keeper?: Pick<CacheKeeper, "answered" | "stop">
}

const MAX_COMPACTIONS = 3 // per request; a request that is still refused cannot be made to fit
const WITHHOLDINGS = ["new", "all"] as const // which images and documents are omitted, one attempt after the other

/** Error texts with which providers refuse images and documents. There is no common error code, so the text is matched. */
const MEDIA_REFUSALS: readonly RegExp[] = [
  /could not process (?:the )?(?:image|pdf|document)/i, // Anthropic
  /\b(?:image|document|pdf)\b.{0,80}\b(?:exceeds?|too large|invalid|unsupported|not supported|not valid|corrupt|could not|cannot|failed)/is,
  /\b(?:invalid|unsupported|corrupt(?:ed)?|unable to (?:process|decode|read)|failed to (?:process|decode|load))\b.{0,40}\b(?:image|document|pdf)\b/is,
  /\bmodel\b.{0,40}\bdoes(?: not|n't) support\b.{0,40}\b(?:image|vision|document|pdf)/is,
  /\.(?:image|document)\.source\b/i, // the path of a block in Anthropic's message
]

/** Whether the request may succeed without its images and documents. */
const refusesMedia = ({ providerMessage = "" }: InvalidModelRequestError): boolean =>
  MEDIA_REFUSALS.some((pattern) => pattern.test(providerMessage))

/**
 * Sends a request. If the API refuses it, it is changed and sent again if that can help: compacted if it is too long, without unsupported
 * thinking, without unusable images and documents, or without blocks of unknown types. Otherwise the error is thrown.
 */
export async function* ask(
  options: AskModelOptions,
  turn: number,
): AsyncGenerator<QueryEvent, ModelResponse | "aborted"> {
  const { conversation: chat, signal } = options
  const withholdings = [...WITHHOLDINGS]
  let compactions = 0
  for (;;) {
    try {
      return yield* askOnce(options, turn)
    } catch (error) {
      if (signal?.aborted) throw error
      if (error instanceof PromptTooLongError && compactions < MAX_COMPACTIONS) {
        await compactAfter(error, { ...options, attempt: compactions++ })
      } else if (!(error instanceof InvalidModelRequestError)) {
        throw error
      } else if (await chat.handleModelError(error)) {
        // sent again without its thinking; the conversation has reported it
      } else if (refusesMedia(error)) {
        const message = await withhold(chat, withholdings)
        if (message === undefined) throw error
        yield { type: "notice", message: `${message} The API said: "${error.providerMessage}"` }
      } else {
        const count = await leaveOutReceived(engineOf(chat))
        if (count === 0) throw error
        yield { type: "notice", message: `${omissionNotice(count)} The API said: "${error.providerMessage}"` }
      }
    }
  }
}

async function compactAfter(
  refusal: PromptTooLongError,
  { conversation: chat, signal, attempt }: AskModelOptions & { readonly attempt: number },
): Promise<void> {
  try {
    await chat.compact({ trigger: "auto", overflowed: true, attempt }, signal ? { signal } : {})
  } catch {
    throw refusal // the layer has reported why the compaction failed
  }
}

const omissionNotice = (count: number) =>
  `The API refused the request. ${count === 1 ? "1 block" : `${count} blocks`} that it had sent itself ${count === 1 ? "is" : "are"} left out.`

/** Omits more images and documents than before. `undefined` if none remain. */
async function withhold(chat: Conversation, left: ("new" | "all")[]): Promise<string | undefined> {
  for (let which = left.shift(); which; which = left.shift()) {
    const count = await withholdMedia(engineOf(chat), { which, why: "the model refused it" })
    if (count > 0)
      return `The model refused images or documents. ${count === 1 ? "1 is" : `${count} are`} left out; a text names each.`
  }
  return undefined
}

/** Sends the next request and records the response. Text that was streamed before an interruption is recorded too. */
async function* askOnce(options: AskModelOptions, turn: number): AsyncGenerator<QueryEvent, ModelResponse | "aborted"> {
  const { conversation: chat, model, signal } = options
  options.keeper?.stop()
  const { request, delivered } = await prepareAndDeliver(chat, signal)
  for (const { uuid, text } of delivered) yield { type: "user", uuid, text, queued: true }
  yield { type: "request", turn, size: engineOf(chat).views.context.size(), fill: chat.windowUsage() }
  const limits = streamLimits(engineOf(chat).flags)
  const { now } = options.tools
  let sentAt = now()
  let streamed = ""
  let isRecorded = false
  const keep = async () => {
    const text = streamed.slice(0, maxStoredCharacters(request.max_tokens))
    if (isRecorded || text.trim() === "") return undefined
    isRecorded = true
    await chat.recordPartial(text, model.name)
    return `The response is incomplete. Its first ${formatNumber(text.length)} characters are in the journal.`
  }
  try {
    const previous = engineOf(chat).views.context.lastResponse?.message.id
    const sending = {
      ...{ limits, lifetime: engineOf(chat).window.lifetime },
      ...(previous === undefined ? {} : { previous }),
      ...(signal ? { signal } : {}),
    }
    for await (const event of model.stream(request, sending)) {
      if (event.type === "retry") {
        streamed = ""
        sentAt = now() + event.delayMs
      }
      if (event.type === "text") streamed += event.text
      if (event.type === "response") {
        isRecorded = true
        const { response, limits: left } = event
        if (left) options.onLimits?.(left) // before recording, because recording a final response starts background work
        const uuid = await chat.record(response)
        options.keeper?.answered({ request, sentAt, costLimit: options.costLimit ?? Number.POSITIVE_INFINITY })
        yield { type: "response", uuid, response, cost: costOf(response, model) }
        return response
      }
      if (event.type !== "tool-input") yield event
    }
  } catch (error) {
    const message = await keep()
    if (signal?.aborted) return "aborted"
    if (message !== undefined) yield { type: "notice", message }
    throw error
  } finally {
    await keep() // the reader left during the response
  }
  throw new Error("The model ended its stream without a response. Nothing was lost; ask again.")
}

/** Prepares the next request, and lists the queued messages that it delivers, including those typed during preparation. */
async function prepareAndDeliver(chat: Conversation, signal: AbortSignal | undefined) {
  const queued = [...engineOf(chat).views.context.queued]
  const stopListening = chat.on("entry", ({ entry }) => {
    if (entry.type === "user" && entry.isQueued) queued.push(entry)
  })
  try {
    const request = await chat.prepare(signal ? { signal } : {})
    const waiting = new Set(engineOf(chat).views.context.queued.map(({ uuid }) => uuid))
    const delivered = queued.filter((message) => message.type === "user").filter(({ uuid }) => !waiting.has(uuid))
    return { request, delivered: delivered.map(({ uuid, message }) => ({ uuid, text: textOf(message.content) })) }
  } finally {
    stopListening()
  }
}

/** Cost of a response. A custom model may report no usage. */
function costOf({ usage }: Pick<ModelResponse, "usage">, { facts }: Model): Cost {
  return usage ? costOfUsage(facts, usage) : { known: false, why: "no usage was reported" }
}
