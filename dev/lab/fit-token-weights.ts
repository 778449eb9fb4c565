/**
 * Fits the token weights of the estimator's automaton to the o200k tokenizer, for every content class. Prints the rows of
 * `packages/core/src/tokens/content-class.ts` and the error on held-out texts.
 *
 *     node dev/lab/fit-token-weights.ts <folder with texts>...
 *
 * Texts are cut into samples of several lines and finds the non-negative weights whose sums are closest to the tokenizer's counts. Hashes,
 * base64, tables and logs are generated, because recordings have too few of them.
 */

import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { CONTENT_CLASSES, forEachSegment, STATES } from "../../packages/core/src/tokens/content-class.ts"
import { type CorpusText, corpusFrom, inventedTexts } from "./corpus.ts"
import { nonNegativeLeastSquares } from "./least-squares.ts"

const PIECE_CHARACTERS = 1_200
const TOKENIZER_SLICE = 2_048 // encoders are quadratic on long runs
const HELD_OUT_EVERY = 5
const USUAL_LETTER = 0.1 // weights that the texts do not determine stay near these values
const USUAL_OTHER = 0.4
const ENDLESS = /^(lineEnd2|space3|tab2|capitals|letter10|quote2|bracket2|stop2|slash2|rule3|sign2|alphabet4|symbol2)$/
const MIN_IN_ENDLESS_RUN = 0.01 // any long run costs tokens, even in a class without examples
const PULL = 100 // number of squared visits that a prior is worth

const minWeight = (state: string) => (ENDLESS.test(state) ? MIN_IN_ENDLESS_RUN : 0)

interface Sample {
  readonly source: string
  readonly visits: Float64Array
  readonly characters: number
  readonly tokens: number
}

const pieces = [...corpusFrom(process.argv.slice(2)), ...inventedTexts()].flatMap(cutIntoPieces)
const training = pieces.filter((_, index) => index % HELD_OUT_EVERY !== 0)
const heldOut = pieces.filter((_, index) => index % HELD_OUT_EVERY === 0)

const usual = STATES.map((state) => (/^letter\d/.test(state) ? USUAL_LETTER : USUAL_OTHER))
const pooled = fit(training, { columns: STATES.length, prior: usual, columnOf: (index) => index % STATES.length })
const weights = fit(training, {
  columns: STATES.length * CONTENT_CLASSES.length,
  prior: CONTENT_CLASSES.flatMap(() => [...pooled]),
  columnOf: (index) => index,
}).map((weight, index) => Math.max(minWeight(STATES[index % STATES.length]!), Math.round(weight * 100) / 100))

printRows()
printErrors()

function cutIntoPieces({ source, text }: CorpusText): Sample[] {
  const found: Sample[] = []
  let piece = ""
  const close = () => {
    for (let at = 0; at < piece.length; at += TOKENIZER_SLICE) {
      found.push(measurePiece(source, piece.slice(at, at + TOKENIZER_SLICE)))
    }
    piece = ""
  }
  for (const line of text.split(/(?<=\n)/)) {
    piece += line
    if (piece.length > PIECE_CHARACTERS) close()
  }
  close()
  return found
}

function measurePiece(source: string, text: string): Sample {
  const visits = new Float64Array(STATES.length * CONTENT_CLASSES.length)
  forEachSegment(text, (contentClass, ofSegment) => {
    const offset = CONTENT_CLASSES.indexOf(contentClass) * STATES.length
    for (let state = 0; state < ofSegment.length; state++) visits[offset + state]! += ofSegment[state]!
  })
  return { source, visits, characters: text.length, tokens: encode(text, { disallowedSpecial: new Set() }).length }
}

interface FitOptions {
  readonly columns: number
  readonly prior: readonly number[]
  readonly columnOf: (index: number) => number
}

/** Weighs errors by the square root of the sample size, so that neither short nor long samples dominate. */
function fit(from: readonly Sample[], { columns, prior, columnOf }: FitOptions): Float64Array {
  const rows = from.map(({ visits, tokens }) => {
    const scale = 1 / Math.sqrt(Math.max(tokens, 20))
    const row = new Map<number, number>()
    visits.forEach((count, index) => {
      if (count > 0) row.set(columnOf(index), (row.get(columnOf(index)) ?? 0) + count * scale)
    })
    return { row, target: tokens * scale }
  })
  return nonNegativeLeastSquares({ rows, columns, prior, pull: prior.map(() => PULL) })
}

function estimate({ visits }: Sample): number {
  return visits.reduce((sum, count, index) => sum + count * weights[index]!, 0)
}

function printRows(): void {
  console.log(`// ${CONTENT_CLASSES.join(", ")}`)
  STATES.forEach((state, index) => {
    const row = CONTENT_CLASSES.map((_, classIndex) => weights[classIndex * STATES.length + index])
    console.log(`  ${state}: [${row.join(", ")}],`)
  })
}

function printErrors(): void {
  const percent = (part: number) => `${(100 * part).toFixed(1)}%`
  const rows = Map.groupBy(
    [...heldOut.map((piece) => ({ ...piece, source: "all" })), ...heldOut],
    ({ source }) => source,
  )
  console.table(
    [...rows].map(([source, group]) => {
      const errors = group.map((piece) => Math.abs(estimate(piece) / piece.tokens - 1)).sort((a, b) => a - b)
      const tokens = group.reduce((sum, piece) => sum + piece.tokens, 0)
      return {
        source,
        pieces: group.length,
        bias: percent(group.reduce((sum, piece) => sum + estimate(piece), 0) / tokens - 1),
        median: percent(errors[Math.floor(errors.length / 2)]!),
        p95: percent(errors[Math.floor(errors.length * 0.95)]!),
        "characters/4": percent(group.reduce((sum, piece) => sum + piece.characters / 4, 0) / tokens - 1),
      }
    }),
  )
}
