/** What fills the context, counted on what the next request would carry. */
import { atOnce, type Steps } from "../../base/work.ts"
import { declaredTools, nameOf } from "../../messages/blocks.ts"
import { flatten } from "../../messages/flatten.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import { type Accounting, accountSteps, type DeferredAccount } from "../../tokens/accounting.ts"
import type { BlockTokens } from "../../tokens/estimate.ts"
import type { Views } from "../views.ts"
import type { ContextView } from "./context.ts"
import { loadedTools } from "./request.ts"

interface Sent {
  readonly context: Views["context"]
  readonly estimator: BlockTokens
}

export const accountSent = (views: Sent): Accounting => atOnce(accountSentSteps(views))

/** The same in steps. */
export function* accountSentSteps({ context, estimator }: Sent): Steps<Accounting> {
  const messages = context.storedMessages()
  const { answeredSynthetically } = context
  const deferredTools = deferredIn(context)
  const sent = flatten(messages, { answeredSynthetically }).messages
  yield
  return {
    ...(yield* accountSteps(messages, estimator, { sent })),
    ...(deferredTools ? { deferredTools } : {}),
  }
}

/** By the last list in view, without those loaded since. A tool that is declared is not on the list. */
function deferredIn(context: ContextView): DeferredAccount | undefined {
  const { deferred } = context.said
  if (!deferred) return undefined
  const listed = deferred.groups.reduce((sum, { names, more = 0 }) => sum + names.length + more, 0)
  const { tools } = context.prompt ?? {}
  const declared = new Set(declaredTools(Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : []).map(nameOf))
  const { referenced, said } = loadedTools(context.storedMessages())
  const loaded = [...new Set([...referenced, ...said])].filter((name) => !declared.has(name))
  const count = Math.max(0, listed - loaded.length)
  return count === 0 ? undefined : { count, tokens: Math.round((deferred.tokens * count) / listed) }
}
