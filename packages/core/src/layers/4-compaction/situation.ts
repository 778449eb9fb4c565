/** What a compaction finds: the messages since the last boundary, where they would be cut, and whether there is any use in it. */
import type { Message } from "../../messages/messages.ts"
import { sentBlocks } from "../../messages/sent-blocks.ts"
import type { Thresholds } from "../../tokens/window.ts"
import type { CompactionOrder, CompactionRefusal } from "../compaction-order.ts"
import type { Turn } from "../layer.ts"
import { type Cut, type CutQuestion, cutAll, cutRange, openFrom, type TokensOf } from "./cut.ts"
import { type CompactionFigures, compactionFigures } from "./figures.ts"

export interface Situation {
  readonly turn: Turn
  readonly order: CompactionOrder
  readonly figures: CompactionFigures
  /** The limits to fit. */
  readonly limits: Thresholds
  readonly cutQuestion: CutQuestion
  readonly cut: Cut
}

export interface Refused {
  readonly refused: CompactionRefusal
  /** For a person: what happened, what was kept, what to do. */
  readonly message: string
}

const NEW_CONTENT_SHARE = 0.1 // of the window: less has not come in since the last compaction (L4-27)

export async function assess(turn: Turn, order: CompactionOrder): Promise<Situation | Refused> {
  const limits = order.target ?? turn.thresholds
  const figures = await compactionFigures({ flags: turn.flags, thresholds: limits })
  const tokensOf: TokensOf = (message) => turn.views.estimator.blocks(sentBlocks(message))
  const messages = turn.views.context.storedMessages().filter(isPartOfIt)
  const cutQuestion = { messages, tokensOf, figures: figures.keep }
  const cut = order.range ? cutRange(messages, order.range) : cutAll(cutQuestion)
  const situation = { turn, order, figures, limits, cutQuestion, cut: cut! }
  return refusalOf(situation, cut) ?? situation
}

function refusalOf({ turn, order, figures, limits }: Situation, cut: Cut | undefined): Refused | undefined {
  const { compactions, context } = turn.views
  const allowed = order.trigger === "manual" || order.target ? turn.compaction.manual : turn.compaction.auto
  if (!allowed) return refused("switched-off", "Compacting is switched off in the settings. Nothing was changed.")
  const isAutomatic = order.trigger === "auto" && !order.target
  if (isAutomatic && context.promptTokens >= limits.autoCompact)
    return refused(
      "out-of-reach",
      `System prompt, tools and instructions alone take about ${context.promptTokens} tokens, and compacting begins at ${limits.autoCompact}: no compaction can help. Use fewer tools or shorter instructions, or a model with a larger window.`,
    )
  if (cut === undefined)
    return refused("no-such-message", "There is no such message since the last boundary. Nothing was changed.")
  if (cut.kind === "from" && openFrom(cut.summarised) < cut.summarised.length)
    return refused(
      "calls-open",
      "A tool is still at work, and its result would be lost. Nothing was changed. Try again when it has ended.",
    )
  if (!cut.summarised.some(({ type }) => type === "assistant"))
    return refused("nothing-to-summarise", "There is no answer yet that could be summarised. Nothing was changed.")
  if (!isAutomatic) return undefined
  if (compactions.failures >= figures.failures)
    return refused(
      "stopped-after-failures",
      `Automatic compaction has stopped after ${compactions.failures} failures in a row. Everything is kept. Use /compact to try by hand; a success starts it again.`,
    )
  const since = turn.size.tokens - (compactions.last?.tokensAfter ?? Number.NEGATIVE_INFINITY)
  if (!order.overflowed && since < limits.window * NEW_CONTENT_SHARE)
    return refused(
      "too-soon",
      `Only about ${Math.max(0, since)} tokens have come in since the last compaction, and what it left is nearly as much as fits. Nothing was changed. Go back to an earlier message, or use a model with a larger window.`,
    )
  return undefined
}

const refused = (why: CompactionRefusal, message: string): Refused => ({ refused: why, message })

/** What can be sent, or says something about it; a boundary is no part of what it bounds. */
const isPartOfIt = ({ type }: Message) => type === "user" || type === "assistant" || type === "attachment"
