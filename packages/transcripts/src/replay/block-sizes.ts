/**
 * The size of each block of a recording, in tokens of the recorded model. The API's count for a request is exact, so the estimates of its
 * new blocks are scaled until they add up to its growth. Sent unchanged, every request has its recorded size.
 * No block is scaled below half or above double its estimate. Any surplus was sent but not recorded (reminders, instructions) and stays
 * with the first new block. Any deficit was left out by the server and is subtracted from the prompt.
 * Estimates are corrected by the usual scale of the recording: a policy's own texts are counted by the same tokenizer as everything else.
 */
import type { Block } from "@strata/core"
import { type FlatMessage, isToolResult } from "@strata/core/messages"
import type { TokenizerFamily } from "@strata/core/tokens"
import { createEstimator, type Estimator } from "@strata/core/tokens"

const SCALE = { min: 0.5, max: 2 } // the same range as the calibration
const LARGEST_PROMPT = 70_000 // tokens of system prompt and tools; recorded ones have up to 62,000, and more is history that the file lacks
const WHOLE_ANSWER = 0.5 // a recorded output below this share of its estimate was recorded before the response was complete

/** Correction of a block's estimate, and unrecorded tokens that are attributed to it. */
interface SizeCorrection {
  readonly scale: number
  readonly extra: number
}

export class BlockSizes {
  /** Not calibrated, because a size must not depend on when it is measured. */
  readonly #estimator: Estimator
  readonly #known = new WeakMap<Block, SizeCorrection>()
  /** Corrections by call id: a result displayed differently is another block of the same call. */
  readonly #results = new Map<string, SizeCorrection>()
  /** Corrections by content: a rebuilt view renders attachments as new blocks with the same text. */
  readonly #others = new Map<string, SizeCorrection>()
  readonly #sizes = new WeakMap<Block, number>()

  readonly #usualScale: number

  /** `usualScale` is the average correction of estimates in this recording. */
  constructor(family: TokenizerFamily, usualScale = 1) {
    this.#estimator = createEstimator(family)
    this.#usualScale = usualScale
  }

  estimate(block: Block): number {
    return this.#estimator.block(block) * this.#usualScale
  }

  /** Tokens of a block in its current form. */
  of(block: Block): number {
    const found = this.#sizes.get(block)
    if (found !== undefined) return found
    const { scale, extra } = this.#find(block) ?? { scale: 1, extra: 0 }
    const size = Math.round(this.estimate(block) * scale + extra)
    this.#sizes.set(block, size)
    return size
  }

  isKnown(block: Block): boolean {
    return this.#find(block) !== undefined
  }

  learn(block: Block, known: SizeCorrection): void {
    this.#known.set(block, known)
    if (isToolResult(block)) this.#results.set(block.tool_use_id, known)
    else this.#others.set(contentKey(block), known)
    this.#sizes.delete(block)
  }

  #find(block: Block): SizeCorrection | undefined {
    const own = this.#known.get(block)
    if (own) return own
    return isToolResult(block) ? this.#results.get(block.tool_use_id) : this.#others.get(contentKey(block))
  }
}

const KEY_CHARACTERS = 200 // together with the length, enough to identify an attachment

function contentKey(block: Block): string {
  const text = block.type === "text" ? block.text : JSON.stringify(block)
  return `${block.type} ${text.length} ${text.slice(0, KEY_CHARACTERS)}`
}

export interface CountedRequest {
  readonly messages: readonly FlatMessage[]
  /** Input tokens as the API counted them. */
  readonly input: number
  /** Recorded output tokens of the response before this request. */
  readonly lastOutput: number | undefined
  /** Whether it is the first request, or the first after a compaction. */
  readonly opensContext?: boolean
}

/** Processes the requests of a recording in order and learns the sizes of new blocks in each. */
export class SizeCalibration {
  readonly #sizes: BlockSizes
  readonly #sums = new WeakMap<FlatMessage, number>()
  /** Tokens of the system prompt, tools and other unrecorded content before the messages, in a new context. */
  #prompt: number | undefined
  /** The same for the last request, reduced by content removed from its messages. Can be negative. */
  #rest: number | undefined
  #estimated = 0
  #scaled = 0

  constructor(sizes: BlockSizes) {
    this.#sizes = sizes
  }

  /**
   * The average factor by which estimates of texts and results must be multiplied. Excludes the first request of a context, whose prompt is
   * unknown, and requests with more or less content than was recorded.
   */
  get usualScale(): number {
    return this.#estimated === 0 ? 1 : this.#scaled / this.#estimated
  }

  /** Returns the tokens of the prompt in this request. */
  take({ messages, input, lastOutput, opensContext = false }: CountedRequest): number {
    const fresh = messages
      .filter((message) => !this.#sums.has(message))
      .flatMap(({ role, content }) =>
        content.filter((block) => !this.#sizes.isKnown(block)).map((block) => ({ role, block })),
      )
    const estimates = fresh.map(({ block }) => this.#sizes.estimate(block))
    const estimated = sum(estimates)
    this.#prompt ??= Math.min(LARGEST_PROMPT, Math.max(0, Math.round(input - estimated)))
    const rest = opensContext ? this.#prompt : (this.#rest ?? this.#prompt)
    const growth = input - rest - this.#sizeOf(messages, new Set(fresh.map(({ block }) => block)))
    const answers = fresh.map(({ role }) => role === "assistant")
    const scales = scalesFor({ estimates, answers, growth, lastOutput })
    const scaled = Math.round(sum(estimates.map((tokens, i) => tokens * scales[i]!)))
    if (!opensContext && Math.abs(growth - scaled) <= 1)
      estimates.forEach((tokens, i) => {
        if (answers[i]) return
        this.#estimated += tokens
        this.#scaled += tokens * scales[i]!
      })
    const unrecorded = Math.max(0, growth - scaled)
    fresh.forEach(({ block }, i) => {
      this.#sizes.learn(block, { scale: scales[i]!, extra: i === 0 ? unrecorded : 0 })
    })
    this.#rest = Math.round(input - this.#sizeOf(messages))
    return Math.max(0, this.#rest)
  }

  #sizeOf(messages: readonly FlatMessage[], without: ReadonlySet<Block> = new Set()): number {
    return sum(messages.map((message) => this.#sumOf(message, without)))
  }

  /** Completed messages stay the same object, so each is summed once. */
  #sumOf(message: FlatMessage, without: ReadonlySet<Block>): number {
    const known = this.#sums.get(message)
    if (known !== undefined) return known
    const rest = message.content.filter((block) => !without.has(block))
    const tokens = sum(rest.map((block) => this.#sizes.of(block)))
    if (without.size === 0) this.#sums.set(message, tokens)
    return tokens
  }
}

interface ContextGrowthInput {
  readonly estimates: readonly number[]
  /** Whether each estimate belongs to the response. */
  readonly answers: readonly boolean[]
  readonly growth: number
  readonly lastOutput: number | undefined
}

/** Scales the response to its recorded output if that is complete. The other new blocks share the remaining growth. */
function scalesFor({ estimates, answers, growth, lastOutput = 0 }: ContextGrowthInput): readonly number[] {
  const answer = sum(estimates.filter((_, i) => answers[i]))
  const rest = sum(estimates) - answer
  if (answer === 0 || !isCompleteOutput(lastOutput, answer) || lastOutput > growth) {
    const scale = clamped(growth / (answer + rest))
    return estimates.map(() => scale)
  }
  const ofAnswer = clamped(lastOutput / answer)
  const ofRest = clamped((growth - answer * ofAnswer) / rest)
  return answers.map((isAnswer) => (isAnswer ? ofAnswer : ofRest))
}

/** Whether a recorded output covers the complete response. Some programs record the count from its start. */
export const isCompleteOutput = (output: number, estimated: number): boolean => output >= estimated * WHOLE_ANSWER

const clamped = (scale: number) => (Number.isFinite(scale) ? Math.min(SCALE.max, Math.max(SCALE.min, scale)) : 1)

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
