/**
 * Cuts a recorded conversation at its API responses. A window between two responses has the added messages and their tokens as
 * counted by the API. If the recording cannot show the size of a window, the window has the reason.
 */
import {
  type AssistantMessage,
  type Block,
  contentOf,
  findModel,
  isFromUser,
  isToolResult,
  isToolUse,
  type Message,
  type Usage,
} from "@strata/core"
import { renderAttachment } from "../../packages/core/src/messages/attachment-texts.ts"
import { isThinking, resultBlocks } from "../../packages/core/src/messages/blocks.ts"
import { isBoundary, isSentToModel } from "../../packages/core/src/messages/messages.ts"
import { createEstimator } from "../../packages/core/src/tokens/estimate.ts"

export interface UsageWindow {
  readonly model: string
  /** The API's count for the request, which is the true size of the context. */
  readonly context: number
  /** The previous count, including the response if its true size is recorded. 0 at a start and after a boundary. */
  readonly anchor: number
  /** The last response's share of the anchor. 0 if its true size is not recorded. */
  readonly answer: number
  /** Blocks added since the anchor. */
  readonly blocks: readonly Block[]
  readonly excluded?: Exclusion
}

export type Exclusion =
  | "first: nothing to compare with"
  | "model changed"
  | "context shrank"
  | "interrupted: what was kept is not recorded"
  | "attachment: what was sent is not recorded"
  | "tools loaded: their definitions are not recorded"
  | "thinking: its size is not recorded"
  | "thinking of earlier turns was dropped"

/** The blocks sent since the previous response, and the response. */
interface Exchange {
  readonly sent: readonly Block[]
  readonly isFirst: boolean
  readonly hasAttachment: boolean
  readonly hasNewTurn: boolean
  readonly response: Response
}

/** One or more assistant messages with the same API id. */
interface Response {
  readonly id: string | undefined
  readonly model: string
  readonly input: number
  readonly output: number
  readonly blocks: readonly Block[]
}

/**
 * Share below which output is unfinished: old Claude Code versions recorded the usage at the start of a response, with only a few output
 * tokens.
 */
const UNFINISHED_SHARE = 0.6

export function usageWindows(messages: readonly Message[]): UsageWindow[] {
  let thoughtThisTurn = false
  return exchangesOf(messages).map((exchange, index, all) => {
    const { model, input: context } = exchange.response
    const before = all[index - 1]?.response
    if (exchange.isFirst || !before) {
      return { model, context, anchor: 0, answer: 0, blocks: exchange.sent, excluded: "first: nothing to compare with" }
    }
    thoughtThisTurn ||= before.blocks.some(isThinking)
    const answer = isFinished(before) ? before.output : 0
    const anchor = before.input + answer
    const blocks = answer > 0 ? exchange.sent : [...before.blocks, ...exchange.sent]
    const excluded = exclusionOf({ exchange, before, thoughtThisTurn, grown: context - anchor })
    if (exchange.hasNewTurn) thoughtThisTurn = false
    return { model, context, anchor, answer, blocks, ...(excluded && { excluded }) }
  })
}

/** Responses whose content and true size are both recorded. */
export function finishedAnswers(messages: readonly Message[]): Response[] {
  const responses = exchangesOf(messages).map(({ response }) => response)
  return responses.filter((response) => isFinished(response) && !response.blocks.some(isThinking))
}

function exclusionOf(window: {
  readonly exchange: Exchange
  readonly before: Response
  readonly thoughtThisTurn: boolean
  readonly grown: number
}): Exclusion | undefined {
  const { exchange, before, thoughtThisTurn, grown } = window
  const { model } = exchange.response
  if (before.model !== model) return "model changed"
  if (!isFinished(before) && before.blocks.some(isThinking)) return "thinking: its size is not recorded"
  if (exchange.hasNewTurn && thoughtThisTurn && !findModel(model).facts.accepts.earlierThinking) {
    return "thinking of earlier turns was dropped"
  }
  if (grown <= 0) return "context shrank"
  if (!isAnswered(before, exchange.sent)) return "interrupted: what was kept is not recorded"
  if (exchange.hasAttachment) return "attachment: what was sent is not recorded"
  if (exchange.sent.some(loadsTools)) return "tools loaded: their definitions are not recorded"
  return undefined
}

function exchangesOf(messages: readonly Message[]): Exchange[] {
  const exchanges: Exchange[] = []
  const nothing = () => ({ sent: [] as Block[], isFirst: false, hasAttachment: false, hasNewTurn: false })
  let next = { ...nothing(), isFirst: true }
  for (const message of messages) {
    if (isBoundary(message)) next = { ...nothing(), isFirst: true }
    if (!isSentToModel(message)) continue
    if (message.type === "user") {
      next.sent.push(...contentOf(message))
      next.hasNewTurn ||= isFromUser(message)
    } else if (message.type === "attachment") {
      next.sent.push(...renderAttachment(message.attachment))
      next.hasAttachment = true
    } else if (message.type === "assistant") {
      const last = exchanges.at(-1)
      const part = responseOf(message)
      if (!part) next.sent.push(...contentOf(message))
      else if (last && part.id !== undefined && part.id === last.response.id) {
        exchanges[exchanges.length - 1] = { ...last, response: joined(last.response, part) }
      } else {
        exchanges.push({ ...next, response: part })
        next = nothing()
      }
    }
  }
  return exchanges
}

function responseOf(message: AssistantMessage): Response | undefined {
  const { id, model, usage } = message.message
  if (!usage || inputOf(usage) === 0 || model === undefined) return undefined
  return { id, model, input: inputOf(usage), output: usage.output_tokens, blocks: contentOf(message) }
}

function joined(response: Response, part: Response): Response {
  const output = Math.max(response.output, part.output)
  return { ...response, output, blocks: [...response.blocks, ...part.blocks] }
}

function inputOf({ input_tokens, cache_creation_input_tokens, cache_read_input_tokens }: Usage): number {
  return input_tokens + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0)
}

function isFinished({ model, output, blocks }: Response): boolean {
  return output > UNFINISHED_SHARE * createEstimator(findModel(model).facts.family).blocks(blocks)
}

function isAnswered(response: Response, sent: readonly Block[]): boolean {
  const answered = new Set(sent.filter(isToolResult).map(({ tool_use_id }) => tool_use_id))
  return response.blocks.filter(isToolUse).every(({ id }) => answered.has(id))
}

const loadsTools = (block: Block) =>
  isToolResult(block) && resultBlocks(block).some(({ type }) => (type as string) === "tool_reference")
