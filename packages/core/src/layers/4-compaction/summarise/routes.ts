/** Step 3, summarize. The available routes, in the order in which they are tried: the cheapest first. */
import { isThinking } from "../../../messages/blocks.ts"
import { type SignedBlock, sentBlocks } from "../../../messages/messages.ts"
import type { ModelRequest, RequestExtras } from "../../../messages/request.ts"
import { InvalidModelRequestError, PromptTooLongError } from "../../../model/errors.ts"
import type { ModelResponse } from "../../../model/model.ts"
import { streamLimits } from "../../../model/stream.ts"
import { SIGNED_SUMMARIES } from "../../../views/context/request.ts"
import { cacheState } from "../../2-microcompact/clearable-content.ts"
import { type CompactionRoute, type PlannedSummary, ROUTES } from "../../layer.ts"
import { type CompactionContext, purposeOf } from "../compaction-context.ts"
import { type Cut, cutAll, isEndOf, tailOf } from "../cut.ts"
import type { CompactionOptions, CompactionTiming } from "../options.ts"
import { roomForSummary, tokensIn } from "../restore/post-compaction-context.ts"
import { direct } from "./direct.ts"
import { CUT_MESSAGE, isCutShort, readSummary } from "./prompts.ts"
import { fromNotes, type Route, type RouteInput, type RouteResult } from "./route.ts"
import { type ForkDependencies, promptFor, shared } from "./shared.ts"

// Step 3, summarize. The model's API writes and signs the summary. It reads only the summarized messages, from its cache. The signed block
// is sent back unchanged, so thinking in the messages after it stays valid. Preserved messages stay complete, because the summary does not
// cover them.

const PROVIDER = "anthropic"
const MAX_INSTRUCTIONS = 16_384 // characters; the API refuses more
const WORTH_IT = 0.95 // of what a fork costs: a signed summary cannot be corrected, and only this model can read it
const RATIOS = { input: 1, cacheRead: 0.1, output: 5 } // where prices are unknown: how they are related on most models

export function server({ model }: Pick<ForkDependencies, "model">): Route {
  /** Set after a failure, so that the API is not asked again in this conversation. */
  let isRefused = false
  const closed = (input: RouteInput) =>
    isRefused || model.provider !== PROVIDER ? "the API does not sign summaries" : reasonClosed(input)
  return {
    name: "server",
    cut: async (input) => (closed(input) === undefined ? unshortenedCut(input) : undefined),
    async summarise(input) {
      const why = closed(input)
      if (why !== undefined) return { kind: "passed", message: why }
      const { context, order } = input
      const cut = unshortenedCut(input)
      const routeInput = { ...input, cut }
      try {
        const { signal, flags } = context
        const request = await requestFor(routeInput)
        const shared = request.messages.findLastIndex(({ role }) => role === "user") + 1
        const events = model.stream(request, {
          ...{ signal, limits: streamLimits(flags), purpose: purposeOf(order.trigger) },
          ...{ writesCache: false, sharedMessages: shared },
        })
        for await (const event of events) {
          if (event.type !== "response") continue
          const outcome = readResponse(event.response, { cut, model: context.facts.id })
          isRefused = outcome.kind === "failed" // it has cost as much as a summary
          return outcome
        }
        return failed("the answer ended early")
      } catch (error) {
        isRefused ||= error instanceof InvalidModelRequestError
        if (context.signal.aborted) return { ...failed("it was stopped"), reason: "aborted" }
        const reason = error instanceof PromptTooLongError ? "prompt_too_long" : "api_error"
        return { ...failed(error instanceof Error ? error.message : "the request failed"), reason }
      }
    },
  }
}

const failed = (message: string, responses: readonly ModelResponse[] = []) =>
  ({ kind: "failed", reason: "no_summary", message, responses }) as const satisfies RouteResult

/** Reason why the route does not apply here. */
function reasonClosed(input: RouteInput): string | undefined {
  const { context, order, cut } = input
  const { facts, thresholds, views, size } = context
  if (views.context.signedFor === undefined || facts.accepts.cacheEditing)
    return "the API of this model signs no summaries"
  if (cut.kind === "from") return "a signed summary comes first, and the messages before it stay"
  if (order.overflowed || size.tokens >= Math.min(thresholds.window, facts.window) - thresholds.maxOutput)
    return "the conversation and the summary do not fit into one request"
  // the request may not ask the server to clear again, so it would read results that its cache no longer has
  if (views.context.serverCopy.count !== undefined) return "the server has cleared results in its own copy"
  if (cacheState(context).state === "cold") return "the server's cache is gone"
  if (!isEndOf(unshortenedCut(input), input.cutInput)) return "something between the newest messages is summarised too"
  return promptFor(input).length > MAX_INSTRUCTIONS ? "the instructions are too long for it" : undefined
}

/** The cut without shortening preserved results, because the summary does not cover them. */
function unshortenedCut({ order, cut, cutInput }: Pick<CompactionContext, "order" | "cut" | "cutInput">): Cut {
  const { newest, tokensOf } = cutInput
  if (order.range || !newest) return cut
  return { ...cutAll({ ...cutInput, newest: { ...newest, tokensOf } }), shortens: false }
}

async function requestFor({ context, cut, ...input }: RouteInput): Promise<ModelRequest> {
  const request = context.request()
  const messages = context.views.context.messagesBefore(tailOf(cut)[0]?.uuid)
  const { context_management: _, betas = [], ...rest } = (await request) as ModelRequest & RequestExtras
  const instructions = promptFor({ context, cut, ...input })
  return {
    ...rest,
    messages: messages as ModelRequest["messages"],
    compaction: { type: "summarize", instructions },
    betas: [...new Set([...betas, SIGNED_SUMMARIES])],
  } as ModelRequest
}

function readResponse(
  response: ModelResponse,
  { cut, model }: { readonly cut: Cut; readonly model: string },
): RouteResult {
  const responses = [response]
  const block = response.content.find((each) => (each as SignedBlock).type === "compaction") as SignedBlock | undefined
  if (!block) return failed(isCutShort(response.stop_reason) ? CUT_MESSAGE : "the API gave no summary", responses)
  // what cannot be read cannot be checked
  if (typeof block.content !== "string" || typeof block.signature !== "string")
    return failed("the API's summary cannot be read, so it cannot be checked", responses)
  const summary = readSummary(block.content)
  if (summary.kind === "none") return failed("the API gave no summary", responses)
  const { text } = summary
  return { kind: "summary", text, cut, responses, signed: { model, block, summaryText: text } }
}

/**
 * Whether a signed summary costs less than a fork. Both write a summary of the same length. A fork also reads the newest messages, and on
 * models that bind thinking, the thinking in them is lost and has to be repeated.
 */
export function costsLess(situation: CompactionContext): boolean {
  const { context } = situation
  const { facts, size, views } = context
  const { input, cacheRead, output } = facts.price ?? RATIOS
  const { summarised, preserved } = unshortenedCut(situation)
  const thinking = preserved.flatMap((message) =>
    message.type === "assistant" ? sentBlocks(message).filter(isThinking) : [],
  )
  const lost = facts.accepts.boundThinking ? views.estimator.blocks(thinking) : 0
  const instructions = input * USUAL_INSTRUCTIONS + output * roomForSummary(situation, situation.cut)
  const own = cacheRead * (views.context.promptTokens + tokensIn(summarised, situation)) + instructions
  const fork = cacheRead * size.tokens + output * lost + instructions
  return own < fork * WORTH_IT
}

const USUAL_INSTRUCTIONS = 1_500 // tokens of the prompt for a summary

const BY_HAND: readonly CompactionRoute[] = ["server", "shared", "direct", "offline"] // Routes of a manual compaction. The notes are used only on request.
/** Order with a cold cache: a fork would read everything at full price and not see cleared results; a direct call sees them. */
const COLD_ORDER: readonly CompactionRoute[] = ["notes", "direct", "server", "shared", "offline"]

type RoutesOptions = Pick<CompactionOptions, "notes" | "parent" | "summariser" | "offline"> & {
  readonly timing: CompactionTiming
}

export function routesOf({ notes, parent, summariser, offline, timing }: RoutesOptions) {
  const all = [
    notes && fromNotes({ source: notes, wait: timing.wait }),
    parent && server(parent),
    parent && shared(parent),
    parent && direct(summariser ?? parent.model),
    offline,
  ].filter((route): route is Route => route !== undefined)

  function routesFor(situation: CompactionContext): readonly Route[] {
    const { context, order } = situation
    const { trigger, routes: wanted, written: given } = order
    if (given) return [written(given)]
    const usual = trigger === "manual" ? BY_HAND : ROUTES
    const names = wanted ?? (costsLess(situation) ? usual : usual.filter((name) => name !== "server"))
    const open = all.filter(({ name }) => names.includes(name))
    const cache = cacheState(context)
    return cache.state === "cold" && cache.reason !== "no response yet" ? open.toSorted(forkLast) : open
  }

  return { all, routesFor }
}

const forkLast = (a: Route, b: Route): number => COLD_ORDER.indexOf(a.name) - COLD_ORDER.indexOf(b.name)

/** A route for a summary that a plan wrote and a user accepted. No model is asked again. */
const written = ({ text, route: name, last }: PlannedSummary): Route => ({
  name,
  cut: async (input) => (covers(input, last) ? input.cut : undefined),
  summarise: async (input) =>
    covers(input, last)
      ? { kind: "summary", text, cut: input.cut, responses: [] }
      : {
          kind: "failed",
          reason: "no_summary",
          message: "the conversation has changed since the summary was written",
          responses: [],
        },
})

const covers = ({ cut }: RouteInput, last: string): boolean => cut.summarised.at(-1)?.uuid === last
