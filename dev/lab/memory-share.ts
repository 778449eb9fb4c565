/**
 * Measures the share of the cost that memory work takes, by the number of turns, at each entry: a custom loop with an owner, wrapped
 * clients, the proxy, an agent. Each case has its own owner and memory. A fact is planted in the first message of each conversation.
 *
 *     npm run memory-share -- [--entry "own loop,agent"] [--turns 1,2,3,5,10,30,100] [--row 20,100] [--json]
 *
 * `--row`: numbers of consecutive conversations of one turn.
 */
import { parseArgs } from "node:util"
import { measureShare, type ShareFigures, shareTable } from "./memory-share/measure.ts"
import { PROGRAMS } from "./memory-share/programs.ts"

const MAX_SHARE = 5 // percent: the default of background-share

const { values } = parseArgs({
  options: {
    entry: { type: "string", default: Object.keys(PROGRAMS).join(",") },
    turns: { type: "string", default: "1,2,3,5,10,30,100" },
    row: { type: "string", default: "20,100" },
    json: { type: "boolean", default: false },
  },
})
const numbers = (text: string): readonly number[] => text.split(",").filter(Boolean).map(Number)
const entries = values.entry.split(",")
if (
  ![...numbers(values.turns), ...numbers(values.row)].every((count) => Number.isInteger(count) && count > 0) ||
  entries.some((entry) => !PROGRAMS[entry])
) {
  console.error(
    `usage: npm run memory-share -- [--entry ${Object.keys(PROGRAMS).join(",")}] [--turns 1,2] [--row 20] [--json]`,
  )
  process.exit(2)
}
const all: ShareFigures[] = []
for (const entry of entries) {
  const cases = [
    ...numbers(values.turns).map((turns) => ({ entry, conversations: 1, turns })),
    ...numbers(values.row).map((conversations) => ({ entry, conversations, turns: 1 })),
  ]
  for (const one of cases) all.push(await measureShare(one))
}
console.log(values.json ? JSON.stringify(all, null, 2) : shareTable(all))
process.exitCode = all.some(({ share }) => share > MAX_SHARE) ? 1 : 0
