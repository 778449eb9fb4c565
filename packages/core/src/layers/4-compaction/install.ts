/** The entries that make a summary the beginning of the conversation: boundary, summary, and what follows it. */

import type { CompactionFacts, DecisionDraft, Draft, MessageDraft } from "../../journal/entries.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { isThinking } from "../../messages/blocks.ts"
import { contentOf, type Message, type SignedSummary, type Uuid } from "../../messages/messages.ts"
import { referencesIn } from "../../messages/tool-references.ts"
import type { ModelResponse } from "../../model/model.ts"
import { WHY_THINKING_GOES } from "../../views/compaction-parts.ts"
import type { LayerContext } from "../layer.ts"
import type { Cut } from "./cut.ts"
import type { Shortened } from "./shorten.ts"

export interface Installation {
  readonly context: LayerContext
  readonly cut: Cut
  /** The summary with the text around it. */
  readonly text: string
  /** The same as the API signed it. */
  readonly signed?: SignedSummary
  readonly attachments: readonly Attachment[]
  readonly shortened?: readonly Shortened[]
  readonly facts: CompactionFacts
}

export function installation({
  context,
  cut,
  text,
  signed,
  attachments,
  shortened = [],
  facts,
}: Installation): readonly Draft[] {
  const boundary = context.newUuid()
  const summary = context.newUuid()
  const kept = cut.kept.map(({ uuid }) => uuid)
  return [
    boundaryDraft({ boundary, summary, cut, kept, facts }),
    {
      type: "user",
      uuid: summary,
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
      ...(signed ? { signed: { model: signed.model, block: signed.block, text: signed.text } } : {}),
      message: { role: "user", content: [{ type: "text", text }] },
    },
    // directly after the summary, so that it also holds after going back to one of the attachments
    ...(signed && shortened.length === 0 ? [] : thinkingDropped(context, cut)),
    ...(shortened.length > 0
      ? [{ type: "strata", subtype: "tool-results-shortened", results: shortened } as const]
      : []),
    ...attachments.map((attachment): MessageDraft => ({ type: "attachment", attachment })),
    { type: "strata", subtype: "compacted", boundary, kept, ...facts },
  ]
}

/** What a request for a summary is for. */
export const sourceOf = (trigger: CompactionFacts["trigger"]): "compaction" | "by-hand" =>
  trigger === "manual" ? "by-hand" : "compaction"

export const spent = (responses: readonly ModelResponse[], trigger: CompactionFacts["trigger"]): DecisionDraft[] =>
  responses.map(({ id, model, usage }) => ({
    type: "strata",
    subtype: "spent",
    purpose: sourceOf(trigger),
    model,
    responseId: id,
    usage,
  }))

interface BoundaryParts {
  readonly boundary: Uuid
  readonly summary: Uuid
  readonly cut: Cut
  readonly kept: readonly Uuid[]
  readonly facts: CompactionFacts
}

function boundaryDraft({ boundary, summary, cut, kept, facts }: BoundaryParts): MessageDraft {
  const anchorUuid = cut.kind === "from" ? boundary : summary // what the kept messages follow
  const last = cut.summarised.at(-1)
  return {
    type: "system",
    subtype: "compact_boundary",
    uuid: boundary,
    content: "Conversation compacted",
    compactMetadata: {
      trigger: facts.trigger,
      preTokens: facts.tokensBefore,
      postTokens: facts.tokensAfter,
      messagesSummarized: cut.summarised.length,
      ...(last ? { lastUuid: last.uuid } : {}),
      toolsDiscovered: discoveredTools([...cut.summarised, ...cut.kept]),
      ...(kept.length > 0
        ? {
            preservedMessages: { anchorUuid, uuids: kept },
            preservedSegment: { headUuid: kept[0], anchorUuid, tailUuid: kept.at(-1) },
          }
        : {}),
    },
  }
}

function discoveredTools(messages: readonly Message[]): readonly string[] {
  const names = new Set<string>()
  for (const message of messages) {
    if (message.type === "user") for (const name of contentOf(message).flatMap(referencesIn)) names.add(name)
    if (message.type !== "attachment" || message.attachment.type !== "tool_delta") continue
    for (const { name } of message.attachment.added) names.add(name)
    for (const name of message.attachment.removed) names.delete(name)
  }
  return [...names]
}

/** Kept thinking was bound to the messages before it, and those are a summary now. With `from`, messages stay in place and keep their thinking. */
function thinkingDropped({ facts }: LayerContext, { kind, kept }: Cut): DecisionDraft[] {
  const thinks = kept.some((message) => message.type === "assistant" && contentOf(message).some(isThinking))
  if (!facts.accepts.boundThinking || kind === "from" || !thinks) return []
  return [{ type: "strata", subtype: "thinking-dropped", why: WHY_THINKING_GOES.compacted }]
}
