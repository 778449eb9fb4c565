/** How a compaction reads on every screen: its progress and its plan. Pure. */
import type { CompactionPlan, CompactionProgress, CompactionRoute } from "@strata/core"
import { routeWords } from "@strata/page"
import { counted, dollars, grouped } from "./numbers.ts"
import { indented, wrapped } from "./text.ts"

/** Routes that ask a model, and so cost money. */
const ASKS_MODEL: ReadonlySet<string> = new Set<CompactionRoute>(["server", "shared", "direct"])

/** The current step, in a few words; `undefined` for other progress. */
export function stepWords(progress: CompactionProgress): string | undefined {
  switch (progress.phase) {
    case "preparing":
      return "reading the conversation"
    case "summarising": {
      const { route, characters = 0 } = progress
      if (route !== undefined && !ASKS_MODEL.has(route)) return `building a summary ${routeWords(route)}`
      return characters === 0
        ? "asking the model for a summary"
        : `writing a summary, ${grouped(characters)} characters`
    }
    case "restoring":
      return "reading files again"
    case "hook":
      return `running the hook on ${progress.event}`
    default:
      return undefined
  }
}

const LABEL_COLUMNS = 18

/** What a compaction would do: the output of `/compact --dry-run`. */
export function planLines(plan: CompactionPlan, width: number): readonly string[] {
  const { summarised, kept, fixed, summary, restored, added, tokensBefore, expectedAfter, isWorthIt, routes } = plan
  const facts = restored.length === 0 ? [] : [`facts and files, about ${grouped(added)} tokens:`, ...restored]
  const rows: readonly (readonly [label: string, text: string])[] = [
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
  return rows.flatMap(([label, text]) => {
    const [first = "", ...rest] = wrapped(text, width - LABEL_COLUMNS)
    return [`${label.padEnd(LABEL_COLUMNS)}${first}`, ...indented(rest, LABEL_COLUMNS)]
  })
}

function keptWords({ uuids, tokens }: CompactionPlan["kept"]): string {
  if (uuids.length === 0) return "no messages; the journal still has everything"
  return `${counted(uuids.length, "message")}, about ${grouped(tokens)} tokens`
}

function costWords({ dollars: price, routes: [first] }: CompactionPlan): string {
  if (price !== undefined) return `about ${dollars(price)} for the summary`
  return first !== undefined && ASKS_MODEL.has(first)
    ? "unknown: no price for this model"
    : "nothing: no model is asked"
}
