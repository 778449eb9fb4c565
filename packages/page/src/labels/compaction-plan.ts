/** Describes a compaction plan row by row, for screens and pages. */
import type { CompactionPlan } from "@strata/core"
import { formatDollars, formatNumber, pluralize } from "@strata/core/base"
import type { CompactionRoute } from "@strata/core/policy"
import { attachmentName } from "./attachments.ts"
import { routeLabel } from "./compaction.ts"

/** Routes that ask a model and therefore cost money. */
export const ROUTES_WITH_MODEL: ReadonlySet<string> = new Set<CompactionRoute>(["server", "shared", "direct"])

/** Rows that describe a compaction plan. */
export function planRows(plan: CompactionPlan): readonly (readonly [label: string, words: string])[] {
  const { summarised, kept, fixed, summary, restored, added, tokensBefore, isWorthIt, routes } = plan
  const facts =
    restored.length === 0
      ? []
      : [`facts and files, about ${formatNumber(added)} tokens:`, ...restored.map(restoredLabel)]
  return [
    ["summarise", `${pluralize(summarised.messages, "message")}, about ${formatNumber(summarised.tokens)} tokens`],
    ["keep as is", describeTail(kept)],
    ...(kept.shortenedTo === undefined
      ? []
      : [["", `long results in them are shortened: then about ${formatNumber(kept.shortenedTo)} tokens`] as const]),
    ["prompt and tools", `about ${formatNumber(fixed)} tokens, unchanged`],
    ["then add", `a summary, ${summary.is === "written" ? "" : "about "}${formatNumber(summary.tokens)} tokens`],
    ...facts.map((line) => ["", line] as const),
    [
      "tokens",
      `${formatNumber(tokensBefore)} now, ${describeSizeAfter(plan)}${isWorthIt ? "" : "; too little gain, so Strata would probably refuse"}`,
    ],
    ["cost", describeCost(plan)],
    ["routes, in order", routes.length === 0 ? "none: no summary is possible" : routes.map(routeLabel).join("; ")],
  ]
}

/** `file: src/a.ts` and `carried facts` of a plan, with the labels of attachments. */
function restoredLabel(title: string): string {
  const [kind = "", ...subject] = title.split(": ")
  return [attachmentName(kind.replaceAll(" ", "_")), ...subject].join(": ")
}

function describeTail({ uuids, tokens }: CompactionPlan["kept"]): string {
  if (uuids.length === 0) return "no messages; the journal still has everything"
  return `${pluralize(uuids.length, "message")}, about ${formatNumber(tokens)} tokens`
}

function describeSizeAfter({ summary, expectedAfter, between, routes: [first] }: CompactionPlan): string {
  const after = `${formatNumber(expectedAfter)} afterwards`
  if (summary.is === "expected") {
    const judged =
      summary.earlier === 0 ? "usual summaries" : pluralize(summary.earlier, "earlier summary", "earlier summaries")
    return `about ${after} (${between.map(formatNumber).join(" to ")}, judging by ${judged})`
  }
  const why = { notes: "the notes are the summary", offline: "the summary is quoted from the conversation" }
  return `${after}, known exactly: ${first === "notes" || first === "offline" ? why[first] : "the summary is written"}`
}

function describeCost({ dollars: price, routes: [first] }: CompactionPlan): string {
  if (price !== undefined) return `about ${formatDollars(price)} for the summary`
  return first !== undefined && ROUTES_WITH_MODEL.has(first)
    ? "unknown: no price for this model"
    : "nothing: no model is asked"
}
