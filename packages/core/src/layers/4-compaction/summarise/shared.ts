/**
 * Step 3, summarize. A fork of the conversation writes the summary. It sends the view unchanged with the prompt after it, so nearly all of
 * its input is read from the server's cache. If that does not fit, the direct route takes over. `check.ts` checks the result.
 */
import { type ForkOutcome, type ForkParent, runFork } from "../../../forks/fork.ts"
import { fenced } from "../../../messages/attachment-texts.ts"
import { inline, isToolResult, isToolUse, type ToolUse, textOf } from "../../../messages/blocks.ts"
import type { FlatMessage } from "../../../messages/flatten.ts"
import { handleFor } from "../../../messages/media.ts"
import { contentOf, isSentToModel, type Message, sentBlocks, type UserMessage } from "../../../messages/messages.ts"
import type { Round } from "../../../messages/rounds.ts"
import { PromptTooLongError } from "../../../model/errors.ts"
import { streamLimits } from "../../../model/stream.ts"
import { previewText } from "../../../views/context/render-decisions.ts"
import { extractHighlights } from "../../../views/record/user-messages.ts"
import type { Views } from "../../../views/views.ts"
import { positionOf, type ResolvedCompactionRequest } from "../../layer.ts"
import { purposeOf } from "../compaction-context.ts"
import { type Cut, cutMiddle } from "../cut.ts"
import { fitToBudget, type InputBudget, limitsIn, roundSize, sizeOf } from "./fit.ts"
import { CUT_MESSAGE, isCutShort, readSummary, summaryPrompt } from "./prompts.ts"
import type { Route, RouteInput, RouteResult } from "./route.ts"

const ROOM_FOR_ANSWER = 4_000 // tokens; a summary is rarely longer, and one that is cut is refused
const WORDS_PER_TOKEN = 0.3 // of the budget: half of what it has room for, so that few summaries are cut
const MAX_QUOTE = 200 // characters that show where a range begins
const SUMMARY_OPENS = /<summary>/i // in an answer with calls, text without this tag only leads up to the call
const NO_TOOLS = "No tools are available while a summary is written. Answer in text."

/** Dependencies of a fork, except the request. */
export type ForkDependencies = Omit<ForkParent, "request" | "openCalls">

export function shared(parent: ForkDependencies): Route {
  return {
    name: "shared",
    async cut(input) {
      return input.order.overflowed || !fits(input) ? undefined : input.cut
    },
    async summarise(input) {
      const { order, cut } = input
      if (order.overflowed || !fits(input))
        return { kind: "passed", message: "the conversation and the prompt do not fit into one request" }
      return readAnswer(await askFork(parent, { ...input, trigger: order.trigger }), cut)
    },
  }
}

/** Whether the request fits. For `up-to` the model must not see the preserved messages, so the direct route is taken. */
function fits(input: RouteInput): boolean {
  const { size, facts, thresholds, views } = input.context
  const answer = thresholds.countsOutput ? thresholds.maxOutput : ROOM_FOR_ANSWER
  const needed = () => size.tokens + views.estimator.text(promptFor(input)) + answer
  return input.cut.kind !== "up-to" && needed() < Math.min(thresholds.window, facts.window)
}

type PromptInput = Pick<RouteInput, "context" | "cut" | "budgets" | "instructions">

export function promptFor({ context, cut, budgets, instructions }: PromptInput): string {
  const startsWith = cut.kind === "from" ? cut.summarised.map(quoteOf).find((quote) => quote !== "") : undefined
  return summaryPrompt({
    kind: cut.kind,
    instructions,
    ...(startsWith ? { startsWith } : {}),
    ...recordOptions({ context, cut, budgets }),
    cleared: clearedExtract({ views: context.views, limit: budgets.extract }),
  })
}

/** Options of the prompt if facts follow the summary: then only their meaning is requested, which takes fewer words. */
export function recordOptions({ context, cut, budgets }: Omit<PromptInput, "instructions">) {
  const record = cut.kind === "all" && context.flags.on["compact-facts"]
  return record ? { record, words: Math.floor(budgets.summary * WORDS_PER_TOKEN) } : {}
}

interface ForkInput extends PromptInput, Pick<RouteInput, "onProgress"> {
  readonly trigger: ResolvedCompactionRequest["trigger"]
}

async function askFork(parent: ForkDependencies, { onProgress, trigger, ...input }: ForkInput): Promise<ForkOutcome> {
  const { context } = input
  let characters = 0
  // in the background, calls may still run; both are taken at the same moment
  const { openCalls } = positionOf(context.views.context.storedMessages())
  const request = context.request()
  return runFork(
    { ...parent, request: await request, openCalls },
    {
      purpose: purposeOf(trigger),
      directive: promptFor(input),
      allows: () => NO_TOOLS,
      maxTurns: 1,
      signal: context.signal,
      limits: streamLimits(context.flags),
      onText: (text) => {
        characters += text.length
        onProgress(characters)
      },
    },
  )
}

function readAnswer(outcome: ForkOutcome, cut: Cut): RouteResult {
  const { ended, responses } = outcome
  const failed = (reason: "aborted" | "prompt_too_long" | "api_error" | "no_summary", message: string) =>
    ({ kind: "failed", reason, message, responses }) as const
  if (ended === "aborted") return failed("aborted", "it was stopped")
  if (ended === "failed") {
    const reason = outcome.error instanceof PromptTooLongError ? "prompt_too_long" : "api_error"
    return failed(reason, outcome.error instanceof Error ? outcome.error.message : "the request failed")
  }
  if (ended === "refusal") return failed("no_summary", "the model refused to write one")
  if (isCutShort(responses.at(-1)?.stop_reason)) return failed("no_summary", CUT_MESSAGE)
  if (ended === "turn-limit" && !SUMMARY_OPENS.test(outcome.text))
    return failed("no_summary", "the model called a tool instead of writing one")
  const summary = readSummary(outcome.text)
  if (summary.kind === "none") return failed("no_summary", "the model gave no summary")
  return { kind: "summary", text: summary.text, cut, responses }
}

/** The beginning of a message: its text, or the call that it makes. */
function quoteOf(message: Message): string {
  const blocks = sentBlocks(message)
  const call = blocks.find(isToolUse)
  const words = textOf(blocks).trim() || (call ? `${call.name} ${JSON.stringify(call.input)}` : "")
  return words.slice(0, MAX_QUOTE)
}

const MIN_SHARE = 12 // tokens for one result; less would hold no name
const MAX_SHARE = 80 // tokens for one result, where there are few
const MAX_INPUT = 60 // characters of what a call was about
const KEY_FIELDS = ["file_path", "path", "command", "pattern", "url", "query"] as const

interface ExtractInput {
  readonly views: Views
  /** Maximum tokens of all lines together. */
  readonly limit: number
}

/**
 * Exact content of tool results that the model no longer sees and that have no stub: cleared in the server's copy or its cache, or by an
 * earlier version. The summarizer gets it after its prompt, so that the cached bytes before it stay the same. Empty if every result is in
 * view, or none of the others has exact content.
 */
function clearedExtract({ views: { context, estimator }, limit }: ExtractInput): string {
  const lost = clearedResults(context)
  if (lost.length === 0 || limit <= 0) return ""
  const share = Math.min(MAX_SHARE, Math.max(MIN_SHARE, Math.floor(limit / lost.length)))
  const lines: string[] = []
  let left = limit
  for (const { call, address, text } of lost.toReversed()) {
    const name = `${handleFor(address)} ${inline(call.name)}${describeInput(call)}: `
    const estimate = (text: string) => estimator.text(text)
    const highlights = extractHighlights({ text, room: share, estimate })
    if (highlights === "") continue
    left -= estimate(`${name}${highlights}\n`)
    if (left < 0) break
    lines.unshift(`${name}${highlights}`)
  }
  return lines.length === 0 ? "" : fenced(lines.join("\n"))
}

/** Cleared results without a stub, in the order of their calls. */
function clearedResults(context: Views["context"]) {
  const calls = new Map<string, ToolUse>()
  const lost: { readonly call: ToolUse; readonly address: string; readonly text: string }[] = []
  for (const message of context.storedMessages()) {
    if (message.type !== "user" && message.type !== "assistant") continue
    for (const block of contentOf(message)) {
      if (isToolUse(block)) calls.set(block.id, block)
      if (!isToolResult(block) || !context.isLostToView(block.tool_use_id)) continue
      const [call, result] = [calls.get(block.tool_use_id), context.originalResult(block.tool_use_id)]
      const address = context.resultAddress(block.tool_use_id)
      if (call && result && address) lost.push({ call, address, text: previewText(result) })
    }
  }
  return lost
}

function describeInput({ input }: ToolUse): string {
  const fields = input as Readonly<Record<string, unknown>> | null
  const found = KEY_FIELDS.map((field) => fields?.[field]).find((value) => typeof value === "string")
  return typeof found === "string" ? ` ${inline(found.slice(0, MAX_INPUT).trim())}` : ""
}

// Step 3, summarize. The subject of one call: a part of the conversation, or summaries of parts. It fits the given budget. If the provider
// still finds it too long, it can be made smaller.

export interface SummarySubject {
  readonly messages: readonly FlatMessage[]
  /** Number of rounds that were dropped so far. */
  readonly dropped: number
  /** Returns a smaller subject; `undefined` if nothing is left to drop. */
  smaller(gap: number | undefined): SummarySubject | undefined
}

const BLIND_CUT = 0.3 // of the size, if the error reports no numbers
const MIN_ROOM = 200 // tokens; less is not worth a summary

export function conversationSubject(given: readonly Round[], room: InputBudget, dropped = 0): SummarySubject {
  const rounds = beginningWithUser(given)
  const messages = fitToBudget(rounds.flat(), room)
  return {
    messages,
    dropped,
    smaller(gap) {
      const fewer = dropOldest(rounds, { gap, share: room.dropShare, estimate: (round) => roundSize(round, room) })
      if (fewer.kind === "dropped") {
        const next = conversationSubject(fewer.rounds, room, dropped + fewer.dropped)
        // a round may be shorter than the marker that replaces it: dropping it would gain nothing
        const isSmaller = sizeOf(next.messages, room.estimator) < sizeOf(messages, room.estimator)
        return isSmaller ? next : next.smaller(gap)
      }
      // one round that is too long on its own is cut harder
      const less = lessRoom(messages, room, gap)
      return less && conversationSubject(rounds, less, dropped)
    },
  }
}

/** A subject of summaries of parts, each in a separate block. */
export function partsSubject(parts: readonly string[], room: InputBudget): SummarySubject {
  const messages = joinParts(parts, room)
  return {
    messages,
    dropped: 0,
    smaller(gap) {
      const less = lessRoom(messages, room, gap)
      return less && partsSubject(parts, less)
    },
  }
}

function lessRoom(
  messages: readonly FlatMessage[],
  room: InputBudget,
  gap: number | undefined,
): InputBudget | undefined {
  const size = sizeOf(messages, room.estimator)
  const tokens = Math.floor(Math.min(size * (1 - BLIND_CUT / 2), size - (gap ?? size * BLIND_CUT)))
  return tokens < MIN_ROOM ? undefined : { ...room, tokens, limits: limitsIn(room) }
}

function joinParts(parts: readonly string[], { tokens, estimator }: InputBudget): readonly FlatMessage[] {
  const render = (texts: readonly string[]): readonly FlatMessage[] => [
    {
      role: "user",
      content: texts.map((text, at) => ({
        type: "text",
        text: `Summary of part ${at + 1} of ${texts.length} of the conversation:\n\n${text}`,
      })),
    },
  ]
  let texts = parts
  let messages = render(texts)
  for (let size = sizeOf(messages, estimator); size > tokens; size = sizeOf(messages, estimator)) {
    const longest = Math.max(...texts.map(({ length }) => length))
    const shorter = texts.map((text) => cutMiddle(text, Math.floor(longest * Math.min(0.9, (0.95 * tokens) / size))))
    if (shorter.every((text, at) => text.length >= texts[at]!.length)) return messages
    texts = shorter
    messages = render(texts)
  }
  return messages
}

/** Do not change this text: other tools search for it. */
export const TRUNCATED = "[earlier conversation truncated for compaction retry]"
const NOT_SHOWN = "[earlier conversation not shown here]"
const MARKER_UUID = "00000000-0000-4000-8000-000000000000"

/**
 * Adds a marker before the first round if that is not the beginning of the conversation. The marker is a meta message and never reaches the
 * journal, so it borrows the time of the message after it.
 */
export function withMarker(rounds: readonly Round[], text: string): readonly Round[] {
  const first = rounds[0]?.[0]
  return first ? [[marker(text, first)], ...rounds] : rounds
}

/** Adds a marker unless the rounds begin with a user message, because a conversation has to. */
function beginningWithUser(rounds: readonly Round[], text: string = NOT_SHOWN): readonly Round[] {
  const first = rounds.flat().find(isSentToModel)
  return first?.type === "assistant" ? withMarker(rounds, text) : rounds
}

export const partMarker = (part: number, parts: number) => `[conversation, part ${part} of ${parts}]`

function withoutMarkers(rounds: readonly Round[]): readonly Round[] {
  return rounds
    .map((round) => (round.some(isMarker) ? round.filter((message) => !isMarker(message)) : round))
    .filter((round) => round.length > 0)
}

const isMarker = (message: Message) => message.uuid === MARKER_UUID

const marker = (text: string, { timestamp }: Message): UserMessage => ({
  type: "user",
  uuid: MARKER_UUID,
  parentUuid: null,
  timestamp,
  isMeta: true,
  message: { role: "user", content: [{ type: "text", text }] },
})

const USUAL_SHARE = 0.2

interface DropOptions {
  /** By how many tokens the request was too long, if that is known. */
  readonly gap?: number | undefined
  /** Share of the rounds to drop otherwise. Default 20%. */
  readonly share?: number | undefined
  /** Tokens of a round as it is sent. */
  readonly estimate: (round: Round) => number
}

type DropResult =
  | { readonly kind: "dropped"; readonly rounds: readonly Round[]; readonly dropped: number }
  /** At most one round is left: without it there would be nothing to summarize. */
  | { readonly kind: "nothing-left" }

/**
 * For a summary request that is too long: drops the oldest rounds, as many as the error asks for, or a share if it reports no number. An
 * earlier summary is dropped last, because it covers more than any round. Pure: every call returns fewer rounds than it got, or `nothing-
 * left`.
 */
export function dropOldest(given: readonly Round[], options: DropOptions): DropResult {
  const rounds = withoutMarkers(given) // otherwise a retry might drop only the marker of the previous one
  if (rounds.length <= 1) return { kind: "nothing-left" }
  const droppable = rounds.slice(0, -1).sort((a, b) => Number(holdsSummary(a)) - Number(holdsSummary(b)))
  const dropped = new Set(droppable.slice(0, dropCount(droppable, { ...options, total: rounds.length })))
  const left = rounds.filter((round) => !dropped.has(round))
  return { kind: "dropped", rounds: beginningWithUser(left, TRUNCATED), dropped: dropped.size }
}

const holdsSummary = (round: Round) => round.some((message) => message.type === "user" && message.isCompactSummary)

function dropCount(
  droppable: readonly Round[],
  { gap, share = USUAL_SHARE, estimate, total }: DropOptions & { total: number },
): number {
  if (gap === undefined || !(gap > 0)) return Math.max(1, Math.floor(total * share))
  let covered = 0
  let count = 0
  while (covered < gap && count < droppable.length) covered += estimate(droppable[count++]!)
  return count
}
