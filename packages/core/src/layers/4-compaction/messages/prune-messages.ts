/** `compactMessages` in the mode "prune": shortens results and returns every message, call and text otherwise unchanged. */
import type { ToolResult } from "../../../messages/blocks.ts"
import type { Message } from "../../../messages/messages.ts"
import type { Estimator } from "../../../tokens/estimate.ts"
import { previewText, renderCleared, renderShortened } from "../../../views/context/render-decisions.ts"
import { isRepeatedLater, newestFrom, type PrunedResult, prunedResults } from "../../2-microcompact/prune.ts"
import { stubsOf } from "../../2-microcompact/stubs.ts"
import type { CompactableMessage, InputMessage } from "./input-messages.ts"

/** The replacement of a result that was cut. */
export interface PrunedText {
  readonly toolUseId: string
  readonly text: string
}

interface PruneOptions {
  /** Tokens of the newest messages that stay unchanged. */
  readonly keep: number
  readonly tokensOf: (message: Message) => number
  readonly estimator: Estimator
  /** Name of the tool that returns results by handle. Default: none. */
  readonly recall?: string | undefined
}

interface PrunedMessages<M> {
  readonly messages: readonly M[]
  readonly results: readonly PrunedText[]
}

export function pruneMessages<M extends CompactableMessage>(
  given: readonly InputMessage<M>[],
  { keep, tokensOf, estimator, recall }: PruneOptions,
): PrunedMessages<M> {
  const messages = given.map(({ message }) => message)
  const cuts = prunedResults({ messages, until: newestFrom(messages, { keep, tokensOf }) })
  const toolUseIds = cuts.flatMap(({ toolUseId, cut }) => ("by" in cut && !isRepeatedLater(cut.by) ? toolUseId : []))
  const stubs = stubsOf({ messages, estimator, toolUseIds })
  const results = cuts.flatMap((each): readonly PrunedText[] => {
    const text = previewText(cutResult(each, { stub: stubs[each.toolUseId], recall: recall ?? null }))
    return text.length < previewText(each.result).length ? [{ toolUseId: each.toolUseId, text }] : []
  })
  const texts = new Map(results.map(({ toolUseId, text }) => [toolUseId, text]))
  return { messages: given.map(({ original }) => withTexts(original, texts)), results }
}

function cutResult(
  { result, address, cut }: PrunedResult,
  { stub, recall }: { readonly stub: string | undefined; readonly recall: string | null },
): ToolResult {
  return "by" in cut
    ? renderCleared(result, address, { stub, overtaken: cut.by, recall })
    : renderShortened(result, { ...cut, recall }, address)
}

/** Returns the same message if nothing in it was cut. Of several results of one call only the first is cut, so each text is used once. */
function withTexts<M extends CompactableMessage>(from: M, texts: Map<string, string>): M {
  const content = "content" in from ? from.content : "message" in from ? from.message.content : undefined
  if (texts.size === 0 || !Array.isArray(content)) return from
  let isCut = false
  const blocks = content.map((block: unknown) => {
    const { type, tool_use_id: id } = Object(block) as Partial<ToolResult>
    const text = type === "tool_result" && id !== undefined ? texts.get(id) : undefined
    if (text === undefined) return block
    texts.delete(id!)
    isCut = true
    return { ...(block as object), content: text }
  })
  if (!isCut) return from
  return (
    "content" in from
      ? { ...from, content: blocks }
      : { ...from, message: { ...Object(from).message, content: blocks } }
  ) as M
}
