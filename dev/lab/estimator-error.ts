/**
 * Measures the error of the token estimates on recorded conversations, before and after the estimator has learned from three responses.
 * Prints a table for each question, and the reasons for omitted windows.
 *
 *     node dev/lab/estimator-error.ts [folder with recordings]
 *
 * As in real use, the estimator sees each window's true size only after its estimate. Both columns of a table cover the same windows: those
 * after the third.
 */
import { findModel } from "@strata/core"
import { createEstimator, type Estimator, type Measure } from "../../packages/core/src/tokens/estimate.ts"
import { type RecordedConversation, recordedConversations } from "./recordings.ts"
import { type UsageWindow, usageWindows } from "./usage-windows.ts"

const TURNS_TO_LEARN = 3
const LARGE_TAIL = 500

const QUESTIONS = {
  context: "The size of the context: the last count of the API, plus an estimate of everything since",
  tail: "Only the part since the last count",
  largeTail: `Only the part since the last count, if it has ${LARGE_TAIL} tokens or more`,
  whole:
    "The whole context: the API's count of the first request (system prompt and tools are not recorded) and of the answers, with everything else estimated",
}
type Question = keyof typeof QUESTIONS

/** Relative errors of one estimator, by question. */
type Errors = Record<Question, number[]>

interface Trial {
  readonly conversation: RecordedConversation
  readonly windows: readonly UsageWindow[]
  readonly uncalibrated: Errors
  readonly calibrated: Errors
}

function runTrial(conversation: RecordedConversation): Trial {
  const { family } = findModel(conversation.model).facts
  const learning = createEstimator(family)
  const plain = createEstimator(family)
  const windows = usageWindows(conversation.messages)
  const trial = { conversation, windows, uncalibrated: noErrors(), calibrated: noErrors() }
  const whole = new WholeContext(learning)
  let lessons = 0
  for (const window of windows) {
    const measure = learning.measure(window.blocks)
    whole.add(window, measure)
    if (window.excluded) continue
    if (lessons >= TURNS_TO_LEARN) {
      record(trial.uncalibrated, { window, measure, whole, estimator: plain })
      record(trial.calibrated, { window, measure, whole, estimator: learning })
    }
    learning.learn({ measure, actual: window.context - window.anchor })
    lessons++
  }
  return trial
}

interface Estimated {
  readonly window: UsageWindow
  readonly measure: Measure
  readonly whole: WholeContext
  readonly estimator: Estimator
}

function record(errors: Errors, { window: { context, anchor }, measure, whole, estimator }: Estimated): void {
  const actual = context - anchor
  const tail = estimator.tokens(measure)
  errors.context.push((anchor + tail) / context - 1)
  errors.tail.push(tail / actual - 1)
  if (actual >= LARGE_TAIL) errors.largeTail.push(tail / actual - 1)
  errors.whole.push(whole.estimate(estimator) / context - 1)
}

/** Content of all blocks sent since the last boundary. The size of unrecorded content comes from the API's count. */
class WholeContext {
  readonly #measurer: Estimator
  #measured: Measure
  #counted = 0

  constructor(measurer: Estimator) {
    this.#measurer = measurer
    this.#measured = measurer.measure([])
  }

  add({ context, anchor, answer, excluded }: UsageWindow, measure: Measure): void {
    if (anchor === 0) {
      this.#counted = context
      this.#measured = this.#measurer.measure([])
    } else if (excluded) {
      this.#counted += context - anchor + answer
    } else {
      this.#counted += answer
      this.#measured = this.#measurer.sum([this.#measured, measure])
    }
  }

  estimate(estimator: Estimator): number {
    return this.#counted + estimator.tokens(this.#measured)
  }
}

function noErrors(): Errors {
  return { context: [], tail: [], largeTail: [], whole: [] }
}

function printTable(question: Question, trials: readonly Trial[]): void {
  const rows = trials.filter(({ calibrated }) => calibrated[question].length > 0)
  const all = { uncalibrated: noErrors(), calibrated: noErrors() }
  for (const { uncalibrated, calibrated } of rows) {
    all.uncalibrated[question].push(...uncalibrated[question])
    all.calibrated[question].push(...calibrated[question])
  }
  console.log(`\n${QUESTIONS[question]}`)
  console.table([
    ...rows.map((trial) => ({
      recording: trial.conversation.name,
      family: findModel(trial.conversation.model).facts.family,
      requests: trial.windows.length,
      ...errorColumns(trial, question),
    })),
    { recording: "all", ...errorColumns(all, question) },
  ])
}

function errorColumns({ uncalibrated, calibrated }: Pick<Trial, "uncalibrated" | "calibrated">, question: Question) {
  return {
    compared: calibrated[question].length,
    uncalibrated: inWords(uncalibrated[question]),
    "after three turns": inWords(calibrated[question]),
  }
}

/** Of relative errors: 0.1 is ten per cent of the actual size, and one below 0 was too low. */
function inWords(errors: readonly number[]): string {
  const sizes = errors.map(Math.abs).sort((a, b) => a - b)
  const at = (quantile: number) => sizes[Math.max(0, Math.ceil(sizes.length * quantile) - 1)] ?? 0
  const percent = (share: number) => `${(100 * share).toFixed(share < 0.1 ? 2 : 0)}%`
  const low = Math.max(0, ...errors.map((error) => -error))
  return `median ${percent(at(0.5))}, p95 ${percent(at(0.95))}, too low by ${percent(low)}`
}

function printExclusions(trials: readonly Trial[]): void {
  const reasons = trials.flatMap(({ windows }) => windows.flatMap(({ excluded }) => excluded ?? []))
  const counts = Map.groupBy(reasons, (reason) => reason)
  console.log("\nRequests left out")
  console.table([...counts].map(([reason, { length }]) => ({ reason, requests: length })))
}

const trials = recordedConversations(process.argv[2])
  .map(runTrial)
  .filter(({ windows }) => windows.length > 0)
for (const question of Object.keys(QUESTIONS) as Question[]) printTable(question, trials)
printExclusions(trials)
