/**
 * Step 3, summarise. A fork of the conversation writes the summary. It sends the view unchanged and the prompt after it, so nearly all of
 * its input is read from the server's cache. Where that does not fit, the direct route takes over.
 */
import { type ForkOutcome, type ForkParent, runFork } from "../../../forks/fork.ts"
import { fenced } from "../../../messages/attachments.ts"
import { isToolResult, isToolUse, type ToolUse, textOf } from "../../../messages/blocks.ts"
import { handleFor } from "../../../messages/handles.ts"
import { inline } from "../../../messages/inline.ts"
import { contentOf, type Message } from "../../../messages/messages.ts"
import { sentBlocks } from "../../../messages/sent-blocks.ts"
import { PromptTooLongError } from "../../../model/errors.ts"
import { limitsFrom } from "../../../model/stream-limits.ts"
import { previewedText } from "../../../views/context/render-decisions.ts"
import { tellingIn } from "../../../views/record/telling.ts"
import type { Views } from "../../../views/views.ts"
import type { CompactionOrder } from "../../compaction-order.ts"
import { positionOf } from "../../position.ts"
import type { Cut } from "../cut.ts"
import { summaryPrompt } from "./prompts.ts"
import { purposeOf, type Route, type RouteInput, type RouteOutcome } from "./route.ts"
import { CUT_MESSAGE, isCutShort, readSummary } from "./summary-text.ts"

const ROOM_FOR_ANSWER = 4_000 // tokens; a summary is rarely longer, and one that is cut is refused
const WORDS_PER_TOKEN = 0.3 // of the budget: half of what it has room for, so that few summaries are cut
const LONGEST_QUOTE = 200 // characters that show where a range begins
const OPENED = /<summary>/i // beside a call, text without this tag only leads up to the call
const NO_TOOLS = "No tools are available while a summary is written. Answer in text."

/** What a fork shares with its parent besides the request. */
export type ForkSurroundings = Omit<ForkParent, "request" | "openCalls">

export function shared(parent: ForkSurroundings): Route {
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

/** `up-to`: the model must not see the messages that are kept, so the direct route is taken. */
function fits(input: RouteInput): boolean {
  const { size, facts, thresholds, views } = input.context
  const answer = thresholds.countsOutput ? thresholds.maxOutput : ROOM_FOR_ANSWER
  const needed = () => size.tokens + views.estimator.text(promptFor(input)) + answer
  return input.cut.kind !== "up-to" && needed() < Math.min(thresholds.window, facts.window)
}

type PromptInput = Pick<RouteInput, "context" | "cut" | "figures" | "instructions">

export function promptFor({ context, cut, figures, instructions }: PromptInput): string {
  const startsWith = cut.kind === "from" ? cut.summarised.map(quoteOf).find((quote) => quote !== "") : undefined
  return summaryPrompt({
    kind: cut.kind,
    instructions,
    ...(startsWith ? { startsWith } : {}),
    ...recordOf({ context, cut, figures }),
    cleared: clearedExtract({ views: context.views, limit: figures.extract }),
  })
}

/** Where facts follow the summary, only their meaning is asked for, and that takes fewer words. */
export function recordOf({ context, cut, figures }: Omit<PromptInput, "instructions">) {
  const record = cut.kind === "all" && context.flags.on["compact-facts"]
  return record ? { record, words: Math.floor(figures.summary * WORDS_PER_TOKEN) } : {}
}

interface ForkInput extends PromptInput, Pick<RouteInput, "onProgress"> {
  readonly trigger: CompactionOrder["trigger"]
}

async function askFork(parent: ForkSurroundings, { onProgress, trigger, ...input }: ForkInput): Promise<ForkOutcome> {
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
      limits: limitsFrom(context.flags),
      onText: (text) => {
        characters += text.length
        onProgress(characters)
      },
    },
  )
}

function readAnswer(outcome: ForkOutcome, cut: Cut): RouteOutcome {
  const { ended, responses } = outcome
  const failed = (why: "aborted" | "prompt_too_long" | "api_error" | "no_summary", message: string) =>
    ({ kind: "failed", why, message, responses }) as const
  if (ended === "aborted") return failed("aborted", "it was stopped")
  if (ended === "failed") {
    const why = outcome.error instanceof PromptTooLongError ? "prompt_too_long" : "api_error"
    return failed(why, outcome.error instanceof Error ? outcome.error.message : "the request failed")
  }
  if (ended === "refusal") return failed("no_summary", "the model refused to write one")
  if (isCutShort(responses.at(-1)?.stop_reason)) return failed("no_summary", CUT_MESSAGE)
  if (ended === "turn-limit" && !OPENED.test(outcome.text))
    return failed("no_summary", "the model called a tool instead of writing one")
  const summary = readSummary(outcome.text)
  if (summary.kind === "none") return failed("no_summary", "the model gave no summary")
  return { kind: "summary", text: summary.text, cut, responses }
}

/** How a message begins: its text, or the call it makes. */
function quoteOf(message: Message): string {
  const blocks = sentBlocks(message)
  const call = blocks.find(isToolUse)
  const words = textOf(blocks).trim() || (call ? `${call.name} ${JSON.stringify(call.input)}` : "")
  return words.slice(0, LONGEST_QUOTE)
}

const LEAST_SHARE = 12 // tokens for one result; less would hold no name
const MOST_SHARE = 80 // tokens for one result, where there are few
const LONGEST_INPUT = 60 // characters of what a call was about
const TELLING_FIELDS = ["file_path", "path", "command", "pattern", "url", "query"] as const

interface ExtractInput {
  readonly views: Views
  /** Tokens of all lines together. */
  readonly limit: number
}

/**
 * What is exact in tool results that the model no longer sees and that left nothing in their place: cleared in the server's copy or its
 * cache, or by an earlier version. The summariser gets it after its prompt, so the bytes before stay the ones in the cache. Empty where
 * every result is in view, or where nothing in those that are not is exact.
 */
function clearedExtract({ views: { context, estimator }, limit }: ExtractInput): string {
  const lost = lostResults(context)
  if (lost.length === 0 || limit <= 0) return ""
  const share = Math.min(MOST_SHARE, Math.max(LEAST_SHARE, Math.floor(limit / lost.length)))
  const lines: string[] = []
  let left = limit
  for (const { call, address, text } of lost.toReversed()) {
    const name = `${handleFor(address)} ${inline(call.name)}${aboutOf(call)}: `
    const estimate = (piece: string) => estimator.text(piece)
    const telling = tellingIn({ text, room: share, estimate })
    if (telling === "") continue
    left -= estimate(`${name}${telling}\n`)
    if (left < 0) break
    lines.unshift(`${name}${telling}`)
  }
  return lines.length === 0 ? "" : fenced(lines.join("\n"))
}

/** In the order of their calls. */
function lostResults(context: Views["context"]) {
  const calls = new Map<string, ToolUse>()
  const lost: { readonly call: ToolUse; readonly address: string; readonly text: string }[] = []
  for (const message of context.storedMessages()) {
    if (message.type !== "user" && message.type !== "assistant") continue
    for (const block of contentOf(message)) {
      if (isToolUse(block)) calls.set(block.id, block)
      if (!isToolResult(block) || !context.isLostToView(block.tool_use_id)) continue
      const [call, result] = [calls.get(block.tool_use_id), context.originalResult(block.tool_use_id)]
      const address = context.resultAddress(block.tool_use_id)
      if (call && result && address) lost.push({ call, address, text: previewedText(result) })
    }
  }
  return lost
}

function aboutOf({ input }: ToolUse): string {
  const fields = input as Readonly<Record<string, unknown>> | null
  const found = TELLING_FIELDS.map((field) => fields?.[field]).find((value) => typeof value === "string")
  return typeof found === "string" ? ` ${inline(found.slice(0, LONGEST_INPUT).trim())}` : ""
}
