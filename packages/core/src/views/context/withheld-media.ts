/**
 * Which images and documents the next request cannot carry, as decisions. Withholding one that was sent before changes the messages
 * before later thinking. Where thinking is bound to them, it is dropped too.
 */

import type { DecisionDraft } from "../../journal/entries.ts"
import { isThinking } from "../../messages/blocks.ts"
import { planWithholding, type Withheld } from "../../messages/media.ts"
import { MEDIA_LIMITS } from "../../messages/media-limits.ts"
import { parseAddress } from "../record/archive.ts"
import { blocksOf } from "./changed-messages.ts"
import type { ContextView } from "./context.ts"

export function withheldMedia(context: ContextView, boundThinking: boolean): readonly DecisionDraft[] {
  const { media, withheldAddresses } = context
  const blocks = media.length === 0 ? [] : planWithholding(media, withheldAddresses, MEDIA_LIMITS)
  return decisionsFor(blocks, context, boundThinking)
}

interface Refused {
  /** Those that no answer has followed yet, those before them, or all. */
  readonly which: "new" | "old" | "all"
  readonly why: string
  readonly boundThinking: boolean
}

/** Withholds what the API refused after it was sent. It does not say which block it means. */
export function refusedMedia(context: ContextView, { which, why, boundThinking }: Refused): readonly DecisionDraft[] {
  const messages = context.storedMessages()
  const answered = messages.findLastIndex(({ type }) => type === "assistant") + 1
  const meant = { all: messages, new: messages.slice(answered), old: messages.slice(0, answered) }[which]
  const uuids = new Set<string | undefined>(meant.map(({ uuid }) => uuid))
  const blocks = context.media
    .filter(({ address }) => !context.withheldAddresses.has(address))
    .filter(({ address }) => uuids.has(parseAddress(address)?.uuid))
    .map(({ address }) => ({ address, why }))
  return decisionsFor(blocks, context, boundThinking)
}

function decisionsFor(
  blocks: readonly Withheld[],
  context: ContextView,
  boundThinking: boolean,
): readonly DecisionDraft[] {
  if (blocks.length === 0) return []
  const withheld: DecisionDraft = { type: "strata", subtype: "media-withheld", blocks }
  const addresses = blocks.map(({ address }) => address)
  return boundThinking && wereBeforeThinking(context, addresses) ? [withheld, THINKING_DROPPED] : [withheld]
}

const THINKING_DROPPED: DecisionDraft = {
  type: "strata",
  subtype: "thinking-dropped",
  why: "images or documents before it are no longer sent",
}

function wereBeforeThinking(context: ContextView, addresses: readonly string[]): boolean {
  const uuids = new Set(addresses.map((address) => parseAddress(address)?.uuid))
  const messages = context.storedMessages()
  const first = messages.findIndex(({ uuid }) => uuids.has(uuid))
  return first >= 0 && messages.slice(first).some((message) => blocksOf(message).some(isThinking))
}
