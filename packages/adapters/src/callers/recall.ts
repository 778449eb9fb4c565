/**
 * Recall for callers: a tool that we put in front of theirs and answer ourselves. A caller never sees it. Where an answer asks Recall alone,
 * the next one continues it. Where it also calls a caller's tool, the result waits for the caller's.
 */

import type { ToolDefinition, ToolResult } from "@strata/core"
import { recallTool } from "@strata/core"
import { RECALL_TOOL } from "@strata/core/agent"
import { errorReason, randomIds } from "@strata/core/base"
import { isToolUse, type ToolUse, toBlocks } from "@strata/core/messages"
import type { RecallSource } from "@strata/core/recall"
import { runRecall } from "@strata/core/recall"
import type { Body } from "./plan.ts"
import { writtenLike } from "./source-text.ts"

/** Answers that only ask Recall, in one turn. Then the model has to go on with what it has. */
const MAX_ROUNDS = 12
const ENOUGH_ROUNDS = 8

const { name, description, inputSchema } = recallTool()
const DEFINITION = { name, description, input_schema: inputSchema } as ToolDefinition

/** In front of all others, where a tool that the caller adds later cannot move it. A caller without tools, or with one of that name, gets none. */
export function withRecall(body: Body): Body {
  const { tools } = body
  if (!Array.isArray(tools) || tools.length === 0) return body
  return tools.some((tool: { name?: unknown } | null) => tool?.name === RECALL_TOOL)
    ? body
    : writtenLike(body, { ...body, tools: [DEFINITION, ...tools] })
}

export const hasRecall = ({ tools }: Body): boolean => Array.isArray(tools) && tools[0] === DEFINITION

/** An answer that asked Recall, and what Recall said. */
export interface Round {
  readonly answer: Body
  readonly results: readonly ToolResult[]
}

export const recallCalls = ({ content }: Body): readonly ToolUse[] =>
  callsIn(content).filter((call) => call.name === RECALL_TOOL)

/** `call_1`, `functions.Recall:0`: one short number, at the end. Other ids stay: a server may know its calls by them. */
const COUNTED = /^(?:\D*[^a-z0-9])?[a-z]{0,8}\d{1,6}$/i

/** Calls of Recall get ids of their own where the server only counts: the next call of a caller's tool would have the same. */
export function withOwnIds(answer: Body): Body {
  const counted = recallCalls(answer).filter(({ id }) => COUNTED.test(id))
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

/** The results of an answer that ended with calls of Recall and no others. */
export async function roundOf(answer: Body, past: RecallSource, before: number): Promise<Round | undefined> {
  const calls = recallCalls(answer)
  const isOurs = calls.length > 0 && calls.length === callsIn(answer.content).length
  if (!isOurs || answer.stop_reason !== "tool_use" || before >= MAX_ROUNDS) return undefined
  if (before < ENOUGH_ROUNDS) return { answer, results: await recallResults(calls, past) }
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
