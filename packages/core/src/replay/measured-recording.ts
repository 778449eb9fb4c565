/** A recording with the size of everything in it. All policies replay it. */
import { seededIds } from "../base/ids.ts"
import type { DecisionDraft, Entry } from "../journal/entries.ts"
import { planWithholding } from "../messages/media.ts"
import { MEDIA_LIMITS } from "../messages/media-limits.ts"
import type { ModelOverride } from "../tokens/models.ts"
import { findModel } from "../tokens/models.ts"
import type { ContextView } from "../views/context/context.ts"
import { Views } from "../views/views.ts"
import { BlockSizes, SizeLessons } from "./block-sizes.ts"
import { type RecordedConversation, type RecordedSteps, recordedSteps } from "./recorded-steps.ts"

export interface ReplayOptions {
  /** Facts about models that override or extend the built-in ones. */
  readonly models?: Readonly<Record<string, ModelOverride>>
}

export interface MeasuredRecording extends RecordedSteps {
  readonly model: string
  readonly models: Readonly<Record<string, ModelOverride>>
  readonly sizes: BlockSizes
  /** Tokens of system prompt and tools, by request. */
  readonly prompts: readonly number[]
  /** `counted`: requests have their recorded sizes. `estimated`: no sizes were recorded, and the prompt is left out. */
  readonly source: "counted" | "estimated"
}

export function measureRecording(
  conversation: RecordedConversation,
  { models = {} }: ReplayOptions = {},
): MeasuredRecording {
  const recorded = recordedSteps(conversation)
  const model = recorded.requests.at(-1)?.model ?? conversation.model ?? "unknown"
  const { family } = findModel(model, models).facts
  const sizes = new BlockSizes(family)
  const lessons = new SizeLessons(sizes)
  const views = new Views({ family, models })
  const standIn = seededIds("measure")
  const prompts: number[] = []
  let lastOutput: number | undefined
  for (const step of recorded.steps) {
    if (step.kind !== "request") {
      views.apply(withoutUsage(step.entry))
      continue
    }
    const { counted, at } = step.request
    for (const draft of neededForValidity(views.context))
      views.apply(placedDecision(draft, { uuid: standIn.uuid(), views, at }))
    const { messages } = views.context.messages()
    prompts.push(counted ? lessons.take({ messages, input: counted.input, lastOutput }) : (prompts.at(-1) ?? 0))
    lastOutput = counted?.output
  }
  const isCounted = recorded.requests.some(({ counted }) => counted)
  return { ...recorded, model, models, sizes, prompts, source: isCounted ? "counted" : "estimated" }
}

/** The decisions that make a request valid, as a conversation makes them before it sends one. */
export function neededForValidity(context: ContextView): readonly DecisionDraft[] {
  const { media, withheldAddresses } = context
  const blocks = media.length === 0 ? [] : planWithholding(media, withheldAddresses, MEDIA_LIMITS)
  const repairs = context.unrecordedRepairs()
  return [
    ...(blocks.length > 0 ? [{ type: "strata" as const, subtype: "media-withheld" as const, blocks }] : []),
    ...(repairs.length > 0 ? [{ type: "strata" as const, subtype: "repaired" as const, repairs }] : []),
  ]
}

interface Place {
  readonly uuid: string
  readonly views: Views
  readonly at: Date
}

export function placedDecision(draft: DecisionDraft, { uuid, views, at }: Place): Entry {
  return {
    ...draft,
    uuid,
    parentUuid: views.context.newest?.uuid ?? null,
    timestamp: at.toISOString(),
  }
}

function withoutUsage(entry: Entry): Entry {
  if (entry.type !== "assistant") return entry
  const { usage: _, ...message } = entry.message
  return { ...entry, message }
}
