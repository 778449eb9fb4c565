/**
 * Merges events of the conversation into the events of a query that waits for it: layers, compaction progress and results. `onLeft` is
 * called if the reader leaves before the last event, so that running work can stop.
 */
import type { Conversation } from "../../conversation/conversation.ts"
import { type Entry, isBoundaryEntry } from "../../journal/entries.ts"
import { isText } from "../../messages/blocks.ts"
import { contentOf } from "../../messages/messages.ts"
import { attachmentSubject, type QueryEvent } from "./query-events.ts"

export async function* withSideEvents<End>(
  events: AsyncGenerator<QueryEvent, End>,
  { conversation: chat, onLeft }: { readonly conversation: Conversation; readonly onLeft?: () => void },
): AsyncGenerator<QueryEvent, End> {
  let isOver = false
  const waiting: QueryEvent[] = []
  let wake: () => void = () => undefined
  const stops = listen(chat, (event) => {
    waiting.push(event)
    wake()
  })
  try {
    for (;;) {
      const step = events.next().then((value) => ({ value }))
      for (;;) {
        const woken = new Promise<undefined>((resolve) => {
          wake = () => resolve(undefined)
        })
        const next = waiting.length > 0 ? undefined : await Promise.race([step, woken])
        yield* waiting.splice(0)
        if (!next) continue
        isOver = next.value.done === true
        if (next.value.done) return next.value.value
        yield next.value.value
        break
      }
    }
  } finally {
    for (const stop of stops) stop()
    if (!isOver) onLeft?.()
    await events.return(undefined as End)
  }
}

function listen(chat: Conversation, emit: (event: QueryEvent) => void): readonly (() => void)[] {
  const afterBoundary = compactionEntries()
  return [
    chat.on("notice", ({ message }) => emit({ type: "notice", message })),
    chat.on("layerFailed", ({ layer, reason }) => emit({ type: "notice", message: `${layer}: ${reason}` })),
    chat.on("layerActed", ({ message }) => {
      if (message !== undefined) emit({ type: "notice", message, quiet: true })
    }),
    chat.on("compaction", (progress) => emit({ type: "compaction", progress })),
    chat.on("entry", ({ entry }) => {
      const event = afterBoundary(entry)
      if (event) emit(event)
    }),
  ]
}

/** Converts entries to events. All entries between a boundary and the `compacted` decision belong to the compaction. */
function compactionEntries(): (entry: Entry) => QueryEvent | undefined {
  let isOpen = false
  return (entry) => {
    if (isBoundaryEntry(entry)) {
      isOpen = true
      const { trigger = "auto", preTokens = 0, messagesSummarized: messages } = entry.compactMetadata ?? {}
      const replaced = messages === undefined ? {} : { messages }
      return { type: "boundary", uuid: entry.uuid, trigger, tokensBefore: preTokens, ...replaced }
    }
    if (!isOpen) return undefined
    if (entry.type === "user" && entry.isCompactSummary) {
      const text = contentOf(entry)
        .filter(isText)
        .map((block) => block.text)
      return { type: "summary", uuid: entry.uuid, text: text.join("\n") }
    }
    if (entry.type === "attachment")
      return { type: "attached", kind: entry.attachment.type, about: attachmentSubject(entry.attachment) }
    if (entry.type === "strata" && entry.subtype === "compacted") {
      isOpen = false
      const { tokensBefore, tokensAfter, route, planned, audit } = entry
      const why = planned === undefined ? {} : { planned }
      return { type: "compacted", tokensBefore, tokensAfter, route, ...why, ...(audit ? { audit } : {}) }
    }
    return undefined
  }
}
