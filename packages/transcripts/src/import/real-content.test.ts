/**
 * All content of the real recordings is in the imported messages byte for byte, and nothing else. The content is read here a second time,
 * directly from the raw JSON.
 */
import { describe, expect, test } from "vitest"
import { type Block, resultBlocks } from "../../../core/src/messages/blocks.ts"
import { exactInputOf } from "../../../core/src/messages/exact-json.ts"
import { type AssistantMessage, contentOf, type Message } from "../../../core/src/messages/messages.ts"
import { needs } from "../../../core/test/needs.ts"
import {
  CLAUDE_CODE_FILES,
  CODEX_FILES,
  importReal,
  OPENHANDS_FILES,
  PI_FILES,
  realTranscript,
  SWE_AGENT_FILES,
  WHERE_THEY_ARE,
} from "../../../core/test/real-transcripts.ts"

/** JSON of the shape that the recordings are known to have. */
interface Raw {
  // biome-ignore lint/suspicious/noExplicitAny: the raw files are read without the importers' help
  readonly [key: string]: any
}

describe(`JRN-6, MSG-1: ${WHERE_THEY_ARE}`, needs("transcripts"), () => {
  test.each(CLAUDE_CODE_FILES)("%s: every block, flag, id and usage", (name) => {
    const { text } = realTranscript(name)
    const lines = rawLines(text)
    const messages = importedMessages(name)
    expect(textsIn(messages)).toEqual(sorted([...lines.flatMap(textsInClaudeCode), ...slippedInto(lines)]))

    const byUuid = new Map(messages.map((message) => [message.uuid, message]))
    for (const line of lines.filter(({ type }) => type === "assistant")) {
      const { message, timestamp, requestId } = byUuid.get(line.uuid) as AssistantMessage
      expect([message.id, message.model, message.usage]).toEqual([
        line.message.id,
        line.message.model,
        line.message.usage,
      ])
      expect([timestamp, requestId]).toEqual([line.timestamp, line.requestId])
    }
    const boundaries = lines.filter(({ subtype }) => subtype === "compact_boundary")
    expect(messages.flatMap((message) => (message.type === "system" ? (message.compactMetadata ?? []) : []))).toEqual(
      boundaries.map(({ compactMetadata }) => compactMetadata),
    )
    const recorded = new Set(lines.map(({ uuid }) => uuid))
    const uuidsOf = (flagged: readonly Raw[]) => flagged.map(({ uuid }) => uuid).filter((uuid) => recorded.has(uuid))
    for (const flag of [
      "isMeta",
      "isCompactSummary",
      "isApiErrorMessage",
      "isSidechain",
      "isVisibleInTranscriptOnly",
    ]) {
      const isMachine = ({ origin }: Raw) => flag === "isMeta" && origin && origin.kind !== "human"
      const flagged = uuidsOf(messages.filter((message) => (message as Raw)[flag] === true))
      expect(flagged, flag).toEqual(uuidsOf(lines.filter((line) => line[flag] === true || isMachine(line))))
    }
  })

  test.each(CLAUDE_CODE_FILES)("%s: MSG-5: tool inputs in the model's own spelling", (name) => {
    const lines = realTranscript(name).text.split("\n")
    const byUuid = new Map(lines.filter((line) => line !== "").map((line) => [JSON.parse(line).uuid as string, line]))
    for (const message of importedMessages(name)) {
      if (message.type !== "assistant") continue
      for (const block of contentOf(message)) {
        if (block.type === "tool_use") expect(byUuid.get(message.uuid)).toContain(`"input":${inputText(block)}`)
      }
    }
  })

  test.each(CODEX_FILES)("%s: every item", (name) => {
    expect(textsIn(importedMessages(name))).toEqual(sorted(rawLines(realTranscript(name).text).flatMap(textsInCodex)))
  })

  test.each(CODEX_FILES)("%s: TOK-2: usage once per response, adding up to the total that Codex counted", (name) => {
    const counts = rawLines(realTranscript(name).text).filter(({ payload }) => payload.type === "token_count")
    const usages = new Map(
      importedMessages(name).flatMap((message) =>
        message.type === "assistant" && message.message.usage
          ? [[message.message.id, message.message.usage] as const]
          : [],
      ),
    )
    const tokens = [...usages.values()].map((u) => u.input_tokens + (u.cache_read_input_tokens ?? 0) + u.output_tokens)
    const total = counts.at(-1)?.payload.info.total_token_usage.total_tokens
    expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(total)
  })

  test.each(PI_FILES)("%s: every part, with what a compaction kept", (name) => {
    const entries = rawLines(realTranscript(name).text)
    const messages = importedMessages(name)
    expect(textsIn(messages)).toEqual(sorted(entries.flatMap(textsInPi)))

    const kept = messages.flatMap((m) =>
      m.type === "system" ? (m.compactMetadata?.preservedMessages?.uuids ?? []) : [],
    )
    const expected = entries.flatMap(({ type, firstKeptEntryIndex }, index) =>
      type === "compaction"
        ? entries.slice(firstKeptEntryIndex, index).filter((entry) => entry.type === "message")
        : [],
    )
    expect(kept.length).toBe(expected.length)
  })

  test.each(SWE_AGENT_FILES)("%s: every entry of the history", (name) => {
    const { history } = JSON.parse(realTranscript(name).text) as { history: Raw[] }
    // repeated call ids were made unique, so ids are omitted from the comparison
    const withoutIds = (blockTexts: readonly string[]) =>
      sorted(blockTexts.map((piece) => piece.replace(/^(call|result) \S+/, "$1")))
    expect(withoutIds(textsIn(importedMessages(name)))).toEqual(withoutIds(history.flatMap(textsInSweAgent)))
  })

  test.each(OPENHANDS_FILES)("%s: every event of each task", (name) => {
    const tasks = rawLines(realTranscript(name).text)
    const conversations = importReal(name)
    expect(conversations.map(({ title }) => title)).toEqual(tasks.map(({ instance_id }) => instance_id))
    for (const [index, task] of tasks.entries()) {
      expect(textsIn(conversations[index]!.messages)).toEqual(sorted(task.history.flatMap(textsInOpenHands)))
    }
  })
})

function importedMessages(name: string): readonly Message[] {
  const [conversation] = importReal(name)
  return conversation!.messages
}

function rawLines(text: string): readonly Raw[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line) as Raw]))
}

const sorted = (pieces: readonly string[]) => pieces.toSorted()
const call = (id: string, name: string, input: string) => `call ${id} ${name} ${input}`
const result = (id: string, texts: readonly string[]) => `result ${id} ${texts.join("\n---\n")}`

function inputText(block: Block & { type: "tool_use" }): string {
  return exactInputOf(block) ?? JSON.stringify(block.input)
}

function textsIn(messages: readonly Message[]): readonly string[] {
  const spoken = messages.filter((message) => message.type === "user" || message.type === "assistant")
  const isShownOnly = (message: Message) =>
    message.type === "assistant" && message.isApiErrorMessage && !message.message.id
  return sorted(
    spoken.filter((message) => !isShownOnly(message)).flatMap((message) => contentOf(message).map(described)),
  )
}

function described(block: Block): string {
  switch (block.type) {
    case "text":
      return `text ${block.text}`
    case "thinking":
      return `thinking ${block.thinking}`
    case "tool_use":
      return call(block.id, block.name, inputText(block))
    case "tool_result":
      return result(
        block.tool_use_id,
        resultBlocks(block).map((part) => (part.type === "text" ? part.text : JSON.stringify(part))),
      )
    default:
      return JSON.stringify(block)
  }
}

function textsInClaudeCode({ type, message, attachment }: Raw): readonly string[] {
  if (attachment?.type === "queued_command") return [`text ${attachment.prompt}`]
  if (type !== "user" && type !== "assistant") return []
  return typeof message.content === "string" ? [`text ${message.content}`] : message.content.map(described)
}

/** Input that was moved from the queue into a running turn. In these recordings, entries were removed in order. */
function slippedInto(lines: readonly Raw[]): readonly string[] {
  const operations = lines.filter(({ type }) => type === "queue-operation")
  return operations.flatMap(({ operation }, index) => {
    if (operation !== "remove") return []
    const before = operations.slice(0, index)
    const taken = before.filter((earlier) => earlier.operation !== "enqueue").length
    return [`text ${before.filter((earlier) => earlier.operation === "enqueue")[taken]?.content}`]
  })
}

function textsInCodex({ type, payload }: Raw): readonly string[] {
  if (type === "compacted") return payload.replacement_history.flatMap((item: Raw) => item.content.map(textPart))
  if (type !== "response_item") return []
  switch (payload.type) {
    case "message":
      return payload.content.map(textPart)
    case "function_call":
      return [call(payload.call_id, `${payload.namespace ?? ""}${payload.name}`, payload.arguments)]
    case "custom_tool_call":
      return [call(payload.call_id, payload.name, JSON.stringify({ text: payload.input }))]
    case "tool_search_call":
      return [call(payload.call_id, "tool_search", JSON.stringify(payload.arguments))]
    case "tool_search_output":
      return [result(payload.call_id, [JSON.stringify(payload.tools)])]
    case "function_call_output":
    case "custom_tool_call_output":
      return [result(payload.call_id, payload.output === "" ? [] : [payload.output])]
    default:
      return [] // reasoning is encrypted, web searches are attachments
  }
}

const textPart = ({ text }: Raw) => `text ${text}`

function textsInPi({ type, message, summary }: Raw): readonly string[] {
  if (type === "compaction") return [`text ${summary}`]
  if (type !== "message" || message.role === "bashExecution") return []
  if (message.role === "toolResult")
    return [
      result(
        message.toolCallId,
        message.content.map(({ text }: Raw) => text),
      ),
    ]
  return message.content.map((part: Raw) => {
    if (part.type === "toolCall") return call(part.id, part.name, JSON.stringify(part.arguments))
    return part.type === "thinking" ? `thinking ${part.thinking}` : textPart(part)
  })
}

function textsInSweAgent({ role, content, tool_calls, tool_call_ids }: Raw): readonly string[] {
  if (role === "system") return []
  if (role === "tool") return [result(tool_call_ids[0], [content])]
  const calls = (tool_calls ?? []).map((made: Raw) => call(made.id, made.function.name, made.function.arguments))
  return [`text ${content}`, ...calls]
}

function textsInOpenHands({ action, observation, args, content, extras, tool_call_metadata }: Raw): readonly string[] {
  if (action === "message") return [`text ${args.content}`]
  if (action === "system" || action === "recall" || observation === "recall") return []
  if (!tool_call_metadata) return [`text ${content}`]
  if (observation) {
    const texts = [content, extras.metadata?.suffix].filter((text) => text)
    return [result(tool_call_metadata.tool_call_id, texts)]
  }
  const blockTexts = tool_call_metadata.model_response.choices[0].message
  const [made] = blockTexts.tool_calls
  return [
    ...(blockTexts.content ? [`text ${blockTexts.content}`] : []),
    call(made.id, made.function.name, made.function.arguments),
  ]
}
