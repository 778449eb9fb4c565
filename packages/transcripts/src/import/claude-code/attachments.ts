/**
 * Converts attachments of Claude Code. A known kind becomes one of ours, or `foreign` with the text that the model was sent.
 * Unknown kinds and shapes are kept whole, with their text where they have one, and counted as not understood.
 */

import type { Block } from "@strata/core"
import type { Attachment, NamedCapability as Listed, Todo } from "@strata/core/messages"
import { textOf, toBlocks } from "@strata/core/messages"
import { blocksFromApi } from "../foreign-blocks.ts"
import { asFields, type Fields, fieldsAt, numberAt, recordsAt, textAt, textsAt } from "../foreign-json.ts"
import { SILENT_ATTACHMENTS } from "./kinds.ts"

export interface ReadAttachment {
  readonly kind: string
  readonly attachment: Attachment
  readonly understood: boolean
  /** Set if a person typed the attachment. */
  readonly words?: readonly Block[]
}

/** Returns `undefined` if the attachment does not have the expected shape. */
type Reader = (data: Fields) => Attachment | undefined

/** `line` is the line with the attachment: since 2.1.280 it also has the text that the model was sent. */
export function attachmentFrom(data: Fields, line: Fields = {}): ReadAttachment {
  const kind = textAt(data, "type") ?? "no type"
  const words = kind === "queued_command" ? wordsOf(data) : undefined
  if (words) return { kind, attachment: external(data), understood: true, words }
  const read = Object.hasOwn(READERS, kind) ? READERS[kind]!(data) : undefined
  if (read && read.type !== "foreign") return { kind, attachment: read, understood: true }
  const rendered = kind === "prompt_snapshot" ? undefined : renderedText(line.rendered ?? data.rendered)
  if (rendered !== undefined) return { kind, attachment: external(data, rendered), understood: true }
  const understood = read !== undefined || SILENT_ATTACHMENTS.has(kind)
  return { kind, attachment: read ?? external(data, understood ? undefined : plainText(data)), understood }
}

/** Where kinds of today have their text. A kind that is not known yet is likely to have it there too. */
const TEXT_FIELDS = ["content", "text", "message", "reminder", "notice"]

function plainText(data: Fields): string | undefined {
  const texts = TEXT_FIELDS.map((name) => textAt(data, name) ?? textsAt(data, name).join("\n"))
  return texts.find((text) => text.trim() !== "")
}

/** The system prompt and the tools, where the program recorded them. Schemas are those of the API. */
export function promptFrom(data: Fields | undefined): {
  readonly system?: string
  readonly tools?: readonly unknown[]
} {
  if (textAt(data, "type") !== "prompt_snapshot") return {}
  const system = textAt(data, "systemPrompt") ?? textsAt(data, "systemPrompt").join("\n\n")
  const tools = recordsAt(data, "tools").flatMap((tool) => fieldsAt(tool, "schema") ?? [])
  return { ...(system === "" ? {} : { system }), ...(tools.length === 0 ? {} : { tools }) }
}

/** A list of messages, each a text or blocks; a reminder's tags are part of it. */
function renderedText(rendered: unknown): string | undefined {
  if (typeof rendered === "string") return rendered
  if (!Array.isArray(rendered)) return undefined
  const texts = rendered.flatMap((item: unknown) => {
    const content = typeof item === "string" ? item : asFields(item)?.content
    const blocks = typeof content === "string" ? toBlocks(content) : (blocksFromApi(content) ?? [])
    return textOf(blocks)
  })
  return texts.join("\n")
}

const external = (data: Fields, text?: string): Attachment => ({
  type: "foreign",
  kind: textAt(data, "type") ?? "no type",
  data,
  ...(text !== undefined && { text }),
})

const READERS: Readonly<Record<string, Reader>> = {
  file: (data) => {
    const file = fieldsAt(fieldsAt(data, "content"), "file")
    const path = textAt(file, "filePath") ?? textAt(data, "filename")
    const content = textAt(file, "content")
    // images, notebooks and PDFs have other fields
    return path !== undefined && content !== undefined ? { type: "file", path, content } : undefined
  },
  compact_file_reference: (data) => {
    const path = textAt(data, "filename")
    return path === undefined ? undefined : { type: "compact_file_reference", path }
  },
  edited_text_file: (data) => {
    const [path, snippet] = [textAt(data, "filename"), textAt(data, "snippet")]
    if (path === undefined || snippet === undefined) return undefined
    return external(
      data,
      `The file ${path} was changed by someone else. The changed part, with line numbers:\n${snippet}`,
    )
  },
  nested_memory: (data) => {
    const [path, content] = [textAt(data, "path"), textAt(fieldsAt(data, "content"), "content")]
    return path === undefined || content === undefined ? undefined : { type: "nested_memory", path, content }
  },
  queued_command: (data) => {
    const prompt = textAt(data, "prompt")
    return prompt === undefined ? undefined : external(data, prompt)
  },
  task_reminder: (data) => ({ type: "todo_list", todos: todosFrom(data) }),
  todo_reminder: (data) => ({ type: "todo_list", todos: todosFrom(data) }),
  skill_listing: (data) => {
    const skills = listedFrom(textsAt(data, "names"), (textAt(data, "content") ?? "").split(/\n(?=- )/))
    return skills ? { type: "skill_listing", skills } : external(data, textAt(data, "content"))
  },
  agent_listing_delta: (data) => {
    const removed = textsAt(data, "removedTypes")
    const lines = textsAt(data, "addedLines")
    const agents = listedFrom(textsAt(data, "addedTypes"), lines)
    if (agents && removed.length === 0) return { type: "agent_listing", agents }
    return external(data, [...lines, ...removed.map((name) => `- ${name}: no longer available`)].join("\n"))
  },
  deferred_tools_delta: (data) => {
    const names = textsAt(data, "addedNames")
    const added = listedFrom(names, textsAt(data, "addedLines")) ?? names.map((name) => ({ name }))
    return { type: "tool_delta", added, removed: textsAt(data, "removedNames") }
  },
  mcp_instructions_delta: (data) => {
    const blocks = textsAt(data, "addedBlocks")
    const [[server, another], removed] = [textsAt(data, "addedNames"), textsAt(data, "removedNames")]
    if (server !== undefined && another === undefined && blocks.length === 1 && removed.length === 0) {
      return { type: "mcp_instructions", server, instructions: blocks[0]! }
    }
    return external(
      data,
      [...blocks, ...removed.map((name) => `The tool server "${name}" is no longer available.`)].join("\n\n"),
    )
  },
  hook_additional_context: (data) => ({
    type: "hook_output",
    hook: textAt(data, "hookName") ?? "unnamed",
    content: textAt(data, "content") ?? textsAt(data, "content").join("\n"),
    audience: "model",
  }),
  hook_success: (data) => ({
    type: "hook_output",
    hook: textAt(data, "hookName") ?? "unnamed",
    content: textAt(data, "content") ?? "",
    audience: HOOKS_HEARD_BY_MODEL.has(textAt(data, "hookEvent") ?? "") && textAt(data, "content") ? "model" : "person",
  }),
  hook_system_message: (data) => ({
    type: "hook_output",
    hook: textAt(data, "hookName") ?? "unnamed",
    content: textAt(data, "content") ?? "",
    audience: "person",
  }),
  hook_blocking_error: (data) => ({
    type: "hook_output",
    hook: textAt(data, "hookName") ?? "unnamed",
    content: textAt(fieldsAt(data, "blockingError"), "blockingError") ?? textAt(data, "blockingError") ?? "",
    audience: "model",
  }),
  plan_mode: (data) => planMode(true, data),
  plan_mode_exit: (data) => planMode(false, data),
  directory: (data) => {
    const [path, content] = [textAt(data, "path"), plainText(data)]
    if (path === undefined || content === undefined) return undefined
    return external(data, `The directory ${path} has:\n${content}`)
  },
  total_tokens_reminder: (data) => external(data, plainText(data)),
  read_truncation_notice: (data) => external(data, plainText(data)),
  selected_lines_in_ide: (data) => {
    const [path, content] = [textAt(data, "filename"), textAt(data, "content")]
    const [fromLine, toLine] = [numberAt(data, "lineStart"), numberAt(data, "lineEnd")]
    if (path === undefined || content === undefined || fromLine === undefined || toLine === undefined) return undefined
    return { type: "editor_selection", path, fromLine, toLine, content }
  },
}

function planMode(active: boolean, data: Fields): Attachment {
  const path = textAt(data, "planFilePath")
  return { type: "plan_mode", active, ...(path === undefined ? {} : { path }) }
}

/** Only at these events does the output of a successful hook reach the model. */
const HOOKS_HEARD_BY_MODEL = new Set(["SessionStart", "UserPromptSubmit"])

function wordsOf(data: Fields): readonly Block[] | undefined {
  const isHuman = (textAt(fieldsAt(data, "origin"), "kind") ?? "human") === "human"
  const isPrompt = (textAt(data, "commandMode") ?? "prompt") === "prompt"
  return isHuman && isPrompt ? blocksFromApi(data.prompt) : undefined
}

function todosFrom(data: Fields): readonly Todo[] {
  return recordsAt(data, "content").flatMap((task) => {
    const [content, status] = [textAt(task, "subject") ?? textAt(task, "content"), textAt(task, "status")]
    const isTodo = content !== undefined && (status === "pending" || status === "in_progress" || status === "completed")
    return isTodo ? [{ content, status }] : []
  })
}

/** Pairs names with lines `- name: description` or `name`. Returns `undefined` if the lines do not match the names. */
function listedFrom(names: readonly string[], lines: readonly string[]): readonly Listed[] | undefined {
  if (names.length !== lines.length) return undefined
  const listed = names.map((name, index) => {
    const line = lines[index]!
    if (line === name || line === `- ${name}`) return { name }
    const front = `- ${name}: `
    return line.startsWith(front) ? { name, description: line.slice(front.length) } : undefined
  })
  return listed.every((item) => item !== undefined) ? listed : undefined
}
