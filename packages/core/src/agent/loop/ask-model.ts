/**
 * One request of the loop: prepared, sent, and its answer recorded. Where the API refuses it and a change can help, it is changed and sent
 * again.
 */
import { grouped } from "../../base/text.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import { leaveOutReceived, withholdMedia } from "../../conversation/refused-content.ts"
import { textOf } from "../../messages/blocks.ts"
import { InvalidModelRequestError, PromptTooLongError } from "../../model/errors.ts"
import type { Model, ModelResponse, RateLimit } from "../../model/model.ts"
import { keptCharacters, limitsFrom } from "../../model/stream.ts"
import { type Cost, costOfUsage } from "../../tokens/models.ts"
import type { CacheKeeper } from "./keep-warm.ts"
import type { QueryEvent } from "./query-events.ts"
import type { ToolRun } from "./run-tools.ts"

export interface Asking {
  readonly conversation: Conversation
  readonly model: Model
  readonly tools: Pick<ToolRun, "now">
  readonly signal?: AbortSignal
  /** Learns what is left of the provider's limits. */
  readonly onLimits?: (limits: readonly RateLimit[]) => void
  /** Dollars for the whole conversation. */
  readonly costLimit?: number
  /** Keeps the server's cache warm until the next request. */
  readonly keeper?: Pick<CacheKeeper, "answered" | "stop">
}

const MAX_COMPACTIONS = 3 // for one request; what is refused even then cannot be made to fit
const WITHHOLDINGS = ["new", "all"] as const // which images and documents are left out, one attempt after the other

/** How providers say that they cannot use an image or a document. They share no error code for it, so the text is matched. */
const MEDIA_REFUSALS: readonly RegExp[] = [
  /could not process (?:the )?(?:image|pdf|document)/i, // Anthropic
  /\b(?:image|document|pdf)\b.{0,80}\b(?:exceeds?|too large|invalid|unsupported|not supported|not valid|corrupt|could not|cannot|failed)/is,
  /\b(?:invalid|unsupported|corrupt(?:ed)?|unable to (?:process|decode|read)|failed to (?:process|decode|load))\b.{0,40}\b(?:image|document|pdf)\b/is,
  /\bmodel\b.{0,40}\bdoes(?: not|n't) support\b.{0,40}\b(?:image|vision|document|pdf)/is,
  /\.(?:image|document)\.source\b/i, // the path of a block in Anthropic's message
]

/** Whether a request may be accepted without its images and documents. */
const refusesMedia = ({ said = "" }: InvalidModelRequestError): boolean =>
  MEDIA_REFUSALS.some((pattern) => pattern.test(said))

/**
 * A request that the API refuses is changed and sent again where that can help: compacted if it is too long, without thinking that it
 * does not take, without images and documents if it cannot use them, without blocks of unknown types. The caller sees the refusal only if
 * that fails.
 */
export async function* ask(options: Asking, turn: number): AsyncGenerator<QueryEvent, ModelResponse | "aborted"> {
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
        // it is sent again without its thinking, and the conversation has said so
      } else if (refusesMedia(error)) {
        const message = await withhold(chat, withholdings)
        if (message === undefined) throw error
        yield { type: "notice", message: `${message} The API said: "${error.said}"` }
      } else {
        const count = await leaveOutReceived(engineOf(chat))
        if (count === 0) throw error
        yield { type: "notice", message: `${leftOut(count)} The API said: "${error.said}"` }
      }
    }
  }
}

async function compactAfter(
  refusal: PromptTooLongError,
  { conversation: chat, signal, attempt }: Asking & { readonly attempt: number },
): Promise<void> {
  try {
    await chat.compact({ trigger: "auto", overflowed: true, attempt }, signal ? { signal } : {})
  } catch {
    throw refusal // the layer has reported why compacting did not help
  }
}

const leftOut = (count: number) =>
  `The API refused the request. ${count === 1 ? "1 block" : `${count} blocks`} that it had sent itself ${count === 1 ? "is" : "are"} left out.`

/** Leaves out more images and documents than before. `undefined` where none is left. */
async function withhold(chat: Conversation, left: ("new" | "all")[]): Promise<string | undefined> {
  for (let which = left.shift(); which; which = left.shift()) {
    const count = await withholdMedia(engineOf(chat), { which, why: "the model refused it" })
    if (count > 0)
      return `The model refused images or documents. ${count === 1 ? "1 is" : `${count} are`} left out; a text names each.`
  }
  return undefined
}

/** Sends the next request and records the answer. Text streamed before an interruption is kept. */
async function* askOnce(options: Asking, turn: number): AsyncGenerator<QueryEvent, ModelResponse | "aborted"> {
  const { conversation: chat, model, signal } = options
  options.keeper?.stop()
  const { request, delivered } = await prepareAndDeliver(chat, signal)
  for (const { uuid, text } of delivered) yield { type: "user", uuid, text, queued: true }
  yield { type: "request", turn, size: chat.views.context.size(), fill: chat.windowUsage() }
  const limits = limitsFrom(chat.flags)
  const { now } = options.tools
  let sentAt = now()
  let streamed = ""
  let isRecorded = false
  const keep = async () => {
    const text = streamed.slice(0, keptCharacters(request.max_tokens))
    if (isRecorded || text.trim() === "") return undefined
    isRecorded = true
    await chat.recordPartial(text, model.name)
    return `The answer is not complete. The first ${grouped(text.length)} characters of it are kept.`
  }
  try {
    const previous = chat.views.context.lastResponse?.message.id
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
        if (left) options.onLimits?.(left) // the record of a last answer starts work that can wait
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
    await keep() // the reader left in the middle of the answer
  }
  throw new Error("The model ended its stream without a response. Nothing was lost; ask again.")
}

/** The next request, and the messages typed meanwhile that it delivers, including those typed while it was being prepared. */
async function prepareAndDeliver(chat: Conversation, signal: AbortSignal | undefined) {
  const queued = [...chat.views.context.queued]
  const stopListening = chat.on("entry", ({ entry }) => {
    if (entry.type === "user" && entry.isQueued) queued.push(entry)
  })
  try {
    const request = await chat.prepare(signal ? { signal } : {})
    const waiting = new Set(chat.views.context.queued.map(({ uuid }) => uuid))
    const delivered = queued.filter((message) => message.type === "user").filter(({ uuid }) => !waiting.has(uuid))
    return { request, delivered: delivered.map(({ uuid, message }) => ({ uuid, text: textOf(message.content) })) }
  } finally {
    stopListening()
  }
}

/** A model of your own may report no usage. */
function costOf({ usage }: Pick<ModelResponse, "usage">, { facts }: Model): Cost {
  return usage ? costOfUsage(facts, usage) : { known: false, why: "no usage was reported" }
}
