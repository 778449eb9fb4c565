/**
 * Recall for clients: a tool that Strata adds and answers itself, invisible to the client. If a response calls only Recall, the next
 * response continues it. If it also calls a client's tool, the result is added to the client's next request.
 */

import type { ToolDefinition, ToolResult } from "@strata/core"
import { recallTool } from "@strata/core"
import { errorReason, randomIds } from "@strata/core/base"
import { isToolUse, type ToolUse, toBlocks } from "@strata/core/messages"
import type { RecallSource } from "@strata/core/recall"
import { RECALL_TOOL, runRecall } from "@strata/core/recall"
import type { ApiBody } from "./plan.ts"
import { withSourceOf } from "./source-text.ts"

/** Maximum number of consecutive responses in a turn that call only Recall. Then the model has to continue with what it has. */
const MAX_ROUNDS = 12
const MAX_ANSWERED_ROUNDS = 8

const { name, description, inputSchema } = recallTool()
const DEFINITION = { name, description, input_schema: inputSchema } as ToolDefinition

/**
 * Adds the tool before all others, where tools that the client adds later cannot move it. Clients without tools, or with a tool of this
 * name, get none.
 */
export function withRecall(body: ApiBody): ApiBody {
  const { tools } = body
  if (!Array.isArray(tools) || tools.length === 0) return body
  return tools.some((tool: { name?: unknown } | null) => tool?.name === RECALL_TOOL)
    ? body
    : withSourceOf(body, { ...body, tools: toolsWithRecall(tools) })
}

/** The same list for the same tools, so that what is computed from it need not be computed again. */
const extended = new WeakMap<readonly unknown[], readonly unknown[]>()

function toolsWithRecall(tools: readonly unknown[]): readonly unknown[] {
  const list = extended.get(tools) ?? [DEFINITION, ...tools]
  extended.set(tools, list)
  return list
}

export const hasRecall = ({ tools }: ApiBody): boolean => Array.isArray(tools) && tools[0] === DEFINITION

/** A response that called Recall, and the results. */
export interface RecallRound {
  readonly answer: ApiBody
  readonly results: readonly ToolResult[]
}

export const recallCalls = ({ content }: ApiBody): readonly ToolUse[] =>
  callsIn(content).filter((call) => call.name === RECALL_TOOL)

/**
 * Ids that only count, such as `call_1` or `functions.Recall:0`: one short number at the end. Other ids stay, because the server may track
 * its calls by them.
 */
const SHORT_NUMBERED_ID = /^(?:\D*[^a-z0-9])?[a-z]{0,8}\d{1,6}$/i

/** Gives calls of Recall unique ids if the server only counts: the next call of a client's tool would have the same id. */
export function withOwnIds(answer: ApiBody): ApiBody {
  const counted = recallCalls(answer).filter(({ id }) => SHORT_NUMBERED_ID.test(id))
  if (counted.length === 0) return answer
  const renamed = (block: ToolUse) => ({ ...block, id: `toolu_${randomIds.uuid().replaceAll("-", "")}` })
  const isCounted = (block: ToolUse) => counted.some(({ id, name }) => id === block?.id && name === block.name)
  return {
    ...answer,
    content: (answer.content as readonly ToolUse[]).map((block) => (isCounted(block) ? renamed(block) : block)),
  }
}

const callsIn = (content: unknown): readonly ToolUse[] =>
  Array.isArray(content) ? toBlocks(content as never).filter(isToolUse) : []

/** Runs the calls of a response that ended with calls of Recall and no others. */
export async function runRecallRound(
  answer: ApiBody,
  past: RecallSource,
  before: number,
): Promise<RecallRound | undefined> {
  const calls = recallCalls(answer)
  const isOurs = calls.length > 0 && calls.length === callsIn(answer.content).length
  if (!isOurs || answer.stop_reason !== "tool_use" || before >= MAX_ROUNDS) return undefined
  if (before < MAX_ANSWERED_ROUNDS) return { answer, results: await recallResults(calls, past) }
  const enough = "Recall was asked often enough for now. Go on with what you have."
  return { answer, results: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: enough })) }
}

export function recallResults(calls: readonly ToolUse[], past: RecallSource): Promise<readonly ToolResult[]> {
  return Promise.all(
    calls.map(async ({ id, input }): Promise<ToolResult> => {
      const { content, isError } = await runRecall((input ?? {}) as never, past).catch((error: unknown) => ({
        content: `Recall failed: ${errorReason(error)}. The conversation is kept.`,
        isError: true,
      }))
      return { type: "tool_result", tool_use_id: id, content, ...(isError ? { is_error: true } : {}) } as ToolResult
    }),
  )
}
