/** Recorded conversations as the content of a page. */

import {
  type CompactionRow,
  describeLostNames,
  describeNamesInView,
  formatCost,
  formatMissCost,
  formatRecordedCost,
  type Markup,
  type PageConversation,
  page,
  recordedTimeline,
  withShortNames,
} from "@strata/page"
import type { InspectionTotal, RecordedBoundary, Transcript } from "@strata/transcripts"
import { formatCompact, formatNumber, formatPercent, pluralize } from "../display/numbers.ts"
import { ESTIMATED_SIZES, PARTIAL } from "../replay/page.ts"
import type { Analysis } from "./analysis.ts"
import { describeTotal } from "./comparison.ts"

export interface InspectedTranscript {
  readonly transcript: Transcript
  readonly analysis: Analysis
}

export const inspectionPage = async (all: readonly InspectedTranscript[], total: InspectionTotal): Promise<Markup> =>
  page({
    title: all.length === 1 ? "Strata: a recorded conversation" : "Strata: recorded conversations",
    description: [
      "Where the context and the money went, as recorded. Money is recorded usage times the known prices.",
      ...(all.length === 1 ? [] : describeTotal(total)),
    ],
    conversations: withShortNames(await Promise.all(all.map(conversationOf))),
    ...(all.length === 1 ? {} : { total: totalFacts(total) }),
  })

async function conversationOf({ transcript, analysis }: InspectedTranscript): Promise<PageConversation> {
  const { file, format, model, title, time, growth, cache, messages, money } = analysis
  const course = await recordedTimeline(transcript)
  const isBilled = money.lines.length > 0
  return {
    name: file,
    facts: [format, model ?? "model unknown", pluralize(growth.sizes.length, "turn"), ...(time ? [daysOf(time)] : [])],
    remarks: [
      ...(title === undefined ? [] : [title]),
      ...(Object.keys(analysis.report.notUnderstood).length > 0 ? [PARTIAL] : []),
      ...(growth.source === "estimated" ? [ESTIMATED_SIZES] : []),
      ...(isBilled ? money.remarks : ["The transcript does not record what was billed."]),
    ],
    unit: course.unit,
    timelines: [
      {
        ...course,
        name: "as recorded",
        description: "",
        compactions: growth.boundaries.map(compactionOf),
        facts: [
          ["messages", formatNumber(messages)],
          ["cost", formatRecordedCost(money)],
          ["requests", formatNumber(cache.requests)],
          ["cached", cache.requests === 0 ? "-" : formatPercent(cache.hitRatio, 1)],
          ["cache lost", timesLost(cache.broken)],
          ["paid again", paidAgain(cache.broken)],
          ["peak tokens", formatCompact(Math.max(0, ...growth.sizes))],
          ["compacted", formatNumber(growth.boundaries.length)],
        ],
      },
    ],
  }
}

/** Values of the total row. */
function totalFacts({ messages, requests, hitRatio, broken, boundaries, money }: InspectionTotal) {
  return {
    messages: formatNumber(messages),
    cost: formatCost(money),
    requests: formatNumber(requests),
    cached: formatPercent(hitRatio, 1),
    "cache lost": timesLost(broken),
    "paid again": paidAgain(broken),
    compacted: formatNumber(boundaries),
  }
}

const compactionOf = ({ turn, before, after, estimated = 0, needed }: RecordedBoundary): CompactionRow => ({
  turn,
  size: `${formatCompact(before)} to ${after === undefined ? `about ${formatCompact(estimated)}` : formatCompact(after)}`,
  kept: describeNamesInView(needed),
  lost: describeLostNames(needed),
})

type CacheMissTotals = Analysis["cache"]["broken"]

const timesLost = ({ breaks }: CacheMissTotals): string => (breaks === 0 ? "never" : pluralize(breaks, "time"))

const paidAgain = (broken: CacheMissTotals): string =>
  broken.breaks === 0 ? "-" : `${formatCompact(broken.rewrittenTokens)} tokens, ${formatMissCost(broken)}`

function daysOf({ from, to }: NonNullable<Analysis["time"]>): string {
  const [first, last] = [from.slice(0, 10), to.slice(0, 10)]
  return first === last ? first : `${first} to ${last}`
}
