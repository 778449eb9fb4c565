/**
 * A conversation as steps that every program knows: the person speaks, the program adds something, the model answers, tools return, the
 * context is compacted. The page to read is written from them.
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
import type { LeftOut } from "./left-out.ts"

interface Placed {
  readonly uuid: Uuid
  readonly at: string
}

/** A response or a part of one. Parts share the id. */
interface Answer extends Placed {
  readonly kind: "answer"
  readonly response: string
  readonly blocks: readonly Block[]
}

interface Compacted extends Placed {
  readonly kind: "compaction"
  readonly summary: readonly Block[]
}

export type Step =
  | (Placed & { readonly kind: "person" | "program"; readonly blocks: readonly Block[] })
  | Answer
  | (Placed & { readonly kind: "results"; readonly results: readonly ToolResult[] })
  | Compacted
  /** An error shown in place of an answer. */
  | (Placed & { readonly kind: "failure"; readonly text: string })

export function stepsOf(messages: readonly Message[], leftOut: LeftOut): readonly Step[] {
  const steps: Step[] = []
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
    // a boundary without a summary: what follows it begins the context
    if (boundary && (isBoundary(message) || own.length > 0)) compacted([], boundary)
    if (isBoundary(message)) boundary = message
    steps.push(...own)
  }
  if (boundary) compacted([], boundary)
  return steps
}

const placeOf = ({ uuid, timestamp }: Message): Placed => ({ uuid, at: timestamp })

function spokenSteps(message: Message, leftOut: LeftOut): readonly Step[] {
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

function ofUser(message: UserMessage): readonly Step[] {
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

function ofModel(message: AssistantMessage): Step {
  if (isSyntheticError(message)) return { kind: "failure", ...placeOf(message), text: textOf(contentOf(message)) }
  const { id = message.uuid } = message.message
  return { kind: "answer", ...placeOf(message), response: id, blocks: contentOf(message) }
}

/** Each response as one step, at the place of its first part. Results that came between its parts follow it. */
export function wholeResponses(steps: readonly Step[]): readonly Step[] {
  const whole: Step[] = []
  const places = new Map<string, number>()
  for (const step of steps) {
    const at = step.kind === "answer" ? places.get(step.response) : undefined
    if (step.kind === "answer" && at !== undefined) {
      const first = whole[at] as Answer
      whole[at] = { ...first, blocks: [...first.blocks, ...step.blocks] }
    } else {
      if (step.kind === "answer") places.set(step.response, whole.length)
      if (step.kind === "compaction") places.clear()
      whole.push(step)
    }
  }
  return whole
}
