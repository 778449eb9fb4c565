/** A replay turn by turn: every request, what it read and wrote, what it cost, and what was done for it. */
import { requestCost } from "@strata/core/internal/replay/request-cost"
import { grouped, short } from "../display/numbers.ts"
import { more, titled } from "../display/section.ts"
import { table } from "../display/table.ts"
import { wrapped } from "../display/text.ts"
import { actionWords } from "./action-table.ts"
import { costIn, LOSS_WORDS, PURPOSE_WORDS, type ReplayPage } from "./page.ts"

const COLUMNS =
  "context: tokens of the request, of which cached were read from the cache and new were not. A line without a purpose is the conversation itself."

export function turns(page: ReplayPage, most: number): string[] {
  const { report, style, width } = page
  const { unit } = report.totals.saved
  const shown = report.requests.slice(0, most)
  const acts = Map.groupBy(report.actions, ({ turn }) => turn)
  const losses = new Map(report.losses.map((loss) => [loss.turn, loss]))
  return [
    ...titled(page, { title: "Turn by turn" }),
    ...table({
      width,
      titles: style.dim,
      columns: [
        { title: "turn", align: "right" },
        { title: "for" },
        { title: "context", align: "right" },
        { title: "cached", align: "right" },
        { title: "new", align: "right" },
        { title: "output", align: "right" },
        { title: unit === "dollars" ? "cost" : "cost tokens", align: "right" },
        { title: "what happened", gives: "wrap" },
      ],
      rows: shown.map((request) => {
        const { turn, purpose, context, counts } = request
        const isMain = purpose === "conversation"
        const loss = isMain ? losses.get(turn) : undefined
        const what = [
          ...(isMain ? (acts.get(turn) ?? []).map(actionWords) : []),
          ...(loss ? [loss.why === "compaction" ? "cache lost" : `cache lost: ${LOSS_WORDS[loss.why]}`] : []),
        ]
        return [
          grouped(turn),
          isMain ? "" : PURPOSE_WORDS[purpose],
          short(context),
          short(counts.cacheRead),
          short(counts.cacheWrite5m + counts.cacheWrite1h + counts.input),
          short(counts.output),
          costIn(requestCost(request, unit), unit),
          what.join("; "),
        ]
      }),
    }),
    ...wrapped(COLUMNS, width - 2).map((line) => style.dim(`  ${line}`)),
    ...more(report.requests.length - shown.length, "request"),
    ...(report.requests.length > shown.length ? ["  --json has all of them."] : []),
  ]
}
