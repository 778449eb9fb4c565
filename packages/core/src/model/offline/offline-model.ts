/**
 * A model without a network, a key or another process. It answers requests about a conversation with quotations: summaries, session notes,
 * memories, consolidations. Any other request gets a sentence that describes the model. It is deterministic and free.
 */
import { type CooperativeTask, runCooperatively } from "../../base/work.ts"
import { type Block, toBlocks } from "../../messages/blocks.ts"
import type { Usage } from "../../messages/messages.ts"
import type { ModelRequest } from "../../messages/request.ts"
import { createEstimator } from "../../tokens/estimate.ts"
import { OFFLINE_MODEL_FACTS } from "../../tokens/models.ts"
import { ModelAbortedError } from "../errors.ts"
import type { Model, ModelResponse } from "../model.ts"
import { answerTask } from "./answer.ts"
import { hashText } from "./document.ts"
import type { AnswerBlock, ReadMessage, ReadRequest, TokenBudget } from "./read-message.ts"

const PROVIDER = "strata"
/** Tokens of a summary, as in recorded summaries. */
const OFFLINE_SUMMARY_TOKENS = 4_000
/** Usage of an answer about a conversation: nothing was sent or billed. */
const NOTHING_SENT: Usage = { input_tokens: 0, output_tokens: 0 }
const SAFE_SHARE = 0.8 // of `max_tokens`: estimates may be a little low

const WHAT_IT_IS =
  "This is the offline model. It is extractive: it quotes a conversation for summaries, notes and memories, and it cannot do the work itself. Give a model with a key to go on."

export interface OfflineModelOptions {
  /** Maximum tokens of a summary. Default: 4,000. */
  readonly summaryTokens?: number
}

/** Creates the offline model, which summarizes conversations even if the API is down or no key is set. */
export function offlineModel({ summaryTokens = OFFLINE_SUMMARY_TOKENS }: OfflineModelOptions = {}): Model {
  const estimator = createEstimator(OFFLINE_MODEL_FACTS.family)
  return {
    name: OFFLINE_MODEL_FACTS.id,
    provider: PROVIDER,
    facts: OFFLINE_MODEL_FACTS,
    async *stream(request, { signal } = {}) {
      if (signal?.aborted) throw new ModelAbortedError(PROVIDER)
      const tokens = Math.min(summaryTokens, Math.floor(request.max_tokens * SAFE_SHARE))
      const found = await runAnswer(answerTo(request, { tokens, tokensOf: (text) => estimator.text(text) }), signal)
      const content = found ?? ([{ type: "text", text: WHAT_IT_IS }] satisfies readonly AnswerBlock[])
      for (const block of content) if (block.type === "text") yield { type: "text", text: block.text }
      const usage = found ? NOTHING_SENT : await runAnswer(countUsage(request, content), signal)
      yield { type: "response", response: responseWith(content, { request, usage }) }
    },
  }
}

async function runAnswer<T>(steps: CooperativeTask<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await runCooperatively(steps, { signal, yieldsToOthers: true })
  } catch (error) {
    if (signal?.aborted) throw new ModelAbortedError(PROVIDER)
    throw error
  }
}

function* answerTo(request: ModelRequest, budget: TokenBudget): CooperativeTask<readonly AnswerBlock[] | undefined> {
  let calls = 0
  // ids depend on the number of messages, so none occurs twice in a conversation
  const nextToolUseId = () => `toolu_offline_${request.messages.length}_${calls++}`
  return yield* answerTask({ request: yield* toReadRequest(request), nextToolUseId, budget })
}

function* toReadRequest({ messages, tools }: ModelRequest): CooperativeTask<ReadRequest> {
  const read: object[] = []
  for (const { role, content } of messages) {
    read.push({ role, content: toBlocks(content) })
    yield
  }
  const offered = (tools ?? []).filter((tool) => "input_schema" in tool)
  return { messages: read as readonly ReadMessage[], tools: offered as NonNullable<ReadRequest["tools"]> }
}

const idFor = (...texts: readonly string[]): string =>
  `msg_offline_${texts.map((text) => hashText(text).toString(36)).join("_")}`

interface ResponseFacts {
  readonly request: ModelRequest
  readonly usage: Usage
}

function responseWith(content: readonly AnswerBlock[], { request, usage }: ResponseFacts): ModelResponse {
  return {
    id: idFor(JSON.stringify(request.messages.at(-1) ?? ""), JSON.stringify(content)),
    model: OFFLINE_MODEL_FACTS.id,
    content,
    stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
    usage,
  }
}

/** Counts a conversation's own turns with this model, so that its size is known. They are free. */
function* countUsage(request: ModelRequest, content: readonly AnswerBlock[]): CooperativeTask<Usage> {
  const estimator = createEstimator(OFFLINE_MODEL_FACTS.family)
  let requestTokens = 0
  for (const message of request.messages) {
    requestTokens += estimator.blocks(toBlocks(message.content))
    yield
  }
  const responseTokens = estimator.blocks(content as readonly Block[])
  return { input_tokens: Math.ceil(requestTokens), output_tokens: Math.ceil(responseTokens) }
}
