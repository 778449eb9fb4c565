/** Imports a transcript of another program: recognizes its format and reads it, or reports why it cannot. */

import type { Block } from "@strata/core"
import { ImportError } from "@strata/core/base"
import { contentOf, isThinking, type Message, repairsOf, type Thinking, usable } from "@strata/core/messages"
import { claudeCode } from "./claude-code/claude-code.ts"
import { codex } from "./codex/codex.ts"
import { copilot } from "./copilot/copilot.ts"
import { gemini } from "./gemini.ts"
import type { ExternalFile, ImportedConversation, Importer } from "./importer.ts"
import { firstObjects, parseObject, withoutByteOrderMark } from "./json-access.ts"
import { openCode } from "./opencode.ts"
import { openHands } from "./openhands.ts"
import { pi } from "./pi.ts"
import { sweAgent } from "./swe-agent/swe-agent.ts"

const IMPORTERS: readonly Importer[] = [claudeCode, codex, pi, openHands, openCode, sweAgent, copilot, gemini]

const SHOWN_CHARACTERS = 60
const SHOWN_FIELDS = 8

/** Reads the conversations in a file. Most formats have one per file; OpenHands has one per task. */
export function importTranscript(file: ExternalFile): readonly ImportedConversation[] {
  const importer = IMPORTERS.find((candidate) => candidate.recognizes(file))
  if (!importer) {
    const formats = IMPORTERS.map(({ format }) => format).join(", ")
    throw new ImportError(
      `${file.name} was not imported: ${whatIsIn(file.text)}. Nothing was written. Supported formats: ${formats}.`,
    )
  }
  return importer.read(file).map(externalThinkingDropped).map(withSetAside)
}

/** Whether a file with these first lines is read line by line. */
export const isReadByLine = (file: ExternalFile): boolean =>
  IMPORTERS.find((candidate) => candidate.recognizes(file))?.readsLarge === true

/** Counts the content that views would omit or repair, so that the import reports it before the first request. */
function withSetAside(conversation: ImportedConversation): ImportedConversation {
  const setAside: Record<string, number> = {}
  for (const message of conversation.messages)
    for (const { rule } of repairsOf(usable(message))) setAside[rule] = (setAside[rule] ?? 0) + 1
  const counted = Object.entries(setAside).map(([rule, count]) => `${rule} ${count}`)
  if (counted.length === 0) return conversation
  const note = `some pieces cannot be sent as they are; requests leave them out or repair them: ${counted.join(", ")}`
  const { report } = conversation
  return { ...conversation, report: { ...report, setAside, notes: [...report.notes, note] } }
}

function whatIsIn(text: string): string {
  const content = withoutByteOrderMark(text).trim()
  if (content === "") return "it is empty"
  if (content.includes("\0")) return "it is a binary file"
  const first = firstObjects(content, 1)[0] ?? parseObject(content)
  if (!first)
    return `it does not begin with a JSON object but with ${JSON.stringify(content.slice(0, SHOWN_CHARACTERS))}`
  const names = Object.keys(first).map((name) => name.slice(0, SHOWN_CHARACTERS))
  const shown = names.slice(0, SHOWN_FIELDS).join(", ")
  return `its format is not known; it begins with a JSON object with the fields ${shown || "(none)"}${names.length > SHOWN_FIELDS ? ", …" : ""}`
}

/**
 * Drops signatures and redacted thinking of other models, which the API would refuse. Readable thinking stays in the journal; without a
 * signature no request sends it.
 */
/** Names of Claude models at any provider. Bedrock's inference profiles do not reveal the model. */
const CLAUDE = /claude|anthropic|bedrock/i
const SYNTHETIC_MODEL = "<synthetic>"
const WHAT = "signed thinking of other models"

function externalThinkingDropped(conversation: ImportedConversation): ImportedConversation {
  let count = 0
  const cleaned = (messages: readonly Message[]): readonly Message[] =>
    messages.map((message) => {
      if (message.type !== "assistant" || !isExternal(message.message.model)) return message
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

const isExternal = (model: string | undefined): boolean =>
  model !== undefined && model !== SYNTHETIC_MODEL && !CLAUDE.test(model)

const isSigned = (block: Block): boolean =>
  isThinking(block) && (block.type === "redacted_thinking" || block.signature !== "")

const unsigned = (block: Block): Thinking => ({
  type: "thinking",
  thinking: block.type === "thinking" ? block.thinking : "",
  signature: "",
})
