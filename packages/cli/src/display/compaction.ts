/** How compactions read, wherever they are shown: what one does right now, what it did, what it would do. Pure. */
import { type CompactionPlan, type CompactionProgress, ROUTE_WORDS, type RouteName } from "@strata/core/agent"
import { indented, wrapped } from "./text.ts"
import { counted, dollars, grouped } from "./wording.ts"

export interface CompactionFigures {
  /** What is unknown, of one made long ago or by another program, is left out. */
  readonly tokensBefore?: number | undefined
  readonly tokensAfter?: number | undefined
  readonly route?: string | undefined
}

/** `Compacted: 167,000 to 54,000 tokens, from the notes.` */
export function compactedSentence({ tokensBefore, tokensAfter, route }: CompactionFigures): string {
  if (tokensAfter === undefined) return "Compacted."
  if (tokensBefore === undefined) return `Compacted to ${grouped(tokensAfter)} tokens.`
  const how = route === undefined ? "" : `, ${routeWords(route)}`
  return `Compacted: ${grouped(tokensBefore)} to ${grouped(tokensAfter)} tokens${how}.`
}

export const routeWords = (route: string): string => ROUTE_WORDS[route as RouteName] ?? `by ${route}`

/** Ways that ask a model, and so cost something. */
const ASKS_MODEL: ReadonlySet<string> = new Set<RouteName>(["shared", "direct"])

/** What is done right now, in a few words; nothing where the progress tells of no step. */
export function stepWords(progress: CompactionProgress): string | undefined {
  switch (progress.phase) {
    case "preparing":
      return "looking at the conversation"
    case "summarising": {
      const { route, characters = 0 } = progress
      if (route !== undefined && !ASKS_MODEL.has(route)) return `a summary ${routeWords(route)}`
      return characters === 0
        ? "asking the model for a summary"
        : `a summary is written, ${grouped(characters)} characters`
    }
    case "restoring":
      return "reading files again"
    default:
      return undefined
  }
}

const LABEL_COLUMNS = 17

/** What a compaction would do, for whoever wants to know before it is done. */
export function planLines(plan: CompactionPlan, width: number): readonly string[] {
  const { summarised, kept, restored, tokensBefore, expectedAfter, isWorthIt, routes } = plan
  const rows: readonly (readonly [label: string, text: string])[] = [
    [
      "would go",
      `${counted(summarised.messages, "message")}, about ${grouped(summarised.tokens)} tokens: told by a summary`,
    ],
    ["would stay", keptWords(kept)],
    ...restored.map((title, i) => [i === 0 ? "put behind it" : "", title] as const),
    [
      "tokens",
      `${grouped(tokensBefore)} now, about ${grouped(expectedAfter)} afterwards${isWorthIt ? "" : ": too little gain, so it would probably be refused"}`,
    ],
    ["money", moneyWords(plan)],
    ["ways, in order", routes.length === 0 ? "none: there is no way to a summary" : routes.map(routeWords).join("; ")],
  ]
  return rows.flatMap(([label, text]) => {
    const [first = "", ...rest] = wrapped(text, width - LABEL_COLUMNS)
    return [`${label.padEnd(LABEL_COLUMNS)}${first}`, ...indented(rest, LABEL_COLUMNS)]
  })
}

function keptWords({ uuids, tokens }: CompactionPlan["kept"]): string {
  if (uuids.length === 0) return "nothing word for word; everything stays in the journal"
  return `${counted(uuids.length, "message")}, about ${grouped(tokens)} tokens, word for word`
}

function moneyWords({ dollars: price, routes: [first] }: CompactionPlan): string {
  if (price !== undefined) return `about ${dollars(price)} for the summary`
  return first !== undefined && ASKS_MODEL.has(first) ? "unknown: no price" : "nothing: no model is asked"
}
