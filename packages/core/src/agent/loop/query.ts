/**
 * The query loop: prepare, send, record, run the tools, add their results, and again, until the model gives a final answer or something
 * ends it. It is an async generator of events. However it ends, the conversation can continue.
 */
import { messageOf } from "../../base/errors.ts"
import { grouped } from "../../base/grouped.ts"
import type { Conversation } from "../../conversation/conversation.ts"
import { checkedCopy } from "../../conversation/incoming.ts"
import type { Attachment } from "../../messages/attachments.ts"
import {
  type Block,
  type Content,
  isText,
  isToolUse,
  type ToolResult,
  type ToolUse,
  textOf,
  toBlocks,
} from "../../messages/blocks.ts"
import { InvalidModelRequestError, PromptTooLongError } from "../../model/errors.ts"
import { refusesMedia } from "../../model/media-refusals.ts"
import type { Model, ModelResponse, RateLimit } from "../../model/model.ts"
import { CostLimitError, type Purse } from "../../model/spending/purse.ts"
import { keptCharacters, limitsFrom } from "../../model/stream-limits.ts"
import { findModel } from "../../tokens/models.ts"
import { type Cost, costOfUsage } from "../../tokens/price.ts"
import type { HookCall } from "../hooks/hooks.ts"
import type { Companions } from "./companions.ts"
import type { CacheKeeper } from "./keep-warm.ts"
import { mentionedFiles } from "./mentioned-files.ts"
import { aboutOf, type QueryEnd, type QueryEvent } from "./query-events.ts"
import { QueryProgress } from "./query-progress.ts"
import { runTools, type ToolRun } from "./run-tools.ts"
import { withSideEvents } from "./side-events.ts"

export interface QueryOptions {
  readonly conversation: Conversation
  readonly model: Model
  /** Tools, permissions, hooks. */
  readonly tools: Omit<ToolRun, "signal" | "conversation">
  readonly signal?: AbortSignal
  /** Requests to the model in this query. */
  readonly maxTurns?: number
  /** Learns what is left of the provider's limits. */
  readonly onLimits?: (limits: readonly RateLimit[]) => void
  /** Dollars for the whole conversation. */
  readonly costLimit?: number
  /** What everyone who works on the conversation may spend. */
  readonly purse: Purse
  /** Attaches the files that the prompt names as `@path`, or that this text names. */
  readonly mentions?: boolean | string
  /** The part of the prompt that the person typed. Default: all of it, or the text in `mentions`. */
  readonly written?: string
  /** Why a hook does not let this session work. The query then ends at once. */
  readonly stopped?: string
  /** Agents that work for this one, or beside it. */
  readonly companions?: Companions
  /** Keeps the server's cache warm until the next request. */
  readonly keeper?: Pick<CacheKeeper, "answered" | "stop">
  /** It works for another agent: the hooks are those of sub-agents. */
  readonly isSubAgent?: boolean
  /** No one is there to answer. The query waits for agents that still work. */
  readonly isAutonomous?: boolean
  /** Messages typed meanwhile: waits for the hooks that look at them, and takes what those said. */
  readonly typed?: { settled(): Promise<void>; take(): Relevant }
  /** What the round has made relevant: instruction files near the files it touched, and those that changed. */
  readonly attachmentsFor: (touched: readonly string[]) => Promise<Relevant>
}

export interface Relevant {
  readonly attachments: readonly Attachment[]
  /** Sentences for the person about what was left out. */
  readonly problems: readonly string[]
}

const CUT_OFF: ReadonlySet<string> = new Set(["max_tokens", "model_context_window_exceeded"])
const CUT_NOTICE =
  "The answer is not complete: it was cut at the model's limit. What arrived is kept; ask it to continue."
const unknownPrice = (model: string, limit: number) =>
  `The price of ${model} is unknown, so its requests do not count towards the limit of $${limit}. Set its price under "models" in the settings.`
const MOST_COMPACTIONS = 3 // for one request; what is refused even then cannot be made to fit
const WITHHOLDINGS = ["new", "all"] as const // which images and documents are left out, one attempt after the other

export async function* query(prompt: Content | undefined, given: QueryOptions): AsyncGenerator<QueryEvent, QueryEnd> {
  const turns = { count: 0 }
  const left = new AbortController() // a `break` in the reader's loop ends tools under way, like an abort
  const options = { ...given, signal: given.signal ? AbortSignal.any([given.signal, left.signal]) : left.signal }
  const { conversation, companions, costLimit = Number.POSITIVE_INFINITY } = options
  const onLeft = () => left.abort()
  if (!options.isSubAgent) options.purse.limit = costLimit // also for background work after the query
  const unfollow = companions?.follow({ signal: given.signal ?? new AbortController().signal, costLimit })
  let end: QueryEnd
  try {
    end = yield* withSideEvents(guarded(run(prompt, options, turns), options), { conversation, onLeft })
  } finally {
    unfollow?.()
  }
  let isTaken = false
  if (end.reason === "error") {
    const take = () => {
      isTaken = true
      return end.error
    }
    yield { type: "error", message: end.message, error: end.error, take }
  }
  yield { type: "done", turns: turns.count, ...end }
  if (end.reason === "error" && !isTaken) throw end.error
  return end
}

/** An error ends the query with a sentence. An abort is not an error. */
async function* guarded(
  work: AsyncGenerator<QueryEvent, QueryEnd>,
  { signal }: QueryOptions,
): AsyncGenerator<QueryEvent, QueryEnd> {
  try {
    return yield* work
  } catch (error) {
    if (signal?.aborted) return { reason: "aborted" }
    if (error instanceof CostLimitError) {
      const { limit, spent, next } = error
      return { reason: "cost-limit", limit, spent, next }
    }
    return { reason: "error", message: messageOf(error), error }
  }
}

async function* run(
  prompt: Content | undefined,
  options: QueryOptions,
  turns: { count: number },
): AsyncGenerator<QueryEvent, QueryEnd> {
  const { conversation: chat, maxTurns = Number.POSITIVE_INFINITY, costLimit = Number.POSITIVE_INFINITY } = options
  if (options.stopped !== undefined) return { reason: "stopped-by-hook", why: options.stopped }
  const blocked = prompt === undefined ? undefined : yield* submit(prompt, options)
  if (blocked) return blocked
  const progress = new QueryProgress(() => chat.flags.figures)
  const { facts } = findModel(options.model.name, chat.settings.values.models)
  if (Number.isFinite(costLimit) && !facts.price) yield { type: "notice", message: unknownPrice(facts.id, costLimit) }
  let goesOnForHook = false
  for (;;) {
    if (options.signal?.aborted) return { reason: "aborted" }
    if (turns.count >= maxTurns) return { reason: "max-turns", limit: maxTurns }
    const { spent, limit, isReached } = options.purse
    if (isReached) return { reason: "cost-limit", limit, spent }
    yield* arrive(options)
    if (options.typed) yield* attachAll(options.typed.take(), chat)
    turns.count++

    const response = yield* ask(options, turns.count)
    if (response === "aborted") return { reason: "aborted" }
    const content = response.content as readonly Block[]
    const calls = content.filter(isToolUse)
    if (calls.length > 0) {
      const { results, stopped } = yield* work(calls, options)
      if (stopped !== undefined) return { reason: "stopped-by-hook", why: stopped }
      const why = progress.worked(calls, results)
      if (why !== undefined) return { reason: "no-progress", why }
      continue
    }
    if (response.stop_reason === "refusal") return { reason: "refusal" }
    if (response.stop_reason === "pause_turn") {
      const why = progress.paused(response)
      if (why !== undefined) return { reason: "no-progress", why }
      continue
    }
    if (response.stop_reason === "max_tokens" && progress.continues()) {
      yield { type: "notice", message: "The answer was cut at the output limit. The model is asked to continue." }
      continue
    }
    if (CUT_OFF.has(response.stop_reason ?? "")) yield { type: "notice", message: CUT_NOTICE }
    await options.typed?.settled()
    if (chat.views.context.queued.length > 0) continue // messages typed meanwhile are answered before the query ends
    if (yield* arrive(options)) continue // what other agents sent meanwhile is answered too
    if (options.isAutonomous && (await moreToCome(options))) continue
    yield* notices(options)
    if (options.signal?.aborted) return { reason: "aborted" }
    goesOnForHook = yield* stop(content, options, goesOnForHook)
    if (!goesOnForHook) return { reason: "answer", text: textOf(content) }
    const why = progress.hookAsked()
    if (why !== undefined) return { reason: "no-progress", why }
  }
}

/** Adds the user's message, unless a hook blocks it. */
async function* submit(prompt: Content, options: QueryOptions): AsyncGenerator<QueryEvent, QueryEnd | undefined> {
  const text = textOf(checkedCopy(prompt, "user"))
  const event = options.isSubAgent ? "SubagentStart" : "UserPromptSubmit"
  const outcome = await options.tools.runHooks(event, hookCall({ prompt: text }, options))
  for (const message of outcome.messages) yield { type: "notice", message }
  const why = outcome.stop ?? outcome.blocked
  if (why !== undefined) return { reason: "stopped-by-hook", why }
  const task = options.isSubAgent ? { isFromAgent: true } : {}
  const { mentions = false } = options
  const searched = mentions === true ? text : mentions
  const named = searched === false ? undefined : await mentionedFiles(searched, toolRun(options))
  const media = named?.media ?? []
  const content = media.length === 0 ? prompt : [...toBlocks(prompt), ...media.map(({ block }) => block)]
  const written = options.written ?? (typeof mentions === "string" ? mentions : text)
  const said = written === text ? {} : { written }
  const uuid = await options.conversation.add({ role: "user", content, ...task, ...said })
  yield { type: "user", uuid, text, queued: false }
  for (const { path } of media) yield { type: "attached", kind: "file", about: path }
  for (const { hook, text: said } of outcome.contexts)
    await options.conversation.attach({ type: "hook_output", hook, content: said })
  if (named) yield* attachAll(named, options.conversation)
  yield* attachRelevant(named?.touched ?? [], options)
  return undefined
}

/**
 * A request that the API refuses is changed and sent again where that can help: compacted if it is too long, without images and
 * documents if it cannot use them, without blocks of unknown types. The caller sees the refusal only if that fails.
 */
async function* ask(options: QueryOptions, turn: number): AsyncGenerator<QueryEvent, ModelResponse | "aborted"> {
  const { conversation: chat, signal } = options
  const withholdings = [...WITHHOLDINGS]
  let compactions = 0
  for (;;) {
    try {
      return yield* askOnce(options, turn)
    } catch (error) {
      if (signal?.aborted) throw error
      if (error instanceof PromptTooLongError && compactions < MOST_COMPACTIONS) {
        await compactAfter(error, { ...options, attempt: compactions++ })
      } else if (refusesMedia(error)) {
        const message = await withhold(chat, withholdings)
        if (message === undefined) throw error
        yield { type: "notice", message: `${message} The API said: "${error.said}"` }
      } else if (error instanceof InvalidModelRequestError) {
        const count = await chat.leaveOutReceived()
        if (count === 0) throw error
        yield { type: "notice", message: `${leftOut(count)} The API said: "${error.said}"` }
      } else throw error
    }
  }
}

async function compactAfter(
  refusal: PromptTooLongError,
  { conversation: chat, signal, attempt }: QueryOptions & { readonly attempt: number },
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
    const count = await chat.withholdMedia(which, "the model refused it")
    if (count > 0)
      return `The model refused images or documents. ${count === 1 ? "1 is" : `${count} are`} left out; a text names each.`
  }
  return undefined
}

/** Sends the next request and records the answer. Text streamed before an interruption is kept. */
async function* askOnce(options: QueryOptions, turn: number): AsyncGenerator<QueryEvent, ModelResponse | "aborted"> {
  const { conversation: chat, model, signal } = options
  options.keeper?.stop()
  const { request, delivered } = await prepareAndDeliver(chat, signal)
  for (const { uuid, text } of delivered) yield { type: "user", uuid, text, queued: true }
  yield { type: "request", turn, size: chat.views.context.size(), fill: chat.fill() }
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
      ...{ limits, lifetime: chat.cacheLifetime },
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

interface Round {
  readonly results: readonly ToolResult[]
  /** Why a hook ends the query, if one does. */
  readonly stopped: string | undefined
}

/** Runs the calls, adds their results, then attaches what the round has made relevant. */
async function* work(calls: readonly ToolUse[], options: QueryOptions): AsyncGenerator<QueryEvent, Round> {
  const { conversation: chat } = options
  const run = toolRun(options)
  const { signal } = run
  const { results, attachments, touched, filesChanged, remarks, stop: stopped } = yield* runTools(calls, run)
  const said = remarks.map((text) => ({ type: "text" as const, text }))
  const onDisk = filesChanged.length > 0 ? { filesChanged } : {}
  await chat.add({ role: "user", content: [...(results as Block[]), ...said], ...onDisk })
  yield* attach(attachments, chat)
  if (!signal.aborted) yield* attachRelevant(touched, options)
  return { results, stopped }
}

const toolRun = ({ conversation, tools, signal = new AbortController().signal }: QueryOptions): ToolRun => ({
  ...tools,
  signal,
  conversation: conversation.id,
})

const hookCall = (about: Readonly<Record<string, unknown>>, { signal }: QueryOptions): HookCall => ({
  about,
  ...(signal ? { signal } : {}),
})

async function* attachRelevant(touched: readonly string[], options: QueryOptions): AsyncGenerator<QueryEvent, void> {
  yield* attachAll(await options.attachmentsFor(touched), options.conversation)
}

async function* attachAll({ attachments, problems }: Relevant, chat: Conversation): AsyncGenerator<QueryEvent, void> {
  for (const message of problems) yield { type: "notice", message }
  yield* attach(attachments, chat)
}

/** Adds what other agents sent. Returns whether there was anything. */
async function* arrive({ conversation: chat, companions }: QueryOptions): AsyncGenerator<QueryEvent, boolean> {
  const arrivals = (await companions?.arrivals.take()) ?? []
  yield* notices({ companions })
  for (const { attachment, journaled } of arrivals) {
    await chat.attach(attachment)
    journaled?.()
    yield { type: "attached", kind: attachment.type, about: aboutOf(attachment) }
  }
  return arrivals.length > 0
}

function* notices({ companions }: { readonly companions?: Companions | undefined }): Generator<QueryEvent, void> {
  for (const message of companions?.arrivals.notices?.() ?? []) yield { type: "notice", message }
}

/** Whether the next request has something new, once the agents that work for this one were waited for. */
async function moreToCome({ companions, signal }: QueryOptions): Promise<boolean> {
  if (!companions) return false
  return companions.arrivals.whenAny(signal ?? new AbortController().signal)
}

async function* attach(attachments: readonly Attachment[], chat: Conversation): AsyncGenerator<QueryEvent, void> {
  for (const attachment of attachments) {
    await chat.attach(attachment)
    yield { type: "attached", kind: attachment.type, about: aboutOf(attachment) }
  }
}

/** A hook may ask for more work in place of an end. Its input says if it already did. */
async function* stop(
  content: readonly Block[],
  options: QueryOptions,
  isRepeated: boolean,
): AsyncGenerator<QueryEvent, boolean> {
  const last = textOf(content.filter(isText))
  const about = { stop_hook_active: isRepeated, last_assistant_message: last }
  const outcome = await options.tools.runHooks(options.isSubAgent ? "SubagentStop" : "Stop", hookCall(about, options))
  for (const message of outcome.messages) yield { type: "notice", message }
  if (outcome.stop !== undefined) yield { type: "notice", message: `A hook ends the work: ${outcome.stop}` }
  if (outcome.blocked === undefined || outcome.stop !== undefined) return false
  await options.conversation.add({ role: "user", content: outcome.blocked, isMeta: true })
  yield { type: "notice", message: `A hook asks for more: ${outcome.blocked}` }
  return true
}

/** A model of your own may report no usage. */
function costOf({ usage }: Pick<ModelResponse, "usage">, { facts }: Model): Cost {
  return usage ? costOfUsage(facts, usage) : { known: false, why: "no usage was reported" }
}
