/** What a compaction would do, row by row, as screens and pages show it. */
import type { CompactionPlan } from "@strata/core"
import { counted, dollars, grouped } from "@strata/core/base"
import type { CompactionRoute } from "@strata/core/policy"
import { routeWords } from "./compaction.ts"

/** Routes that ask a model, and so cost money. */
export const ROUTES_WITH_MODEL: ReadonlySet<string> = new Set<CompactionRoute>(["server", "shared", "direct"])

/** What a compaction would do. */
export function planRows(plan: CompactionPlan): readonly (readonly [label: string, words: string])[] {
  const { summarised, kept, fixed, summary, restored, added, tokensBefore, isWorthIt, routes } = plan
  const facts = restored.length === 0 ? [] : [`facts and files, about ${grouped(added)} tokens:`, ...restored]
  return [
    ["summarise", `${counted(summarised.messages, "message")}, about ${grouped(summarised.tokens)} tokens`],
    ["keep as is", keptWords(kept)],
    ...(kept.shortenedTo === undefined
      ? []
      : [["", `long results in them are shortened: then about ${grouped(kept.shortenedTo)} tokens`] as const]),
    ["prompt and tools", `about ${grouped(fixed)} tokens, unchanged`],
    ["then add", `a summary, ${summary.is === "written" ? "" : "about "}${grouped(summary.tokens)} tokens`],
    ...facts.map((line) => ["", line] as const),
    [
      "tokens",
      `${grouped(tokensBefore)} now, ${afterWords(plan)}${isWorthIt ? "" : "; too little gain, so Strata would probably refuse"}`,
    ],
    ["cost", costWords(plan)],
    ["routes, in order", routes.length === 0 ? "none: no summary is possible" : routes.map(routeWords).join("; ")],
  ]
}

function keptWords({ uuids, tokens }: CompactionPlan["kept"]): string {
  if (uuids.length === 0) return "no messages; the journal still has everything"
  return `${counted(uuids.length, "message")}, about ${grouped(tokens)} tokens`
}

function afterWords({ summary, expectedAfter, between, routes: [first] }: CompactionPlan): string {
  const after = `${grouped(expectedAfter)} afterwards`
  if (summary.is === "expected") {
    const judged =
      summary.earlier === 0 ? "usual summaries" : counted(summary.earlier, "earlier summary", "earlier summaries")
    return `about ${after} (${between.map(grouped).join(" to ")}, judging by ${judged})`
  }
  const why = { notes: "the notes are the summary", offline: "the summary is quoted from the conversation" }
  return `${after}, known exactly: ${first === "notes" || first === "offline" ? why[first] : "the summary is written"}`
}

function costWords({ dollars: price, routes: [first] }: CompactionPlan): string {
  if (price !== undefined) return `about ${dollars(price)} for the summary`
  return first !== undefined && ROUTES_WITH_MODEL.has(first)
    ? "unknown: no price for this model"
    : "nothing: no model is asked"
}
