/** Conversations as they were recorded, as the content of a page. */

import type { Transcript } from "@strata/core"
import { costWithUnit, type Markup, type PageConversation, page, withShortNames } from "@strata/page"
import { counted, dollars, grouped, percent, short } from "../display/numbers.ts"
import { ESTIMATED_SIZES, PARTIAL } from "../replay/page.ts"
import type { Analysis } from "./analysis.ts"
import { courseOnPage } from "./recorded-course.ts"

export interface Inspected {
  readonly transcript: Transcript
  readonly analysis: Analysis
}

export const inspectionPage = async (all: readonly Inspected[]): Promise<Markup> =>
  page({
    title: all.length === 1 ? "Strata: a recorded conversation" : "Strata: recorded conversations",
    about: ["Where the context and the money went, as recorded. Money is recorded usage times the known prices."],
    conversations: withShortNames(await Promise.all(all.map(conversationOf))),
  })

async function conversationOf({ transcript, analysis }: Inspected): Promise<PageConversation> {
  const { file, format, model, title, time, growth, cache, messages } = analysis
  const course = await courseOnPage(transcript)
  const paid = course.points.at(-1)?.cost
  return {
    name: file,
    facts: [format, model ?? "model unknown", counted(growth.sizes.length, "turn"), ...(time ? [daysOf(time)] : [])],
    remarks: [
      ...(title === undefined ? [] : [title]),
      ...(Object.keys(analysis.report.notUnderstood).length > 0 ? [PARTIAL] : []),
      ...(growth.source === "estimated" ? [ESTIMATED_SIZES] : []),
      ...(paid === undefined ? ["The transcript does not record what was billed."] : []),
    ],
    unit: course.unit,
    courses: [
      {
        ...course,
        name: "as recorded",
        about: "",
        facts: [
          ["messages", grouped(messages)],
          ["cost", paid === undefined ? "unknown" : costWithUnit(paid, course.unit)],
          ["requests", grouped(cache.requests)],
          ["cached", cache.requests === 0 ? "-" : percent(cache.hitRatio, 1)],
          ["cache lost", cache.broken.breaks === 0 ? "never" : counted(cache.broken.breaks, "time")],
          ["paid again", paidAgain(cache.broken)],
          ["peak tokens", short(Math.max(0, ...growth.sizes))],
          ["compacted", grouped(growth.boundaries.length)],
        ],
      },
    ],
  }
}

function paidAgain({ breaks, paidAnew, dollars: paid }: Analysis["cache"]["broken"]): string {
  return breaks === 0 ? "-" : `${short(paidAnew)} tokens, ${dollars(paid)}`
}

function daysOf({ from, to }: NonNullable<Analysis["time"]>): string {
  const [first, last] = [from.slice(0, 10), to.slice(0, 10)]
  return first === last ? first : `${first} to ${last}`
}
