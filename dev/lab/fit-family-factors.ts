/**
 * Fits `FAMILY_FACTORS` to recorded API usage: tokens of a family per base token of each content class, and the framing of a text,
 * a call and a result. Prints its rows.
 *
 *     node dev/lab/fit-family-factors.ts [folder with recordings]
 *
 * There are two kinds of observation: what a window of new messages adds to the input, and the output of a response without
 * thinking. Errors count as absolute shares, not squared: some windows have unrecorded content, and the factors should fit the
 * typical window.
 */
import { type Block, findModel } from "@strata/core"
import { CONTENT_CLASSES } from "../../packages/core/src/tokens/content-class.ts"
import { measureBlocks } from "../../packages/core/src/tokens/estimate.ts"
import { nonNegativeLeastSquares } from "./least-squares.ts"
import { recordedConversations } from "./recordings.ts"
import { finishedAnswers, usageWindows } from "./usage-windows.ts"

const COLUMNS = [...CONTENT_CLASSES, "perText", "perCall", "perResult"]
const USUAL_FACTOR: Record<string, number> = { "claude-4": 1.2, "claude-5": 1.6, "gpt-5": 1 }
const CLASS_PULL = 3 // in windows: keeps rare classes near the family's usual factor
const FRAMING_PULL = 1e-6
const SMALLEST_TOKENS = 100 // below this size, errors count in tokens instead of shares
const MIN_MISS = 0.03
const ROUNDS = 25

interface Observed {
  readonly values: readonly number[]
  readonly actual: number
}

const observed = new Map<string, Observed[]>()
for (const { messages, model } of recordedConversations(process.argv[2])) {
  const { family } = findModel(model).facts
  const list = observed.get(family) ?? []
  observed.set(family, list)
  for (const { blocks, context, anchor, excluded } of usageWindows(messages)) {
    if (!excluded) list.push({ values: valuesOf(blocks), actual: context - anchor })
  }
  // the output of a GPT response includes reasoning, whose size is not in the messages
  const answers = family === "gpt-5" ? [] : finishedAnswers(messages)
  for (const { blocks, output } of answers) list.push({ values: valuesOf(blocks), actual: output })
}

console.table(
  [...observed]
    .filter(([family]) => family in USUAL_FACTOR)
    .map(([family, list]) => {
      const factors = fit(list, USUAL_FACTOR[family]!)
      const estimates = list.map(({ values }) =>
        values.reduce((sum, value, column) => sum + value * factors[column]!, 0),
      )
      const total = list.reduce((sum, { actual }) => sum + actual, 0)
      return {
        family,
        observations: list.length,
        ...Object.fromEntries(COLUMNS.map((name, column) => [name, Number(factors[column]!.toFixed(2))])),
        "sum of estimates / actual": Number((estimates.reduce((sum, tokens) => sum + tokens, 0) / total).toFixed(3)),
      }
    }),
)

function valuesOf(blocks: readonly Block[]): number[] {
  const { byClass, texts, calls, results } = measureBlocks(blocks)
  return [...CONTENT_CLASSES.map((name) => byClass[name]), texts, calls, results]
}

/** Fits by least absolute shares, with iteratively reweighted least squares. */
function fit(list: readonly Observed[], usual: number): Float64Array {
  const isFraming = (name: string) => name.startsWith("per")
  const prior = COLUMNS.map((name) => (isFraming(name) ? 10 : usual))
  const pull = COLUMNS.map((name) => (isFraming(name) ? FRAMING_PULL : CLASS_PULL))
  let factors = Float64Array.from(prior)
  for (let round = 0; round < ROUNDS; round++) {
    const rows = list.map(({ values, actual }) => {
      const scale = 1 / Math.max(actual, SMALLEST_TOKENS)
      const estimate = values.reduce((sum, value, column) => sum + value * factors[column]!, 0)
      const weight = scale * Math.sqrt(MIN_MISS / Math.max(MIN_MISS, Math.abs(estimate - actual) * scale))
      const row = new Map(values.flatMap((value, column) => (value === 0 ? [] : [[column, value * weight] as const])))
      return { row, target: actual * weight }
    })
    factors = Float64Array.from(nonNegativeLeastSquares({ rows, columns: COLUMNS.length, prior, pull }))
  }
  return factors
}
