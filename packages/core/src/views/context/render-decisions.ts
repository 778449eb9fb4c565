/** How the model sees content after a decision about it. Pure: the same decision always produces the same bytes. */

import type { DecisionOf, OvertakenBy } from "../../journal/entries.ts"
import { type Block, isMedia, isText, resultBlocks, type ToolResult, textOf } from "../../messages/blocks.ts"
import { handleFor } from "../../messages/media.ts"
import type { AttachmentMessage, UserMessage, Uuid } from "../../messages/messages.ts"

const PERSISTED = "<persisted-output>"
/** Other programs search for this exact text. */
export const CLEARED_MARKER = "[Old tool result content cleared]"

/** Why a pruned result is outdated. The preceding call tells which file or command it is about. */
const OVERTAKEN: Readonly<Record<OvertakenBy, string>> = {
  changed: "An earlier version: the file was changed after this.",
  "read-again": "The file was read again after this.",
  succeeded: "This failed, and the same was done later.",
  repeated: "A later result has the same text.",
}

export interface ClearedStub {
  /** The stub of the result, on the same line. */
  readonly stub?: string | undefined
  readonly overtaken?: OvertakenBy | undefined
  /** The tool that returns a result by its handle. `null`: the model has none. Default: "Recall". */
  readonly recall?: string | null
}

export function renderCleared(result: ToolResult, address: string, stub: ClearedStub = {}): ToolResult {
  const { stub: stubText = "", overtaken, recall = "Recall" } = stub
  const parts = [
    CLEARED_MARKER,
    ...(overtaken === undefined ? [] : [OVERTAKEN[overtaken] ?? ""]), // a later version may know more reasons
    ...(recall === null ? [] : [`${recall}: ${handleFor(address)}`]),
    ...(stubText === "" ? [] : [`It held: ${stubText}`]),
  ]
  return { ...result, content: parts.filter((part) => part !== "").join(" ") }
}

/** Whether a text replaces a result, or a part of it. */
export const isReplaced = (text: string): boolean =>
  text.startsWith(CLEARED_MARKER) || text.startsWith(PERSISTED) || GAP.test(text)

export interface ShorteningOptions {
  readonly head: number
  readonly tail: number
  /** Why the result could not be offloaded. Absent if it was shortened to keep a context small. */
  readonly why?: string
  /** The tool that returns a result by its handle. `null`: the model has none. Default: "Recall". */
  readonly recall?: string | null
}

const GAP = /^\[\d+ characters left out here\./m

/** Shortens a long result to its start and its end. A line between them tells how much is missing and how to retrieve it. */
export function renderShortened(result: ToolResult, shortening: ShorteningOptions, address: string): ToolResult {
  const { head, tail, why, recall = "Recall" } = shortening
  const text = previewText(result)
  const missing = text.length - head - tail
  if (missing <= 0) return result
  const reason = why === undefined ? "" : ` The result was cut because it could not be put aside: ${why}.`
  const handle = recall === null ? "" : ` ${recall}: ${handleFor(address)}`
  const gap = `[${missing} characters left out here.${reason}${handle}]`
  const end = tail > 0 ? text.slice(-tail) : ""
  return {
    ...result,
    content: [text.slice(0, head), gap, end]
      .filter((part) => part !== "")
      .join("\n")
      .toWellFormed(),
  }
}

const CLEARED_MEMORY = "[Old memory cleared]"

/** Clears a memory attachment. It still names its file, so that the model can read it again. */
export function renderClearedMemory(message: AttachmentMessage): AttachmentMessage {
  const { attachment } = message
  return attachment.type === "memory" ? { ...message, attachment: { ...attachment, content: CLEARED_MEMORY } } : message
}

/** The block that asks the server to delete results from its cache. The results stay in the messages. */
export function renderCacheEdits(decision: Uuid, toolUseIds: readonly string[]): UserMessage {
  const edits = toolUseIds.map((id) => ({ type: "delete", cache_reference: id }))
  const block = { type: "cache_edits", edits } as unknown as Block // not part of the public API, so the SDK has no type for it
  return {
    type: "user",
    uuid: decision,
    parentUuid: null,
    timestamp: "",
    isMeta: true,
    message: { role: "user", content: [block] },
  }
}

export function renderEmpty(result: ToolResult, { tool }: DecisionOf<"tool-result-empty">): ToolResult {
  return { ...result, content: `[${tool} ${result.is_error ? "failed without a message" : "finished without output"}]` }
}

/** The text from which a preview is cut: the texts of a result, or other readable content. */
export function previewText(result: ToolResult): string {
  if (typeof result.content === "string") return result.content
  const blocks = resultBlocks(result)
  return textOf(blocks) || blocks.flatMap(readableTexts).join("\n")
}

/** The readable texts of a block, without bytes and content that is only referenced. */
function readableTexts(block: Block): readonly string[] {
  if (!isMedia(block)) return [JSON.stringify(block)]
  return block.source.type === "text" ? [block.source.data] : []
}

export function renderPersisted(
  result: ToolResult,
  decision: DecisionOf<"tool-result-persisted">,
  address: string,
): ToolResult {
  const { bytes, cut, shape, media = [] } = decision
  const text = previewText(result)
  const head = text.slice(0, decision.head)
  const tail = decision.tail > 0 ? text.slice(-decision.tail) : ""
  const lines = [
    PERSISTED,
    `The result is large: ${bytes} bytes${otherKinds(result)}. ${describeLocation(decision)} Recall: ${handleFor(address)}`,
    ...media.map(
      ({ mediaType, bytes, path }) => `${mediaType}, ${bytes} bytes${path === undefined ? "" : `: ${path}`}`,
    ),
    ...(shape === undefined ? [] : ["It is JSON of this shape:", shape]),
    ...(head === "" ? [] : [cut === "mid-line" ? "Its beginning, cut inside a long line:" : "Its beginning:", head]),
    ...(tail === "" ? [] : ["Its end:", tail]),
    "</persisted-output>",
  ]
  return { ...result, content: lines.join("\n").toWellFormed() } // a preview may end inside a character
}

function describeLocation({ path, recall }: DecisionOf<"tool-result-persisted">): string {
  if (path !== undefined) return `All of it is in ${path}; read it there, or in parts.`
  return recall === undefined
    ? "All of it is kept with the conversation, and its handle follows. Your tools cannot open it; the program that runs you can look it up by the handle."
    : `All of it is kept with the conversation. Call ${recall} with the handle that follows to read it, or parts of it.`
}

function otherKinds(result: ToolResult): string {
  if (typeof result.content === "string") return ""
  const other = resultBlocks(result).filter((block: Block) => !isText(block))
  const kinds = [...new Set(other.map((block) => block.type))]
  return kinds.length > 0 ? `, with ${kinds.join(" and ")}` : ""
}
