/**
 * The query loop: prepare, send, record, run tools, add results, and repeat until the model gives a final answer or something ends the
 * loop. It is an async generator of events. However it ends, the conversation can continue.
 */
import { errorMessage } from "../../base/errors.ts"
import { type Conversation, engineOf } from "../../conversation/conversation.ts"
import { checkedCopy } from "../../conversation/incoming.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { type Block, type Content, isText, isToolUse, type ToolUse, textOf, toBlocks } from "../../messages/blocks.ts"
import type { ModelResponse } from "../../model/model.ts"
import { type CostBudget, CostLimitError } from "../../model/spending/budget.ts"
import { findModel } from "../../tokens/models.ts"
import type { HookCall } from "../hooks/hooks.ts"
import type { AgentLinks } from "./agent-links.ts"
import { type AskModelOptions, ask } from "./ask-model.ts"
import { mentionedFiles } from "./mentioned-files.ts"
import { type NoProgressReason, ProgressGuard } from "./progress-guard.ts"
import { attachmentSubject, type QueryEnd, type QueryEvent } from "./query-events.ts"
import { runTools, type ToolRun } from "./run-tools.ts"
import { withSideEvents } from "./side-events.ts"

export interface QueryOptions extends AskModelOptions {
  /** Tools, permissions, hooks. */
  readonly tools: Omit<ToolRun, "signal" | "conversation">
  /** Maximum number of requests to the model in this query. */
  readonly maxTurns?: number
  /** Cost budget of the conversation with its sub-agents. */
  readonly budget: CostBudget
  /** Attaches files that the prompt, or this text, mentions as `@path`. */
  readonly mentions?: boolean | string
  /** The part of the prompt that the user typed. Default: the text in `mentions`, else the complete prompt. */
  readonly written?: string
  /** Reason why a hook stopped the session. The query then ends at once. */
  readonly stopped?: string
  /** Links to other agents: sub-agents and other members of its team. */
  readonly agentLinks?: AgentLinks
  /** Whether it is a sub-agent, so that hooks for sub-agents run. */
  readonly isSubAgent?: boolean
  /** Whether no user is present. The query then waits for sub-agents that are still working. */
  readonly isAutonomous?: boolean
  /** User input during the query: waits for its hooks and takes what they produced. */
  readonly typed?: { settled(): Promise<void>; take(): RelevantAttachments }
  /** Attachments that a round made relevant: new or changed instruction files near touched files. */
  readonly attachmentsFor: (touched: readonly string[]) => Promise<RelevantAttachments>
}

export interface RelevantAttachments {
  readonly attachments: readonly Attachment[]
  /** Sentences for the user about what was omitted. */
  readonly problems: readonly string[]
}

const CUT_OFF: ReadonlySet<string> = new Set(["max_tokens", "model_context_window_exceeded"])
const CUT_NOTICE =
  "The response was cut at the model's limit. The received part is in the journal; ask the model to continue."
const unknownPrice = (model: string, limit: number) =>
  `The price of ${model} is unknown, so its requests do not count towards the limit of $${limit}. Set its price under "models" in the settings.`

export async function* query(prompt: Content | undefined, given: QueryOptions): AsyncGenerator<QueryEvent, QueryEnd> {
  const turns = { count: 0 }
  const readerLeft = new AbortController() // a `break` in the reader's loop ends running tools, like an abort
  const options = {
    ...given,
    signal: given.signal ? AbortSignal.any([given.signal, readerLeft.signal]) : readerLeft.signal,
  }
  const { conversation, agentLinks, costLimit = Number.POSITIVE_INFINITY } = options
  const onLeft = () => readerLeft.abort()
  if (!options.isSubAgent) options.budget.limit = costLimit // applies to background work after the query too
  const unfollow = agentLinks?.follow({ signal: given.signal ?? new AbortController().signal, costLimit })
  let end: QueryEnd
  try {
    end = yield* withSideEvents(convertErrors(run(prompt, options, turns), options), { conversation, onLeft })
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

/** Converts errors into a query end. An abort is not an error. */
async function* convertErrors(
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
    return { reason: "error", message: errorMessage(error), error }
  }
}

/** Adds the first message, then runs rounds: a request, and the tool calls of its response. */
async function* run(
  prompt: Content | undefined,
  options: QueryOptions,
  turns: { count: number },
): AsyncGenerator<QueryEvent, QueryEnd> {
  if (options.stopped !== undefined) return { reason: "stopped-by-hook", why: options.stopped }
  const blocked = prompt === undefined ? undefined : yield* submit(prompt, options)
  if (blocked) return blocked
  yield* priceNotice(options)
  const progress = new ProgressGuard()
  for (;;) {
    const over = limitReached(options, turns.count)
    if (over) return over
    yield* addInbound(options)
    if (options.typed) yield* attachAll(options.typed.take(), options.conversation)
    const response = yield* ask(options, ++turns.count)
    if (response === "aborted") return { reason: "aborted" }
    const calls = (response.content as readonly Block[]).filter(isToolUse)
    const end = yield* calls.length > 0
      ? work(calls, options, progress)
      : handleFinalResponse(response, options, progress)
    if (end) return end
  }
}

function* priceNotice({ conversation, model, costLimit }: QueryOptions): Generator<QueryEvent, void> {
  const { facts } = findModel(model.name, conversation.settings.values.models)
  if (costLimit !== undefined && Number.isFinite(costLimit) && !facts.price)
    yield { type: "notice", message: unknownPrice(facts.id, costLimit) }
}

/** The limit that prevents a further request. */
function limitReached({ signal, maxTurns, budget }: QueryOptions, turns: number): QueryEnd | undefined {
  if (signal?.aborted) return { reason: "aborted" }
  if (maxTurns !== undefined && turns >= maxTurns) return { reason: "max-turns", limit: maxTurns }
  const { spent, limit, isReached } = budget
  return isReached ? { reason: "cost-limit", limit, spent } : undefined
}

const endWithoutProgress = (why: NoProgressReason): QueryEnd | undefined =>
  why === undefined ? undefined : { reason: "no-progress", why }

/** Handles a response without calls. It ends the query unless it is incomplete or there is more to answer. */
async function* handleFinalResponse(
  response: ModelResponse,
  options: QueryOptions,
  progress: ProgressGuard,
): AsyncGenerator<QueryEvent, QueryEnd | undefined> {
  const { content, stop_reason: reason } = response
  if (reason === "refusal") return { reason: "refusal" }
  if (reason === "pause_turn") return endWithoutProgress(progress.paused(response))
  if (reason === "max_tokens" && progress.continues()) {
    yield { type: "notice", message: "The answer was cut at the output limit. The model is asked to continue." }
    return undefined
  }
  if (CUT_OFF.has(reason ?? "")) yield { type: "notice", message: CUT_NOTICE }
  if (yield* moreToAnswer(options)) return undefined
  yield* notices(options)
  if (options.signal?.aborted) return { reason: "aborted" }
  const continues = yield* stop(content as readonly Block[], options, progress.hasHookAsked)
  return continues
    ? endWithoutProgress(progress.hookAsked())
    : { reason: "answer", text: textOf(content as readonly Block[]) }
}

/** Whether there is more to answer: queued messages or messages of other agents. Without a user, waits for sub-agents. */
async function* moreToAnswer(options: QueryOptions): AsyncGenerator<QueryEvent, boolean> {
  const { conversation: chat, agentLinks, typed, isAutonomous, signal = new AbortController().signal } = options
  await typed?.settled()
  if (engineOf(chat).views.context.queued.length > 0 || (yield* addInbound(options))) return true
  return isAutonomous === true && agentLinks !== undefined && agentLinks.inbound.whenAny(signal)
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
  const userPart = written === text ? {} : { written }
  const uuid = await options.conversation.add({ role: "user", content, ...task, ...userPart })
  yield { type: "user", uuid, text, queued: false }
  for (const { path } of media) yield { type: "attached", kind: "file", about: path }
  for (const { hook, text: content } of outcome.contexts)
    await options.conversation.attach({ type: "hook_output", hook, content })
  if (named) yield* attachAll(named, options.conversation)
  yield* attachRelevant(named?.touched ?? [], options)
  return undefined
}

/** Runs the calls, adds their results, and attaches what the round made relevant. */
async function* work(
  calls: readonly ToolUse[],
  options: QueryOptions,
  progress: ProgressGuard,
): AsyncGenerator<QueryEvent, QueryEnd | undefined> {
  const { conversation: chat } = options
  const run = toolRun(options)
  const { results, attachments, touched, filesChanged, remarks, stop: why } = yield* runTools(calls, run)
  const remarkBlocks = remarks.map((text) => ({ type: "text" as const, text }))
  const onDisk = filesChanged.length > 0 ? { filesChanged } : {}
  await chat.add({ role: "user", content: [...(results as Block[]), ...remarkBlocks], ...onDisk })
  yield* attach(attachments, chat)
  if (!run.signal.aborted) yield* attachRelevant(touched, options)
  return why === undefined ? endWithoutProgress(progress.worked(calls, results)) : { reason: "stopped-by-hook", why }
}

const toolRun = ({ conversation, tools, signal = new AbortController().signal }: QueryOptions): ToolRun => ({
  ...tools,
  signal,
  conversation: conversation.id,
})

const hookCall = (eventFields: Readonly<Record<string, unknown>>, { signal }: QueryOptions): HookCall => ({
  eventFields,
  ...(signal ? { signal } : {}),
})

async function* attachRelevant(touched: readonly string[], options: QueryOptions): AsyncGenerator<QueryEvent, void> {
  yield* attachAll(await options.attachmentsFor(touched), options.conversation)
}

async function* attachAll(
  { attachments, problems }: RelevantAttachments,
  chat: Conversation,
): AsyncGenerator<QueryEvent, void> {
  for (const message of problems) yield { type: "notice", message }
  yield* attach(attachments, chat)
}

/** Adds messages of other agents. Returns whether there were any. */
async function* addInbound({ conversation: chat, agentLinks }: QueryOptions): AsyncGenerator<QueryEvent, boolean> {
  const inbound = (await agentLinks?.inbound.take()) ?? []
  yield* notices({ agentLinks })
  for (const { attachment, journaled } of inbound) {
    await chat.attach(attachment)
    journaled?.()
    yield { type: "attached", kind: attachment.type, about: attachmentSubject(attachment) }
  }
  return inbound.length > 0
}

function* notices({ agentLinks }: { readonly agentLinks?: AgentLinks | undefined }): Generator<QueryEvent, void> {
  for (const message of agentLinks?.inbound.notices?.() ?? []) yield { type: "notice", message }
}

async function* attach(attachments: readonly Attachment[], chat: Conversation): AsyncGenerator<QueryEvent, void> {
  for (const attachment of attachments) {
    await chat.attach(attachment)
    yield { type: "attached", kind: attachment.type, about: attachmentSubject(attachment) }
  }
}

/** Runs the stop hooks, which may request more work instead. Their input states whether one already did. */
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
