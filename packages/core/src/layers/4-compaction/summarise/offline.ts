/**
 * Step 3, summarise. The last route: a summary without a model, quoted from the conversation, so a conversation never ends because of its
 * length. It reads cleared results from the journal, needs no network, and takes time in proportion to the range.
 */
import { inSlices } from "../../../base/in-slices.ts"
import { maskSecrets } from "../../../base/secrets/find-secrets.ts"
import { type Block, isToolResult } from "../../../messages/blocks.ts"
import { contentOf, isRequest, type Message } from "../../../messages/messages.ts"
import { sentBlocks } from "../../../messages/sent-blocks.ts"
import type { ReadMessage } from "../../../model/offline/read-message.ts"
import type { LayerContext } from "../../layer.ts"
import { factSteps } from "../restore/facts.ts"
import type { Route } from "./route.ts"

const MOST_OF_THRESHOLD = 0.15 // a summary that is right for a large window would fill a small one
export function offline(): Route {
  return {
    name: "offline",
    cut: async ({ context, cut }) => (isOn(context) ? cut : undefined),
    async summarise({ context, order, cut, onProgress }) {
      if (!isOn(context)) return { kind: "passed", message: "summaries without a model are switched off" }
      const { summariseAbout } = await import("../../../model/offline/summary.ts") // rarely needed
      const { estimator } = context.views
      const threshold = (order.target ?? context.thresholds).autoCompact
      const tokens = Math.min(context.flags.figures["offline-summary-limit"], Math.floor(threshold * MOST_OF_THRESHOLD))
      const messages = await readable(cut.summarised, context)
      const budget = { tokens, tokensOf: (part: string) => estimator.text(part) }
      const kept = new Set(cut.kept.map(({ uuid }) => uuid))
      const facts = context.flags.on["compact-facts"]
        ? await inSlices(
            factSteps(context.views, {
              estimate: budget.tokensOf,
              kept,
              budget: context.flags.figures["record-limit"],
            }),
          )
        : ""
      const shown = [facts, ...context.views.statements.replaced.keys()].join("\n")
      const quotations = summariseAbout(messages, { wanted: order.instructions ?? "", budget, shown })
      const text = maskSecrets(await inSlices(quotations))
      onProgress(text.length)
      return { kind: "summary", text: `Summary:\n${text}`, cut, isQuoted: true, responses: [] }
    },
  }
}

const isOn = ({ flags }: LayerContext): boolean => flags.on["compact-offline"]

async function readable(messages: readonly Message[], context: LayerContext): Promise<readonly ReadMessage[]> {
  const read: ReadMessage[] = []
  for (const message of messages) read.push(asRead(message, await blocksOf(message, context)))
  return read
}

/** With what layer 2 has cleared: the journal still has it. */
async function blocksOf(message: Message, { views, journal }: LayerContext): Promise<readonly Block[]> {
  const blocks = sentBlocks(message)
  const isCleared = (block: Block) => isToolResult(block) && views.context.isCleared(block.tool_use_id)
  if (message.type !== "user" || !blocks.some(isCleared)) return blocks
  const entry = await journal.find(message.uuid)
  return entry?.type === "user" ? contentOf(entry) : blocks
}

/** What the person did not write is a notice, so it is never quoted as a wish of theirs. */
export function asRead(message: Message, blocks: readonly Block[]): ReadMessage {
  const content = blocks as readonly object[] as ReadMessage["content"]
  if (message.type === "assistant") return { role: "assistant", content }
  if (message.type === "user" && message.isCompactSummary) return { role: "summary", content }
  const isTheirs = message.type === "user" && (blocks.some(isToolResult) || isRequest(message))
  return { role: isTheirs ? "user" : "system", content }
}
