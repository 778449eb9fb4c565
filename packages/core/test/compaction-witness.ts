/**
 * Watches compactions and records violations: a compaction that does not shrink the context, two consecutive ones without new content, a
 * split tool pair or response. It does not rely on the code under test.
 */

import { type Conversation, engineOf } from "../src/conversation/conversation.ts"
import type { Entry } from "../src/journal/entries.ts"
import { asServerResult, asServerUse, isToolResult, isToolUse } from "../src/messages/blocks.ts"
import type { Message } from "../src/messages/messages.ts"
import { contentOf } from "../src/messages/messages.ts"

const MIN_SHRINKING = 0.1 // share of the context
const MIN_NEW_CONTENT = 0.1 // share of the window, between two automatic compactions

export class CompactionWitness {
  readonly violations: string[] = []
  compactions = 0
  failures = 0
  #chat: Conversation
  #before: { readonly messages: readonly Message[]; readonly tokens: number } | undefined
  /** Size after the last compaction. Undefined after a rewind, which may go back before it. */
  #left: number | undefined
  #messagesSince = 0

  constructor(chat: Conversation) {
    this.#chat = chat
    this.follow(chat)
  }

  /** Follows a conversation that was opened again. */
  follow(chat: Conversation): void {
    this.#chat = chat
    chat.on("entry", ({ entry }) => this.#entry(entry))
    chat.on("compaction", ({ phase }) => {
      if (phase === "preparing") this.#begins()
    })
    chat.on("layerActed", ({ layer, tokensAfter }) => {
      if (layer === "compaction" && this.#before) this.#ended(tokensAfter)
    })
    chat.on("layerFailed", ({ layer, reason }) => this.violations.push(`${layer} failed: ${reason}`))
  }

  #begins(): void {
    const { context } = engineOf(this.#chat).views
    this.#before = { messages: context.storedMessages(), tokens: context.size().tokens }
  }

  #entry(entry: Entry): void {
    if (entry.type === "assistant" || (entry.type === "user" && !entry.isCompactSummary)) this.#messagesSince++
    if (entry.type !== "strata") return
    if (entry.subtype === "rewound") this.#rewound()
    if (entry.subtype === "compaction-failed") {
      this.failures++
      this.#before = undefined
    }
    if (entry.subtype === "compacted") this.#compacted(entry)
  }

  /** Found by fuzzing: a rewind to before a compaction restores its messages, so the next compaction is not a consecutive one. */
  #rewound(): void {
    this.#left = undefined
    this.#messagesSince++
  }

  #compacted({ kept, trigger }: Extract<Entry, { type: "strata"; subtype: "compacted" }>): void {
    const { messages = [], tokens = 0 } = this.#before ?? {}
    this.violations.push(...partedBonds(messages, new Set(kept)))
    if (this.compactions > 0 && this.#messagesSince === 0)
      this.violations.push("two compactions, and nothing between them")
    if (trigger === "auto" && this.#left !== undefined) {
      const { window, blocking } = this.#chat.thresholds
      const min = tokens >= blocking ? 1 : window * MIN_NEW_CONTENT // nothing more fits: otherwise the conversation would end
      if (tokens - this.#left < min) this.violations.push(`compacted after ${tokens - this.#left} new tokens`)
    }
    this.compactions++
    this.#messagesSince = 0
  }

  /** Compares the sizes in the view, not those in the decision. */
  #ended(tokensAfter: number): void {
    const { tokens } = this.#before!
    if (tokensAfter > tokens * (1 - MIN_SHRINKING)) this.violations.push(`shrank only from ${tokens} to ${tokensAfter}`)
    this.#left = tokensAfter
    this.#before = undefined
  }
}

/** Ids of tool pairs and responses with messages on both sides of the cut. */
function partedBonds(messages: readonly Message[], kept: ReadonlySet<string>): readonly string[] {
  const sides = new Map<string, Set<boolean>>()
  for (const message of messages) {
    for (const bond of bondsOf(message)) {
      const side = sides.get(bond) ?? new Set()
      sides.set(bond, side.add(kept.has(message.uuid)))
    }
  }
  return [...sides].filter(([, side]) => side.size > 1).map(([bond]) => `${bond} was parted`)
}

function bondsOf(message: Message): readonly string[] {
  if (message.type !== "user" && message.type !== "assistant") return []
  const calls = contentOf(message).flatMap((block) => {
    if (isToolResult(block)) return [`call ${block.tool_use_id}`]
    if (isToolUse(block)) return [`call ${block.id}`]
    const id = asServerUse(block)?.id ?? asServerResult(block)?.tool_use_id
    return id === undefined ? [] : [`call ${id}`]
  })
  const response = message.type === "assistant" ? message.message.id : undefined
  return response === undefined ? calls : [...calls, `response ${response}`]
}
