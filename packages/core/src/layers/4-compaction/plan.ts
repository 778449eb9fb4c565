/** The plan of a compaction: what would be summarised, what would be kept, what it would cost. A dry run prints it. Making it changes nothing. */

import { NO_TOKENS } from "../../base/token-counts.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { wholeTokens } from "../../tokens/context-size.ts"
import { costOf } from "../../tokens/price.ts"
import type { CompactionPlan, RouteName } from "../compaction-order.ts"
import { askAndCheck, checkFor, FIRST, isWanting } from "./check/check.ts"
import type { Cut } from "./cut.ts"
import { type Carried, carried, roomForSummary, tokensIn } from "./restore/carried.ts"
import type { Situation } from "./situation.ts"
import { WORDS_PER_TOKEN } from "./summarise/direct.ts"
import type { Route, RouteInput } from "./summarise/route.ts"
import { recordOf } from "./summarise/shared.ts"
import { weigh } from "./weigh.ts"

/** Routes that cost nothing: the plan takes their real summary. */
const FREE: ReadonlySet<string> = new Set<RouteName>(["notes", "offline"])
const LEAST_SHARE = 1 / 4 // of what is asked for: a first summary by the simulator had 0.3 to 0.9 of it, a recorded one 0.6 and more
const FRAME = 250 // tokens of the text around a summary, and of what the check adds

interface OpenRoute {
  readonly route: Route | undefined
  readonly cut: Cut
  readonly after: Carried
  /** Absent where the summary is written. */
  readonly expected?: ReturnType<typeof expectedSummary>
}

export async function planOf(situation: Situation, routes: readonly Route[]): Promise<CompactionPlan> {
  const { context, order } = situation
  const quiet = { ...situation, context: { ...context, progress: () => undefined } }
  const open: RouteName[] = []
  let first: OpenRoute | undefined
  for (const route of routes) {
    if (open.length === 0) first = await opened(quiet, route)
    const isOpen = open.length > 0 ? await route.cut(inputFor(quiet)) : first
    if (isOpen) open.push(route.name)
  }
  first ??= await unwritten(quiet, { route: undefined, cut: situation.cut })
  const { route, cut, after, expected } = first
  const figures = figuresOf(situation, first)
  const dollars = expected && priceOf(route, situation, first)
  const { least = after.summary, most = after.summary } = expected ?? {}
  const withSummary = (tokens: number) => figures.expectedAfter + Math.round(tokens) - after.summary
  return {
    trigger: order.trigger,
    kind: cut.kind,
    routes: open,
    summarised: {
      messages: cut.summarised.length,
      tokens: figures.summarised,
      first: cut.summarised[0]!.uuid,
      last: cut.summarised.at(-1)!.uuid,
    },
    kept: {
      uuids: cut.kept.map(({ uuid }) => uuid),
      tokens: figures.kept,
      ...(figures.keptAfter < figures.kept ? { shortenedTo: figures.keptAfter } : {}),
    },
    fixed: figures.fixed,
    restored: after.attachments.map(titleOf),
    added: figures.added,
    summary: {
      tokens: after.summary,
      ...(expected ? { is: "expected", earlier: expected.earlier } : { is: "written" }),
    },
    ...(order.written ? { written: order.written } : {}),
    tokensBefore: context.size.tokens,
    expectedAfter: figures.expectedAfter,
    between: [withSummary(least), withSummary(most)],
    isWorthIt: after.tokens <= context.size.tokens * (1 - situation.figures.progress),
    ...(dollars === undefined ? {} : { dollars }),
  }
}

/**
 * Sizes that add up before and after, none of them negative. Their meter follows the API's count of the whole; what rounding leaves goes to
 * what is summarised.
 */
function figuresOf({ context, cutInput }: Situation, { cut, after }: Pick<OpenRoute, "cut" | "after">) {
  const { size, views } = context
  const fixed = Math.min(size.tokens, Math.ceil(views.context.promptTokens))
  const kept = Math.min(size.tokens - fixed, Math.ceil(tokensIn(cut.kept, { cutInput })))
  const keptAfter = Math.min(kept, Math.ceil(after.kept))
  const added = Math.max(0, wholeTokens(after.tokens) - keptAfter - fixed - after.summary)
  const expectedAfter = fixed + keptAfter + added + after.summary
  return { expectedAfter, kept, keptAfter, added, fixed, summarised: size.tokens - fixed - kept }
}

/** A route as it would be taken: one whose summary is at hand and does not do is passed over, as it will be then. */
async function opened(situation: Situation, route: Route): Promise<OpenRoute | undefined> {
  const input = inputFor(situation)
  const cut = await route.cut(input)
  if (!cut) return undefined
  if (!FREE.has(route.name) && !situation.order.written) return unwritten(situation, { route, cut })
  const { outcome } = await askAndCheck(situation, {
    ...{ route, instructions: [], asking: FIRST, check: checkFor(situation) },
    ask: () => route.summarise(input),
  })
  if (outcome.kind !== "summary" || (isWanting(outcome) && !situation.order.written)) return undefined
  const weighed = await weigh(situation, { route, outcome })
  return weighed.kind === "weighed" ? { route, cut: weighed.cut, after: weighed.after } : undefined
}

const inputFor = (situation: Situation): RouteInput => ({
  ...situation,
  instructions: [],
  onProgress: () => undefined,
})

async function unwritten(situation: Situation, { route, cut }: Pick<OpenRoute, "route" | "cut">): Promise<OpenRoute> {
  const expected = expectedSummary(situation, cut)
  // a whole number: the view rounds once, so a second rounding would make the plan differ by a token
  const after = await carried({ situation, cut, summary: Math.ceil(expected.tokens) })
  return { route, cut, after, expected }
}

/** Tokens of the summary that a model will write: as many as its last two here had, which it takes in. The first has what is asked for. */
function expectedSummary(situation: Situation, cut: Cut) {
  const { compactions, estimator } = situation.context.views
  const most = situation.figures.summary + FRAME
  const written = compactions.summaries.filter(({ route }) => !FREE.has(route))
  const sizes = written.map(({ measure }) => Math.min(most, estimator.tokens(measure)))
  const { words = Number.POSITIVE_INFINITY } = recordOf({ ...situation, cut })
  const asked = Math.min(roomForSummary(situation, cut), words / WORDS_PER_TOKEN)
  const last = sizes.at(-1)
  if (last === undefined) return { tokens: asked, least: asked * LEAST_SHARE, most, earlier: 0 }
  const wider = 1 + 1 / sizes.length // a recorded second one had 0.86 to 1.19 of the first, a quoted one up to 1.7
  const [least, largest] = [Math.min(...sizes) / wider, Math.max(...sizes) * wider]
  return { tokens: (last + (sizes.at(-2) ?? last)) / 2, least, most: Math.min(most, largest), earlier: sizes.length }
}

/** A fork and the API itself read from the cache; a call of its own sends its messages uncached. */
function priceOf(
  route: Route | undefined,
  situation: Situation,
  { cut, after }: Pick<OpenRoute, "cut" | "after">,
): number | undefined {
  if (!route || FREE.has(route.name)) return undefined
  const { context, cutInput } = situation
  const own = route.reads?.({ ...inputFor(situation), cut })
  const part = Math.ceil(cut.summarised.reduce((sum, each) => sum + cutInput.tokensOf(each), 0))
  const read = route.name === "server" ? context.views.context.promptTokens + part : context.size.tokens
  const input = own ? { input: Math.ceil(own.tokens) } : { cacheRead: read }
  const cost = costOf(own?.facts ?? context.facts, { ...NO_TOKENS, ...input, output: after.summary })
  return cost.known ? cost.dollars : undefined
}

function titleOf(attachment: Attachment): string {
  const about = "path" in attachment ? attachment.path : "name" in attachment ? attachment.name : ""
  return [attachment.type.replaceAll("_", " "), about].filter(Boolean).join(": ")
}
