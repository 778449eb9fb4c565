/**
 * Divides the tokens of a context into classes: the prompt, user messages, responses, thinking, calls, results, and texts written by
 * compactions.
 */

import { isText, isThinking, isToolResult, isToolUse, renderAttachment, toBlocks } from "@strata/core/messages"
import type { EntryDraft } from "@strata/core/store"
import type { PromptItem } from "./cache-model.ts"
import { CLASSES, type ContextClass } from "./report.ts"
import type { SentMessage } from "./server-context.ts"

/** Texts that compactions wrote. They are recognized by content, because the view renders attachments again. */
export class CompactionTexts {
  readonly #texts = new Set<string>()
  readonly #lists = new Set<string>()

  add(drafts: readonly EntryDraft[]): void {
    for (const draft of drafts) {
      if (draft.type !== "attachment" && draft.type !== "user") continue
      const blocks = draft.type === "attachment" ? renderAttachment(draft.attachment) : toBlocks(draft.message.content)
      const texts = blocks.flatMap((block) => (isText(block) ? block.text : []))
      for (const text of texts) this.#texts.add(text)
      if (draft.type === "attachment" && draft.attachment.type === "carried_facts")
        for (const text of texts) this.#lists.add(text)
    }
  }

  /** Whether the text is a record of facts: lists of files, commands and names. */
  isList(text: string): boolean {
    return this.#lists.has(text)
  }

  has(text: string): boolean {
    return this.#texts.has(text)
  }
}

type Sums = Record<ContextClass, number>
const known = new WeakMap<SentMessage, Sums>()

export function classesOf(
  { messages, prompt }: { readonly messages: readonly SentMessage[]; readonly prompt: number },
  own: CompactionTexts,
): Sums {
  const sums = nothing()
  sums.prompt = prompt
  for (const message of messages) {
    const ofMessage = known.get(message) ?? sumsOf(message, own)
    known.set(message, ofMessage)
    for (const name of CLASSES) sums[name] += ofMessage[name]
  }
  return sums
}

const nothing = (): Sums => ({ prompt: 0, person: 0, answers: 0, thinking: 0, calls: 0, results: 0, summary: 0 })

function sumsOf({ role, items }: SentMessage, own: CompactionTexts): Sums {
  const sums = nothing()
  for (const item of items) sums[classOf(role, item, own)] += item.tokens
  return sums
}

function classOf(role: SentMessage["role"], { block }: PromptItem, own: CompactionTexts): ContextClass {
  if (!block) return "prompt"
  if (isToolResult(block)) return "results"
  if (isToolUse(block)) return "calls"
  if (isThinking(block)) return "thinking"
  if (isText(block) && own.has(block.text)) return "summary"
  return role === "assistant" ? "answers" : "person"
}
