/** What a compaction would do, row by row, as screens and pages show it. */
import type { CompactionPlan, CompactionRoute } from "@strata/core"
import { counted, dollars, grouped } from "@strata/core/base"
import { routeWords } from "./compaction.ts"

/** Routes that ask a model, and so cost money. */
export const ROUTES_WITH_MODEL: ReadonlySet<string> = new Set<CompactionRoute>(["server", "shared", "direct"])

/** What a compaction would do. */
export function planRows(plan: CompactionPlan): readonly (readonly [label: string, words: string])[] {
  const { summarised, kept, fixed, summary, restored, added, tokensBefore, expectedAfter, isWorthIt, routes } = plan
  const facts = restored.length === 0 ? [] : [`facts and files, about ${grouped(added)} tokens:`, ...restored]
  return [
    ["summarise", `${counted(summarised.messages, "message")}, about ${grouped(summarised.tokens)} tokens`],
    ["keep as is", keptWords(kept)],
    ...(kept.shortenedTo === undefined
      ? []
      : [["", `long results in them are shortened: then about ${grouped(kept.shortenedTo)} tokens`] as const]),
    ["prompt and tools", `about ${grouped(fixed)} tokens, unchanged`],
    ["then add", `a summary, about ${grouped(summary.tokens)} tokens`],
    ...facts.map((line) => ["", line] as const),
    [
      "tokens",
      `${grouped(tokensBefore)} now, about ${grouped(expectedAfter)} afterwards${isWorthIt ? "" : "; too little gain, so Strata would probably refuse"}`,
    ],
    ["cost", costWords(plan)],
    ["routes, in order", routes.length === 0 ? "none: no summary is possible" : routes.map(routeWords).join("; ")],
  ]
}

function keptWords({ uuids, tokens }: CompactionPlan["kept"]): string {
  if (uuids.length === 0) return "no messages; the journal still has everything"
  return `${counted(uuids.length, "message")}, about ${grouped(tokens)} tokens`
}

function costWords({ dollars: price, routes: [first] }: CompactionPlan): string {
  if (price !== undefined) return `about ${dollars(price)} for the summary`
  return first !== undefined && ROUTES_WITH_MODEL.has(first)
    ? "unknown: no price for this model"
    : "nothing: no model is asked"
}
