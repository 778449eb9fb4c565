/** Turns a valid request into the prompt the model gets: applies compaction blocks, bound thinking and context edits. */
import { invalidRequest } from "./api-error.ts"
import { type LeveledItem, toPrefix, totalTokens } from "./cache/prefix.ts"
import { applyCacheEdits, type CacheDeletions } from "./cache-edits.ts"
import { afterCompaction, withoutForgottenThinking } from "./context-management/compaction.ts"
import { applyEdits } from "./context-management/edits.ts"
import type { Turn } from "./conversation.ts"
import type { Simulation } from "./simulation.ts"
import { type BindingState, checkThinking } from "./thinking/binding.ts"
import type { ParsedRequest } from "./validate/rule.ts"
import type { AppliedEdit, InputTransformation, MessagesBody } from "./wire.ts"

// Claude Code puts a billing block before its system prompt, whose value changes in many requests. The API removes it: it is not part of
// the prompt, so neither the cache nor bound thinking depends on it. Servers that do not know the block keep it.

const BILLING = /^x-anthropic-billing-header:/

export function withoutBillingBlock(body: MessagesBody): MessagesBody {
  const { system } = body
  if (!Array.isArray(system) || !BILLING.test(system[0]?.text ?? "")) return body
  return { ...body, system: system.slice(1) }
}

export interface Prompt {
  readonly request: ParsedRequest
  /** The turns that the model gets. */
  readonly turns: readonly Turn[]
  readonly items: readonly LeveledItem[]
  readonly inputTokens: number
  /** Input tokens before context edits. */
  readonly originalTokens: number
  readonly appliedEdits: readonly AppliedEdit[]
  readonly transformations: readonly InputTransformation[]
  /** The state that thinking in the answer is bound to. */
  readonly bound: () => BindingState
  /** Tokens removed by cache edits, if that mode is on. */
  readonly cacheDeletedTokens: number | undefined
}

export function preparePrompt(sent: ParsedRequest, simulation: Simulation): Prompt {
  const request = simulation.billingInPrompt ? sent : { ...sent, body: withoutBillingBlock(sent.body) }
  const { body, model, dialect } = request
  const { counter } = simulation
  const bound = checkThinking({
    body,
    model,
    dialect,
    turns: afterCompaction(request.turns),
    enforcement: simulation.bindThinking,
  })
  const remembered = withoutForgottenThinking(bound.turns, model)
  const deletions: CacheDeletions | undefined = simulation.cacheEdits ? applyCacheEdits(remembered, counter) : undefined
  const prefixOf = (turns: readonly Turn[]) =>
    toPrefix({ body, model, turns, counter, ...(deletions && { deleted: deletions.deleted }) })
  const countPrompt = (turns: readonly Turn[]) => totalTokens(prefixOf(turns))

  const edits = body.context_management?.edits ?? []
  const edited = applyEdits({ edits, turns: remembered, model, countPrompt })
  const items = prefixOf(edited.turns)
  return {
    request,
    turns: deletions ? applyCacheEdits(edited.turns, counter).turns : edited.turns,
    items,
    inputTokens: totalTokens(items),
    originalTokens: edited.applied.length > 0 ? countPrompt(remembered) : totalTokens(items),
    appliedEdits: edited.applied,
    transformations: bound.transformations,
    bound: bound.state,
    cacheDeletedTokens: deletions?.tokens,
  }
}

/** The prompt must fit the window. On models before 4.5, prompt and `max_tokens` together must fit. */
export function checkWindow({ inputTokens, request: { body, model } }: Prompt): void {
  const { window } = model
  if (inputTokens > window) throw invalidRequest(`prompt is too long: ${inputTokens} tokens > ${window} maximum`)
  if (!model.accepts.overflowingOutput && inputTokens + body.max_tokens > window) {
    throw invalidRequest(
      `input length and \`max_tokens\` exceed context limit: ${inputTokens} + ${body.max_tokens} > ${window}, ` +
        "decrease input length or `max_tokens` and try again",
    )
  }
}
