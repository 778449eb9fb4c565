/**
 * Token weights: base tokens for each state of the automaton in `content-class.ts`, and tokens of each family per base token.
 * All of it is measured; comments say where and what is not.
 */
import { CONTENT_CLASSES, type ContentClass, STATES, type State } from "./content-class.ts"
import type { TokenizerFamily } from "./model-facts.ts"

/**
 * Base tokens are tokens of o200k. `packages/lab/src/fit-token-weights.ts` fits them to about 20 MB of text: recorded
 * conversations; TypeScript, JavaScript, JSON and markdown of installed packages; "Rust by Example" in Chinese, Japanese and
 * Korean; vim's tutors and gettext catalogues in 150 languages; generated hashes, tables, logs and runs. On held-out samples
 * of about 1,300 characters the median error is 3.0%, the 95th percentile 12.0%, and the sum 0.5% too low (characters/4:
 * 10.6% too low). Columns: prose, code, json, script, dense, listing.
 */
const BASE_TOKENS: Readonly<Record<State, readonly [number, number, number, number, number, number]>> = {
  lineEnd: [1.69, 0.19, 0.83, 2.34, 1.09, 0.05],
  lineEnd2: [0.06, 0.06, 0.06, 0.06, 0.06, 0.06],
  space: [0, 0.47, 0.24, 0, 0.02, 0.21],
  space2: [0.22, 0.86, 0.55, 0.94, 0.62, 1.1],
  space3: [0.01, 0.01, 0.01, 0.01, 0.01, 0.01],
  tab: [0.49, 0.79, 0.77, 0.82, 0.8, 1.38],
  tab2: [0.06, 0.31, 0.36, 0.12, 0.06, 0.46],
  word: [0.65, 0.58, 0.82, 0.67, 0.61, 0.78],
  gluedWord: [0.83, 1.16, 0.8, 0.75, 0.93, 1.05],
  capital: [1.21, 1.18, 1.34, 1.07, 1.38, 1.21],
  gluedCapital: [1.12, 1.3, 1.13, 1.04, 0.97, 1.44],
  hump: [0.47, 0.94, 0.71, 0.66, 0.93, 0.69],
  capitals: [0.1, 0.01, 0.43, 0.08, 0.64, 0.14],
  accented: [1.31, 1.24, 1.54, 1.45, 1.45, 1.58],
  letter2: [0.23, 0, 0.18, 0.03, 0.46, 0.04],
  letter3: [0.13, 0.02, 0, 0, 0.18, 0],
  letter4: [0, 0, 0, 0, 0.16, 0],
  letter5: [0, 0, 0, 0, 0.09, 0],
  letter6: [0.03, 0, 0, 0, 0, 0.31],
  letter7: [0.05, 0, 0, 0, 0, 0],
  letter8: [0, 0.01, 0, 0, 0, 0],
  letter9: [0.3, 0.17, 0.26, 0.35, 0.33, 0.27],
  letter10: [0.13, 0.2, 0.05, 0.12, 0.1, 0.51],
  lineNumber: [0.9, 1.24, 0.79, 0.84, 0.82, 1.06],
  number: [2.56, 1.71, 2.29, 2.51, 2.33, 2.2],
  gluedNumber: [2.03, 2.05, 1.68, 2.15, 2.01, 2.08],
  digit2: [0, 0.14, 0, 0, 0, 0],
  digit3: [0.06, 0, 0, 0, 0, 0.19],
  digit4: [0.12, 0.32, 0.1, 0, 0.1, 0.38],
  digitAfterLetter: [0.96, 1.18, 1.32, 1.36, 1.17, 1.26],
  letterAfterDigit: [1.18, 1.13, 1.1, 1.14, 1.01, 0.94],
  quote: [1.12, 0.83, 0.8, 0.67, 0.91, 0.81],
  gluedQuote: [0.25, 0.16, 0.38, 0.3, 0.3, 0.32],
  quote2: [0.23, 0.01, 0.01, 0.16, 0.13, 0.1],
  bracket: [0.51, 0.48, 0.81, 0.59, 0.67, 0.71],
  gluedBracket: [0.45, 0.21, 0.29, 0.14, 0.4, 0.58],
  bracket2: [0.41, 0.35, 0.39, 0.41, 0.45, 0.13],
  stop: [0.11, 0.23, 0, 0, 0.05, 0],
  gluedStop: [0.27, 0.29, 0.35, 0.31, 0.03, 0.08],
  stop2: [0.02, 0.23, 0.02, 0.01, 0.01, 0.01],
  slash: [0.65, 0.57, 0.64, 0.42, 0.51, 0.44],
  gluedSlash: [0.32, 0.38, 0.42, 0.39, 0.54, 0.27],
  slash2: [0.01, 0.27, 0.17, 0.11, 0.22, 0.2],
  rule: [0.12, 0.56, 0.37, 0.52, 0.38, 0.43],
  gluedRule: [0.32, 0.22, 0.31, 0, 0, 0.07],
  rule2: [0.53, 0.25, 0.5, 0.7, 0.54, 0.5],
  rule3: [0.08, 0.02, 0.01, 0.05, 0.02, 0.09],
  sign: [1.57, 1.27, 1.16, 0.79, 1.28, 1.4],
  gluedSign: [1.33, 0.95, 0.48, 0.65, 0.57, 0.81],
  sign2: [0.21, 0.01, 0.23, 0.22, 0.25, 0.2],
  alphabet: [0.39, 0.39, 0.4, 0.36, 0.39, 0.42],
  alphabet2: [0.65, 0.65, 0.66, 0.71, 0.65, 0.68],
  alphabet3: [0.99, 0.99, 1, 0.96, 0.99, 1.02],
  alphabet4: [0.22, 0.2, 0.24, 0.09, 0.22, 0.4],
  han: [0.76, 0.75, 0.75, 0.73, 0.77, 0.89],
  kana: [0.71, 0.77, 0.73, 0.67, 0.7, 0.72],
  hangul: [0.72, 0.74, 0.75, 0.7, 0.74, 0.73],
  otherScript: [0.13, 0.34, 0.56, 0.49, 0.55, 0.59],
  symbol: [0.82, 1.25, 1, 0.84, 1.01, 0.91],
  symbol2: [0.08, 0.07, 0.07, 0.07, 0.01, 0.19],
  pictograph: [0.44, 0.46, 0.44, 0.44, 0.43, 0.44],
}

/** The columns: one list of weights per class. */
const weightsOf = Object.fromEntries(
  CONTENT_CLASSES.map((name, column) => [
    name,
    Float64Array.from(STATES, (state) => BASE_TOKENS[state][column] as number),
  ]),
) as Record<ContentClass, Float64Array>

export function baseTokens(contentClass: ContentClass, visits: Readonly<Float64Array>): number {
  const weights = weightsOf[contentClass]
  let sum = 0
  for (let state = 0; state < visits.length; state++) sum += (visits[state] as number) * (weights[state] as number)
  return sum
}

export type MeasuredFamily = Exclude<TokenizerFamily, "unknown">

export interface FamilyFactors {
  /** Tokens of the family per base token. */
  readonly perBaseToken: Readonly<Record<ContentClass, number>>
  /** The framing of a text, a call and a result: roles, names of fields, ids, markers. */
  readonly perText: number
  readonly perCall: number
  readonly perResult: number
  /** A margin on everything. The factors fit the typical window, and unusual windows are more often larger than smaller. */
  readonly pad: number
}

/**
 * `packages/lab/src/fit-family-factors.ts` fits these to API usage in 14 recorded conversations: 2,812 windows and responses of
 * Claude 4.x, 1,207 of Claude 5, 413 of GPT-5. Classes that are rare there have the family's usual factor: `script` in all
 * families, `dense` in Claude 4.x. The cost of a GPT call comes from responses without reasoning. With the pad, the sum of the
 * estimates is 1.5 to 2.5% above the actual figure in complete recordings.
 */
export const FAMILY_FACTORS: Readonly<Record<MeasuredFamily, FamilyFactors>> = {
  "claude-4": {
    perBaseToken: { prose: 1.19, code: 1.2, json: 1.26, script: 1.2, dense: 1.2, listing: 1.16 },
    perText: 2,
    perCall: 51,
    perResult: 12,
    pad: 1.03,
  },
  "claude-5": {
    perBaseToken: { prose: 1.54, code: 1.7, json: 1.59, script: 1.6, dense: 1.54, listing: 1.61 },
    perText: 0,
    perCall: 60,
    perResult: 4,
    pad: 1.02,
  },
  "gpt-5": {
    perBaseToken: { prose: 1, code: 1, json: 1, script: 1, dense: 1, listing: 1 },
    perText: 7,
    perCall: 16,
    perResult: 9,
    pad: 1.01,
  },
}
