/**
 * The query loop: prepare, send, record, run the tools, add their results, and again, until the model gives a final answer or something
 * ends it. It is an async generator of events. However it ends, the conversation can continue.
 */
import { messageOf } from "../base/errors.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { checkedCopy } from "../conversation/incoming.ts"
import type { Attachment } from "../messages/attachments.ts"
import { type Block, type Content, isText, isToolUse, type ToolUse, textOf } from "../messages/blocks.ts"
import { PromptTooLongError } from "../model/errors.ts"
import type { Model, ModelResponse } from "../model/model.ts"
import { type Cost, costOfUsage } from "../tokens/price.ts"
import { summarise } from "../views/ledger/ledger.ts"
import type { HookCall } from "./hooks.ts"
import { aboutOf, type QueryEnd, type QueryEvent } from "./query-events.ts"
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
  /** Dollars for the whole conversation. */
  readonly costLimit?: number
  /** Why a hook does not let this session work. The query then ends at once. */
  readonly stopped?: string
  /** What the round has made relevant: instruction files near the files it touched, and those that changed. */
  readonly attachmentsFor: (touched: readonly string[]) => Promise<readonly Attachment[]>
}

const MOST_CONTINUATIONS = 3 // answers cut at the output limit that are asked to continue

export async function* query(prompt: Content | undefined, given: QueryOptions): AsyncGenerator<QueryEvent, QueryEnd> {
  const turns = { count: 0 }
  const left = new AbortController() // a `break` in the reader's loop ends tools under way, like an abort
  const options = { ...given, signal: given.signal ? AbortSignal.any([given.signal, left.signal]) : left.signal }
  const { conversation } = options
  const onLeft = () => left.abort()
  const end = yield* withSideEvents(guarded(run(prompt, options, turns), options), { conversation, onLeft })
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
  let continuations = 0
  let goesOnForHook = false
  for (;;) {
    if (options.signal?.aborted) return { reason: "aborted" }
    if (turns.count >= maxTurns) return { reason: "max-turns", limit: maxTurns }
    const spent = summarise(chat.views.ledger).dollars
    if (spent >= costLimit) return { reason: "cost-limit", limit: costLimit, spent }
    turns.count++

    const response = yield* ask(options, turns.count)
    if (response === "aborted") return { reason: "aborted" }
    const content = response.content as readonly Block[]
    const calls = content.filter(isToolUse)
    if (calls.length > 0) {
      const stopped = yield* work(calls, options)
      if (stopped !== undefined) return { reason: "stopped-by-hook", why: stopped }
      continue
    }
    if (response.stop_reason === "refusal") return { reason: "refusal" }
    if (response.stop_reason === "pause_turn") continue
    if (response.stop_reason === "max_tokens" && continuations++ < MOST_CONTINUATIONS) {
      yield { type: "notice", message: "The answer was cut at the output limit. The model is asked to continue." }
      continue
    }
    if (chat.views.context.queued.length > 0) continue // messages typed meanwhile are answered before the query ends
    goesOnForHook = yield* stop(content, options, goesOnForHook)
    if (!goesOnForHook) return { reason: "answer", text: textOf(content) }
  }
}

/** Adds the user's message, unless a hook blocks it. */
async function* submit(prompt: Content, options: QueryOptions): AsyncGenerator<QueryEvent, QueryEnd | undefined> {
  const text = textOf(checkedCopy(prompt, "user"))
  const outcome = await options.tools.runHooks("UserPromptSubmit", hookCall({ prompt: text }, options))
  for (const message of outcome.messages) yield { type: "notice", message }
  const why = outcome.stop ?? outcome.blocked
  if (why !== undefined) return { reason: "stopped-by-hook", why }
  const uuid = await options.conversation.add({ role: "user", content: prompt })
  yield { type: "user", uuid, text, queued: false }
  for (const { hook, text: said } of outcome.contexts)
    await options.conversation.attach({ type: "hook_output", hook, content: said })
  yield* attach(await options.attachmentsFor([]), options.conversation)
  return undefined
}

/** A request that the API refuses as too long is compacted and sent again, once. The caller sees the refusal only if that fails. */
async function* ask(options: QueryOptions, turn: number): AsyncGenerator<QueryEvent, ModelResponse | "aborted"> {
  const { conversation: chat, signal } = options
  try {
    return yield* askOnce(options, turn)
  } catch (error) {
    if (!(error instanceof PromptTooLongError) || signal?.aborted) throw error
    try {
      await chat.compact({ trigger: "auto", overflowed: true }, signal ? { signal } : {})
    } catch {
      throw error // the layer has reported why compacting did not help
    }
    return yield* askOnce(options, turn)
  }
}

/** Sends the next request and records the answer. Text streamed before an interruption is kept. */
async function* askOnce(options: QueryOptions, turn: number): AsyncGenerator<QueryEvent, ModelResponse | "aborted"> {
  const { conversation: chat, model, signal } = options
  const { request, delivered } = await prepareAndDeliver(chat, signal)
  for (const { uuid, text } of delivered) yield { type: "user", uuid, text, queued: true }
  yield { type: "request", turn, size: chat.views.context.size(), fill: chat.fill() }
  let streamed = ""
  try {
    for await (const event of model.stream(request, signal ? { signal } : {})) {
      if (event.type === "retry") streamed = ""
      if (event.type === "text") streamed += event.text
      if (event.type === "response") {
        const uuid = await chat.record(event.response)
        const { response } = event
        yield { type: "response", uuid, response, cost: costOf(response, model) }
        return response
      }
      if (event.type !== "tool-input") yield event
    }
  } catch (error) {
    if (streamed.trim() !== "") await chat.recordPartial(streamed, model.name)
    if (signal?.aborted) return "aborted"
    throw error
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

/** Runs the calls, adds their results, then attaches what the round has made relevant. Returns why a hook ends the query, if one does. */
async function* work(calls: readonly ToolUse[], options: QueryOptions): AsyncGenerator<QueryEvent, string | undefined> {
  const { conversation: chat, tools } = options
  const signal = options.signal ?? new AbortController().signal
  const run: ToolRun = { ...tools, signal, conversation: chat.id }
  const { results, attachments, touched, remarks, stop: stopped } = yield* runTools(calls, run)
  const said = remarks.map((text) => ({ type: "text" as const, text }))
  await chat.add({ role: "user", content: [...(results as Block[]), ...said] })
  yield* attach(attachments, chat)
  if (!signal.aborted) yield* attach(await options.attachmentsFor(touched), chat)
  return stopped
}

const hookCall = (about: Readonly<Record<string, unknown>>, { signal }: QueryOptions): HookCall => ({
  about,
  ...(signal ? { signal } : {}),
})

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
  const outcome = await options.tools.runHooks("Stop", hookCall(about, options))
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
