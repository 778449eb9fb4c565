/**
 * A conversation as steps that every program knows: the user writes, the program adds something, the model responds, tools return results,
 * the context is compacted. The Markdown export is written from them.
 */

import type { Block, ToolResult, Uuid } from "@strata/core"
import type { Boundary } from "@strata/core/messages"
import {
  type AssistantMessage,
  contentOf,
  isBoundary,
  isSyntheticError,
  isToolResult,
  type Message,
  renderAttachment,
  textOf,
  type UserMessage,
} from "@strata/core/messages"
import type { OmittedContent } from "./omitted.ts"

interface StepPosition {
  readonly uuid: Uuid
  readonly at: string
}

/** A response or a part of one. Parts share the id. */
interface ResponseStep extends StepPosition {
  readonly kind: "answer"
  readonly response: string
  readonly blocks: readonly Block[]
}

interface CompactionStep extends StepPosition {
  readonly kind: "compaction"
  readonly summary: readonly Block[]
}

export type ExportStep =
  | (StepPosition & { readonly kind: "person" | "program"; readonly blocks: readonly Block[] })
  | ResponseStep
  | (StepPosition & { readonly kind: "results"; readonly results: readonly ToolResult[] })
  | CompactionStep
  /** An error displayed instead of a response. */
  | (StepPosition & { readonly kind: "failure"; readonly text: string })

export function listSteps(messages: readonly Message[], leftOut: OmittedContent): readonly ExportStep[] {
  const steps: ExportStep[] = []
  let boundary: Boundary | undefined
  const compacted = (summary: readonly Block[], at: Message) => {
    steps.push({ kind: "compaction", ...placeOf(at), summary })
    boundary = undefined
  }
  for (const message of messages) {
    const isSummary = message.type === "user" && message.isCompactSummary === true
    if (isSummary) {
      compacted(contentOf(message), message)
      continue
    }
    const own = spokenSteps(message, leftOut)
    // a boundary without a summary: the next message begins the context
    if (boundary && (isBoundary(message) || own.length > 0)) compacted([], boundary)
    if (isBoundary(message)) boundary = message
    steps.push(...own)
  }
  if (boundary) compacted([], boundary)
  return steps
}

const placeOf = ({ uuid, timestamp }: Message): StepPosition => ({ uuid, at: timestamp })

function spokenSteps(message: Message, leftOut: OmittedContent): readonly ExportStep[] {
  switch (message.type) {
    case "user":
      return ofUser(message)
    case "assistant":
      return [ofModel(message)]
    case "attachment": {
      const blocks = renderAttachment(message.attachment)
      return blocks.length === 0 ? [] : [{ kind: "program", ...placeOf(message), blocks }]
    }
    case "system":
      if (!isBoundary(message)) leftOut.add("notes of the program that the model did not see")
      return []
    case "progress":
      leftOut.add("reports of progress")
      return []
  }
}

function ofUser(message: UserMessage): readonly ExportStep[] {
  const blocks = contentOf(message)
  const results = blocks.filter(isToolResult)
  const others = blocks.filter((block) => !isToolResult(block))
  return [
    ...(results.length > 0 ? [{ kind: "results" as const, ...placeOf(message), results }] : []),
    ...(others.length > 0
      ? [{ kind: message.isMeta ? ("program" as const) : ("person" as const), ...placeOf(message), blocks: others }]
      : []),
  ]
}

function ofModel(message: AssistantMessage): ExportStep {
  if (isSyntheticError(message)) return { kind: "failure", ...placeOf(message), text: textOf(contentOf(message)) }
  const { id = message.uuid } = message.message
  return { kind: "answer", ...placeOf(message), response: id, blocks: contentOf(message) }
}

/** Merges the parts of each response into one step at the position of the first. Results between the parts follow it. */
export function mergeResponses(steps: readonly ExportStep[]): readonly ExportStep[] {
  const merged: ExportStep[] = []
  const places = new Map<string, number>()
  for (const step of steps) {
    const at = step.kind === "answer" ? places.get(step.response) : undefined
    if (step.kind === "answer" && at !== undefined) {
      const first = merged[at] as ResponseStep
      merged[at] = { ...first, blocks: [...first.blocks, ...step.blocks] }
    } else {
      if (step.kind === "answer") places.set(step.response, merged.length)
      if (step.kind === "compaction") places.clear()
      merged.push(step)
    }
  }
  return merged
}
