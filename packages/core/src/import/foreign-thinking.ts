/**
 * Drops what the API would refuse of other models' thinking: their signatures, and thinking that only its own provider can read. Readable
 * text stays in the journal for people; without a signature no request sends it.
 */
import { type Block, isThinking, type Thinking } from "../messages/blocks.ts"
import { contentOf, type Message } from "../messages/messages.ts"
import type { ImportedConversation } from "./importer.ts"

/** Names of Claude with any provider. Bedrock's profiles do not show the model. */
const CLAUDE = /claude|anthropic|bedrock/i
const SYNTHETIC_MODEL = "<synthetic>"
const WHAT = "signed thinking of other models"

export function foreignThinkingDropped(conversation: ImportedConversation): ImportedConversation {
  let count = 0
  const cleaned = (messages: readonly Message[]): readonly Message[] =>
    messages.map((message) => {
      if (message.type !== "assistant" || !isForeign(message.message.model)) return message
      const blocks = contentOf(message)
      const signed = blocks.filter(isSigned).length
      if (signed === 0) return message
      count += signed
      return {
        ...message,
        message: { ...message.message, content: blocks.map((block) => (isSigned(block) ? unsigned(block) : block)) },
      }
    })
  const messages = cleaned(conversation.messages)
  const agents = conversation.agents?.map((agent) => ({ ...agent, messages: cleaned(agent.messages) }))
  if (count === 0) return conversation
  const { report } = conversation
  const note = `${WHAT} (${count}): the signatures are dropped, because the API would refuse them; requests leave this thinking out`
  return {
    ...conversation,
    messages,
    ...(agents ? { agents } : {}),
    report: { ...report, dropped: { ...report.dropped, [WHAT]: count }, notes: [...report.notes, note] },
  }
}

const isForeign = (model: string | undefined): boolean =>
  model !== undefined && model !== SYNTHETIC_MODEL && !CLAUDE.test(model)

const isSigned = (block: Block): boolean =>
  isThinking(block) && (block.type === "redacted_thinking" || block.signature !== "")

const unsigned = (block: Block): Thinking => ({
  type: "thinking",
  thinking: block.type === "thinking" ? block.thinking : "",
  signature: "",
})
