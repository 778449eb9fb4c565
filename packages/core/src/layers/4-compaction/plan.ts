/** The plan of a compaction: what would be summarised, what would be kept, what it would cost. A dry run prints it. Making it changes nothing. */

import { NO_TOKENS } from "../../base/token-counts.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { costOf } from "../../tokens/price.ts"
import type { CompactionPlan } from "../compaction-order.ts"
import { aftermath, type Surroundings } from "./aftermath.ts"
import type { Cut } from "./cut.ts"
import type { Route, RouteInput } from "./routes/route.ts"
import type { Situation } from "./situation.ts"

const USUAL_SUMMARY = 3_000 // tokens of a model's summary, judging by recorded ones
const LARGEST_SHARE = 0.3 // of what it summarises, where that is short

export async function planOf(
  situation: Situation,
  routes: readonly Route[],
  around: Surroundings,
): Promise<CompactionPlan> {
  const { context, order, cutInput } = situation
  const input: RouteInput = { ...situation, instructions: [], onProgress: () => undefined }
  const open: { readonly route: Route; readonly cut: Cut }[] = []
  for (const route of routes) {
    const cut = await route.cut(input)
    if (cut) open.push({ route, cut })
  }
  const { route, cut } = open[0] ?? { route: undefined, cut: situation.cut }
  const total = (messages: Cut["kept"]) => Math.ceil(messages.reduce((sum, each) => sum + cutInput.tokensOf(each), 0))
  const summary = Math.min(USUAL_SUMMARY, Math.ceil(total(cut.summarised) * LARGEST_SHARE))
  const { attachments, tokens } = await aftermath({ situation, cut, summary }, around)
  const dollars = priceOf(route, situation, cut)
  return {
    trigger: order.trigger,
    kind: cut.kind,
    routes: open.map((each) => each.route.name),
    summarised: {
      messages: cut.summarised.length,
      tokens: total(cut.summarised),
      first: cut.summarised[0]!.uuid,
      last: cut.summarised.at(-1)!.uuid,
    },
    kept: { uuids: cut.kept.map(({ uuid }) => uuid), tokens: total(cut.kept) },
    restored: attachments.map(titleOf),
    tokensBefore: context.size.tokens,
    expectedAfter: tokens,
    isWorthIt: tokens <= context.size.tokens * (1 - situation.figures.progress),
    ...(dollars === undefined ? {} : { dollars }),
  }
}

/** A shared call reads from the cache; a direct one sends its messages uncached. */
function priceOf(route: Route | undefined, { context, cutInput }: Situation, cut: Cut): number | undefined {
  if (route?.name !== "shared" && route?.name !== "direct") return undefined
  const part = Math.ceil(cut.summarised.reduce((sum, each) => sum + cutInput.tokensOf(each), 0))
  const input = route.name === "shared" ? { cacheRead: context.size.tokens } : { input: part }
  const cost = costOf(context.facts, { ...NO_TOKENS, ...input, output: USUAL_SUMMARY })
  return cost.known ? cost.dollars : undefined
}

function titleOf(attachment: Attachment): string {
  const about = "path" in attachment ? attachment.path : "name" in attachment ? attachment.name : ""
  return [attachment.type.replaceAll("_", " "), about].filter(Boolean).join(": ")
}
