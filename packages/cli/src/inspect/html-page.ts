/** Conversations as they were recorded, as the content of a page. */

import {
  type Compaction,
  courseOnPage,
  keptNames,
  lossWords,
  lostNames,
  type Markup,
  type PageConversation,
  page,
  recordedCostWords,
  spentWords,
  withShortNames,
} from "@strata/page"
import type { InspectionTotal, RecordedBoundary, Transcript } from "@strata/transcripts"
import { counted, grouped, percent, short } from "../display/numbers.ts"
import { ESTIMATED_SIZES, PARTIAL } from "../replay/page.ts"
import type { Analysis } from "./analysis.ts"
import { totalSentences } from "./comparison.ts"

export interface Inspected {
  readonly transcript: Transcript
  readonly analysis: Analysis
}

export const inspectionPage = async (all: readonly Inspected[], total: InspectionTotal): Promise<Markup> =>
  page({
    title: all.length === 1 ? "Strata: a recorded conversation" : "Strata: recorded conversations",
    about: [
      "Where the context and the money went, as recorded. Money is recorded usage times the known prices.",
      ...(all.length === 1 ? [] : totalSentences(total)),
    ],
    conversations: withShortNames(await Promise.all(all.map(conversationOf))),
    ...(all.length === 1 ? {} : { total: totalFacts(total) }),
  })

async function conversationOf({ transcript, analysis }: Inspected): Promise<PageConversation> {
  const { file, format, model, title, time, growth, cache, messages, money } = analysis
  const course = await courseOnPage(transcript)
  const isBilled = money.lines.length > 0
  return {
    name: file,
    facts: [format, model ?? "model unknown", counted(growth.sizes.length, "turn"), ...(time ? [daysOf(time)] : [])],
    remarks: [
      ...(title === undefined ? [] : [title]),
      ...(Object.keys(analysis.report.notUnderstood).length > 0 ? [PARTIAL] : []),
      ...(growth.source === "estimated" ? [ESTIMATED_SIZES] : []),
      ...(isBilled ? money.remarks : ["The transcript does not record what was billed."]),
    ],
    unit: course.unit,
    courses: [
      {
        ...course,
        name: "as recorded",
        about: "",
        compactions: growth.boundaries.map(compactionOf),
        facts: [
          ["messages", grouped(messages)],
          ["cost", recordedCostWords(money)],
          ["requests", grouped(cache.requests)],
          ["cached", cache.requests === 0 ? "-" : percent(cache.hitRatio, 1)],
          ["cache lost", timesLost(cache.broken)],
          ["paid again", paidAgain(cache.broken)],
          ["peak tokens", short(Math.max(0, ...growth.sizes))],
          ["compacted", grouped(growth.boundaries.length)],
        ],
      },
    ],
  }
}

/** The last row of the table. */
function totalFacts({ messages, requests, hitRatio, broken, boundaries, money }: InspectionTotal) {
  return {
    messages: grouped(messages),
    cost: spentWords(money),
    requests: grouped(requests),
    cached: percent(hitRatio, 1),
    "cache lost": timesLost(broken),
    "paid again": paidAgain(broken),
    compacted: grouped(boundaries),
  }
}

const compactionOf = ({ turn, before, after, estimated = 0, needed }: RecordedBoundary): Compaction => ({
  turn,
  size: `${short(before)} to ${after === undefined ? `about ${short(estimated)}` : short(after)}`,
  kept: keptNames(needed),
  lost: lostNames(needed),
})

type Broken = Analysis["cache"]["broken"]

const timesLost = ({ breaks }: Broken): string => (breaks === 0 ? "never" : counted(breaks, "time"))

const paidAgain = (broken: Broken): string =>
  broken.breaks === 0 ? "-" : `${short(broken.rewrittenTokens)} tokens, ${lossWords(broken)}`

function daysOf({ from, to }: NonNullable<Analysis["time"]>): string {
  const [first, last] = [from.slice(0, 10), to.slice(0, 10)]
  return first === last ? first : `${first} to ${last}`
}
