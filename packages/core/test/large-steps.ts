/**
 * Random conversations that fill a window: the steps of `steps.ts` with content enlarged to a share of the window. Each turn works like a
 * loop: prepare, then record with a roughly correct usage.
 */
import fc from "fast-check"
import { ContextFullError, EmptyConversationError } from "../src/base/errors.ts"
import type { Conversation } from "../src/conversation/conversation.ts"
import type { Block } from "../src/messages/blocks.ts"
import { toBlocks } from "../src/messages/blocks.ts"
import type { ModelRequest } from "../src/messages/request.ts"
import { createEstimator } from "../src/tokens/estimate.ts"
import { findModel } from "../src/tokens/models.ts"
import { conversations, type Player, play, type Step } from "./steps.ts"
import { SUMMARISER, SUMMARY_FAULTS, type SummaryFault } from "./summariser.ts"

export interface LargeConversation {
  readonly window: number
  readonly steps: readonly Step[]
  /** Percentages of the window that contents are enlarged to, used in turn and repeatedly. */
  readonly shares: readonly number[]
  /** The API's count divided by Strata's estimate. */
  readonly truth: number
  readonly faults: readonly (SummaryFault | undefined)[]
  /** How many of the newest messages the notes do not cover. Undefined: there are no notes. */
  readonly notes: number | undefined
}

const STEPS_PER_REWIND = 4
const TOKENS_PER_FILLING = 2 // tokens of "many words "

export const largeConversations: fc.Arbitrary<LargeConversation> = fc.record({
  // large windows are rare: they show the same and take long
  window: fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom(8_000, 16_000, 32_000) },
    { weight: 9, arbitrary: fc.constant(64_000) },
    { weight: 3, arbitrary: fc.constant(200_000) },
    { weight: 1, arbitrary: fc.constant(1_000_000) },
  ),
  steps: fc.tuple(conversations, conversations, conversations).map((parts) => withoutMostRewinds(parts.flat())),
  shares: fc.array(fc.oneof(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 0, max: 38 })), {
    minLength: 3,
    maxLength: 6,
  }),
  truth: fc.double({ min: 0.9, max: 1.15, noNaN: true }),
  faults: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.array(
        fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, fc.constantFrom<SummaryFault>(...SUMMARY_FAULTS)),
        { maxLength: 12 },
      ),
    },
    // a summariser that saves little: the next compaction is needed at once
    { weight: 1, arbitrary: fc.constant(Array<SummaryFault>(30).fill("nearly-as-long")) },
  ),
  notes: fc.option(fc.nat(8), { nil: undefined }),
})

/** With too many rewinds a window would never fill. */
function withoutMostRewinds(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ kind }, at) => kind !== "rewind" || at % STEPS_PER_REWIND === 0)
}

/** Runs one step. Resolves with the request if it prepared one, or with the error that prevented it. */
export async function playLarge(
  chat: Conversation,
  step: Step,
  { player, conversation, at }: { player: Player; conversation: LargeConversation; at: number },
): Promise<ModelRequest | ContextFullError | undefined> {
  const filled = blownUp(step, conversation, at)
  if (filled.kind !== "respond" && filled.kind !== "prepare") {
    await play(chat, filled, player)
    return undefined
  }
  const request = await tryPrepare(chat)
  if (filled.kind === "respond" && request !== undefined && !(request instanceof ContextFullError))
    await play(chat, { ...filled, usage: Math.round(sizeOf(request) * conversation.truth) }, player)
  return request
}

/** Only two errors are allowed: the context is full, or the conversation is empty after a rewind. */
async function tryPrepare(chat: Conversation): Promise<ModelRequest | ContextFullError | undefined> {
  try {
    return await chat.prepare()
  } catch (error) {
    if (error instanceof ContextFullError) return error
    if (error instanceof EmptyConversationError) return undefined
    throw error
  }
}

const { blocks: tokensOf, text: tokensOfText } = createEstimator(findModel(SUMMARISER).facts.family)
const measured = new WeakMap<object, number>()

/** The size according to an estimator without calibration. */
export function sizeOf({ system, tools, messages }: ModelRequest): number {
  const sizes = messages
    .flatMap(({ content }) => toBlocks(content))
    .map((block) => {
      const tokens = measured.get(block) ?? tokensOf([block])
      measured.set(block, tokens)
      return tokens
    })
  return sizes.reduce((sum, tokens) => sum + tokens, tokensOfText(JSON.stringify([system, tools])))
}

function blownUp(step: Step, { window, shares }: LargeConversation, at: number): Step {
  const filling = "many words ".repeat(Math.floor((window * shares[at % shares.length]!) / 100 / TOKENS_PER_FILLING))
  const fill = (content: string | Block[]) => (typeof content === "string" ? `${content} ${filling}` : content)
  if (step.kind === "user" && at > 0) return { ...step, content: fill(step.content) }
  if (step.kind !== "results") return step
  const [first, ...rest] = step.which
  return { ...step, which: first ? [{ ...first, content: fill(first.content) }, ...rest] : [] }
}
