/**
 * A fork of the conversation writes the summary. It sends the view unchanged and the prompt after it, so nearly all of its input is read
 * from the server's cache. Where that does not fit, the direct route takes over.
 */

import { type ForkOutcome, type ForkParent, runFork } from "../../../forks/fork.ts"
import { isToolUse, textOf } from "../../../messages/blocks.ts"
import type { Message } from "../../../messages/messages.ts"
import { sentBlocks } from "../../../messages/sent-blocks.ts"
import { PromptTooLongError } from "../../../model/errors.ts"
import { limitsFrom } from "../../../model/stream-limits.ts"
import type { CompactionOrder } from "../../compaction-order.ts"
import { positionOf } from "../../position.ts"
import { clearedExtract } from "../cleared-extract.ts"
import type { Cut } from "../cut.ts"
import { sourceOf } from "../install.ts"
import { summaryPrompt } from "../summarise/prompts.ts"
import { CUT_MESSAGE, isCutShort, readSummary } from "../summarise/summary-text.ts"
import type { Route, RouteInput, RouteOutcome } from "./route.ts"

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

export type PromptInput = Pick<RouteInput, "context" | "cut" | "figures" | "instructions">

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
      purpose: sourceOf(trigger),
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
