/** How the server's cache served the conversation: reads, writes, where it was lost and why, and what the planner decided. */
import { counted, dollars, dollarsOrUnknown, grouped, percent, short } from "@strata/core/base"
import { ledgerReport, totalBreaks } from "@strata/core/views"
import { CAUSES, causeWords } from "../../labels/cache-breaks.ts"
import { decisionsIn } from "../../labels/decisions.ts"
import type { FollowedConversation } from "../../live/followed-conversation.ts"
import { html, type Markup } from "../markup.ts"
import { cards, empty, tableOf } from "./shell.ts"

const MAX_PLANNED = 40

export function cacheView(conversation: FollowedConversation): Markup {
  const { views } = conversation.fold
  const { tokens, cacheHitRatio, byPurpose, requests } = ledgerReport(views)
  if (requests === 0) return empty("No request yet.", "Figures come with the first answer.")
  const { breaks, totals } = views.cacheHistory
  const all = totalBreaks(views.cacheHistory)
  const warm = byPurpose.find(({ purpose }) => purpose === "keep-warm")
  const paid = (one: { breaks: number; dollars: number; unpriced: number }) =>
    one.unpriced === one.breaks ? "unknown" : `${dollars(one.dollars)}${one.unpriced > 0 ? "+" : ""}`
  return html`
${cards([
  { title: "read from cache", value: short(tokens.cacheRead), about: `${percent(cacheHitRatio, 1)} of all input` },
  { title: "written to cache", value: short(tokens.cacheWrite), about: "tokens" },
  { title: "uncached", value: short(tokens.input), about: "tokens" },
  {
    title: "lost",
    value: all.breaks === 0 ? "never" : counted(all.breaks, "time"),
    ...(all.breaks === 0 ? {} : { about: `${short(all.rewrittenTokens)} tokens paid again, ${paid(all)}` }),
  },
  ...(warm ? [{ title: "kept warm", value: counted(warm.requests, "time"), about: paidFor(warm.dollars) }] : []),
])}
${
  totals.size === 0
    ? empty("The cache was never lost.")
    : html`<h2>Why it was lost</h2>${tableOf(
        [...totals].toSorted(([, a], [, b]) => b.rewrittenTokens - a.rewrittenTokens),
        [
          { title: "because", cell: ([cause]) => CAUSES[cause], isText: true },
          { title: "times", cell: ([, total]) => grouped(total.breaks) },
          { title: "tokens paid again", cell: ([, total]) => short(total.rewrittenTokens) },
          { title: "cost", cell: ([, total]) => paid(total) },
        ],
        { caption: "Lost caches by cause", total: ["all", grouped(all.breaks), short(all.rewrittenTokens), paid(all)] },
      )}<h2>The largest losses</h2>${tableOf(
        breaks.toSorted((a, b) => b.rewrittenTokens - a.rewrittenTokens),
        [
          { title: "turn", cell: ({ turn }) => grouped(turn) },
          { title: "because", cell: causeWords, isText: true },
          { title: "tokens paid again", cell: ({ rewrittenTokens: paidAnew }) => short(paidAnew) },
          { title: "cost", cell: ({ dollars: cost }) => dollarsOrUnknown(cost) },
        ],
        { caption: "Largest first" },
      )}`
}
${plannerSection(conversation)}`
}

const paidFor = (paid: number | undefined) => (paid === undefined ? "price unknown" : dollars(paid))

/** What the planner decided, each with its sentence. */
function plannerSection({ rows }: FollowedConversation): Markup | undefined {
  const entries = rows.map((row) => (row.kind === "decision" ? row.decision : row.message))
  const planned = decisionsIn(entries).filter((one) => one.planned !== undefined)
  if (planned.length === 0) return undefined
  return html`<h2>What the planner decided</h2>${tableOf(
    planned.slice(-MAX_PLANNED),
    [
      { title: "turn", cell: ({ turn }) => grouped(turn) },
      { title: "what", cell: ({ what, about }) => `${what}: ${about}`, isText: true },
      { title: "why", cell: ({ planned: why = "" }) => why, isText: true },
    ],
    { caption: "Decisions of the planner" },
  )}`
}
