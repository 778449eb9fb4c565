/** The person's own words inside tool results: remarks in refusals, answers to questions. They are found where messages come in. */
import type { MessageDraft } from "../journal/entries.ts"
import { toBlocks } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import { callsIn, saidInResults } from "../messages/said-in-results.ts"
import type { Views } from "../views/views.ts"

/** `views`: those before the messages, which know the newest calls. */
export function withPersonsWords(drafts: readonly MessageDraft[], { context }: Views): readonly MessageDraft[] {
  const last = context.lastResponse
  const calls = new Map(last ? callsIn(contentOf(last)) : [])
  return drafts.map((draft) => {
    if (draft.type === "assistant") {
      for (const [id, tool] of callsIn(toBlocks(draft.message.content))) calls.set(id, tool)
      return draft
    }
    if (draft.type !== "user" || draft.saidInResults) return draft
    const said = saidInResults(toBlocks(draft.message.content), calls)
    return said.length > 0 ? { ...draft, saidInResults: said } : draft
  })
}
