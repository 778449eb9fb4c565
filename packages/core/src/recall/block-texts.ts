/**
 * The blocks of a conversation as text, for search and for reading again. Tool calls and results are included in full, even if they
 * were cleared, offloaded or compacted: the journal has them all.
 */
import { type Entry, isMessage } from "../journal/entries.ts"
import { renderAttachment } from "../messages/attachment-texts.ts"
import type { Attachment } from "../messages/attachments.ts"
import {
  asServerResult,
  asServerUse,
  type Block,
  isMedia,
  isText,
  isToolResult,
  isToolUse,
  resultBlocks,
  textOf,
} from "../messages/blocks.ts"
import { contentOf, isRequest, isSyntheticError, type Message, type Uuid } from "../messages/messages.ts"
import { RECALL_TOOL, type RecalledText } from "../tools/session/recall-source.ts"

const MAX_OPEN_CALLS = 500 // no more are open at the same time; a call that is never answered must not be remembered forever

/** Attachments with new information. The others repeat what the journal contains elsewhere, or concern the session. */
const INFORMATIVE_ATTACHMENTS: ReadonlySet<Attachment["type"]> = new Set([
  "file",
  "plan_file",
  "skill_content",
  "editor_selection",
  "person_command",
  "mcp_instructions",
  "mcp_prompt",
  "command_output",
  "nested_memory",
  "queued_agent_message",
  "agent_result",
  "hook_output",
  "foreign",
] as const)

export interface BlockText extends Pick<RecalledText, "kind" | "label" | "text" | "time"> {
  readonly uuid: Uuid
  /** Indexes of the block in the message. Empty: the entire message. */
  readonly blocks: readonly number[]
  /** False for blocks that repeat others: summaries, carried facts, results of Recall itself. */
  readonly isSearchable: boolean
  /** Whether it is text of the user or the assistant: no thinking, tools or notes. */
  readonly isDialogue: boolean
}

/** Reads entries in order: the name of a result's tool comes from the preceding call. */
export class BlockReader {
  readonly #calls: Map<string, string>

  /** `carried`: the state of a previous reader. */
  constructor(carried?: unknown) {
    this.#calls = new Map(Array.isArray(carried) ? (carried as [string, string][]) : [])
  }

  carried(): readonly (readonly [string, string])[] | undefined {
    return this.#calls.size === 0 ? undefined : [...this.#calls].slice(-MAX_OPEN_CALLS)
  }

  take(entry: Entry): readonly BlockText[] {
    if (!isMessage(entry)) return []
    const at = { uuid: entry.uuid, time: entry.timestamp }
    if (entry.type === "attachment") {
      const { attachment } = entry
      const text = textOf(renderAttachment(attachment))
      const isSearchable = INFORMATIVE_ATTACHMENTS.has(attachment.type)
      return text === ""
        ? []
        : [{ ...at, blocks: [], kind: "note", label: attachment.type, text, isSearchable, isDialogue: false }]
    }
    if (entry.type !== "user" && entry.type !== "assistant") return []
    return contentOf(entry).flatMap((block, place) => {
      const { text, ...rest } = this.#read(block, entry)
      return text.trim() === "" ? [] : [{ ...at, blocks: [place], text, ...rest }]
    })
  }

  #read(block: Block, message: Message): Omit<BlockText, "uuid" | "blocks" | "time"> {
    const call = isToolUse(block) ? block : asServerUse(block)
    if (call) {
      this.#calls.set(call.id, call.name)
      const isSearchable = call.name !== RECALL_TOOL
      return { kind: "call", label: call.name, text: inputText(call.input), isSearchable, isDialogue: false }
    }
    const result = isToolResult(block) ? block : asServerResult(block)
    if (result) {
      const tool = this.#calls.get(result.tool_use_id)
      this.#calls.delete(result.tool_use_id)
      const text = isToolResult(block) ? resultText(resultBlocks(block)) : inputText(result.content)
      return {
        kind: "result",
        ...(tool === undefined ? {} : { label: tool }),
        text,
        isSearchable: tool !== RECALL_TOOL,
        isDialogue: false,
      }
    }
    return {
      ...speakerOf(message),
      ...(block.type === "thinking" ? { label: "thinking", isDialogue: false } : {}),
      text: plainText(block),
    }
  }
}

function speakerOf(message: Message): Pick<BlockText, "kind" | "label" | "isSearchable" | "isDialogue"> {
  if (message.type === "assistant")
    return { kind: "assistant", isSearchable: true, isDialogue: !message.isSidechain && !isSyntheticError(message) }
  if (message.type === "user" && message.isCompactSummary)
    return { kind: "note", label: "summary", isSearchable: false, isDialogue: false }
  const isDialogue = isRequest(message)
  return { kind: isDialogue ? "user" : "note", isSearchable: true, isDialogue }
}

const resultText = (blocks: readonly Block[]): string => blocks.map(plainText).join("\n")

export function plainText(block: Block): string {
  if (isText(block)) return block.text
  if (block.type === "thinking") return block.thinking
  if (block.type === "redacted_thinking") return ""
  if (!isMedia(block)) return inputText(block)
  if (block.source.type === "text") return block.source.data
  const data = "data" in block.source ? block.source.data : ""
  const type = "media_type" in block.source ? block.source.media_type : block.source.type
  return `[${block.type}: ${type}${data === "" ? "" : `, ${data.length} characters of base64`}]`
}

/** Formats any input as readable lines. Texts are unchanged, so that they can be found as typed. */
function inputText(value: unknown, name = ""): string {
  const front = name === "" ? "" : `${name}: `
  if (typeof value === "string") return `${front}${value}`
  if (Array.isArray(value)) return value.map((item, at) => inputText(item, `${name}[${at}]`)).join("\n")
  if (typeof value !== "object" || value === null) return value === undefined ? "" : `${front}${JSON.stringify(value)}`
  return Object.entries(value)
    .map(([key, item]) => inputText(item, name === "" ? key : `${name}.${key}`))
    .join("\n")
}
