/**
 * Converts attachments of Claude Code. A known kind becomes a Strata attachment, or `foreign` with the text that the model received.
 * Unknown kinds and shapes are imported unchanged, with their text if they have one, and counted as not understood.
 */

import type { Block } from "@strata/core"
import type { Attachment, NamedCapability as Listed, Todo } from "@strata/core/messages"
import { textOf, toBlocks } from "@strata/core/messages"
import { blocksFromApi } from "../external-blocks.ts"
import { asObject, getNumber, getObject, getObjects, getString, getStrings, type JsonObject } from "../json-access.ts"
import { SILENT_ATTACHMENTS } from "./kinds.ts"

export interface AttachmentResult {
  readonly kind: string
  readonly attachment: Attachment
  readonly understood: boolean
  /** Set if the user typed the attachment. */
  readonly typedBlocks?: readonly Block[]
}

/** Returns `undefined` if the attachment does not have the expected shape. */
type AttachmentReader = (data: JsonObject) => Attachment | undefined

/** `line` is the line with the attachment. Since 2.1.280 it includes the text that the model received. */
export function attachmentFrom(data: JsonObject, line: JsonObject = {}): AttachmentResult {
  const kind = getString(data, "type") ?? "no type"
  const typedBlocks = kind === "queued_command" ? readTypedBlocks(data) : undefined
  if (typedBlocks) return { kind, attachment: external(data), understood: true, typedBlocks }
  const read = Object.hasOwn(READERS, kind) ? READERS[kind]!(data) : undefined
  if (read && read.type !== "foreign") return { kind, attachment: read, understood: true }
  const rendered = kind === "prompt_snapshot" ? undefined : renderedText(line.rendered ?? data.rendered)
  if (rendered !== undefined) return { kind, attachment: external(data, rendered), understood: true }
  const understood = read !== undefined || SILENT_ATTACHMENTS.has(kind)
  return { kind, attachment: read ?? external(data, understood ? undefined : plainText(data)), understood }
}

/** Fields with the text of known kinds. Unknown kinds are likely to use them too. */
const TEXT_FIELDS = ["content", "text", "message", "reminder", "notice"]

function plainText(data: JsonObject): string | undefined {
  const texts = TEXT_FIELDS.map((name) => getString(data, name) ?? getStrings(data, name).join("\n"))
  return texts.find((text) => text.trim() !== "")
}

/** The system prompt and the tools, if the program recorded them. The tool schemas have the form of the API. */
export function promptFrom(data: JsonObject | undefined): {
  readonly system?: string
  readonly tools?: readonly unknown[]
} {
  if (getString(data, "type") !== "prompt_snapshot") return {}
  const system = getString(data, "systemPrompt") ?? getStrings(data, "systemPrompt").join("\n\n")
  const tools = getObjects(data, "tools").flatMap((tool) => getObject(tool, "schema") ?? [])
  return { ...(system === "" ? {} : { system }), ...(tools.length === 0 ? {} : { tools }) }
}

/** Joins a list of messages, each a text or blocks, including the tags of reminders. */
function renderedText(rendered: unknown): string | undefined {
  if (typeof rendered === "string") return rendered
  if (!Array.isArray(rendered)) return undefined
  const texts = rendered.flatMap((item: unknown) => {
    const content = typeof item === "string" ? item : asObject(item)?.content
    const blocks = typeof content === "string" ? toBlocks(content) : (blocksFromApi(content) ?? [])
    return textOf(blocks)
  })
  return texts.join("\n")
}

const external = (data: JsonObject, text?: string): Attachment => ({
  type: "foreign",
  kind: getString(data, "type") ?? "no type",
  data,
  ...(text !== undefined && { text }),
})

const READERS: Readonly<Record<string, AttachmentReader>> = {
  file: (data) => {
    const file = getObject(getObject(data, "content"), "file")
    const path = getString(file, "filePath") ?? getString(data, "filename")
    const content = getString(file, "content")
    // images, notebooks and PDFs have other fields
    return path !== undefined && content !== undefined ? { type: "file", path, content } : undefined
  },
  compact_file_reference: (data) => {
    const path = getString(data, "filename")
    return path === undefined ? undefined : { type: "compact_file_reference", path }
  },
  edited_text_file: (data) => {
    const [path, snippet] = [getString(data, "filename"), getString(data, "snippet")]
    if (path === undefined || snippet === undefined) return undefined
    return external(
      data,
      `The file ${path} was changed by someone else. The changed part, with line numbers:\n${snippet}`,
    )
  },
  nested_memory: (data) => {
    const [path, content] = [getString(data, "path"), getString(getObject(data, "content"), "content")]
    return path === undefined || content === undefined ? undefined : { type: "nested_memory", path, content }
  },
  queued_command: (data) => {
    const prompt = getString(data, "prompt")
    return prompt === undefined ? undefined : external(data, prompt)
  },
  task_reminder: (data) => ({ type: "todo_list", todos: todosFrom(data) }),
  todo_reminder: (data) => ({ type: "todo_list", todos: todosFrom(data) }),
  skill_listing: (data) => {
    const skills = pairDescriptions(getStrings(data, "names"), (getString(data, "content") ?? "").split(/\n(?=- )/))
    return skills ? { type: "skill_listing", skills } : external(data, getString(data, "content"))
  },
  agent_listing_delta: (data) => {
    const removed = getStrings(data, "removedTypes")
    const lines = getStrings(data, "addedLines")
    const agents = pairDescriptions(getStrings(data, "addedTypes"), lines)
    if (agents && removed.length === 0) return { type: "agent_listing", agents }
    return external(data, [...lines, ...removed.map((name) => `- ${name}: no longer available`)].join("\n"))
  },
  deferred_tools_delta: (data) => {
    const names = getStrings(data, "addedNames")
    const added = pairDescriptions(names, getStrings(data, "addedLines")) ?? names.map((name) => ({ name }))
    return { type: "tool_delta", added, removed: getStrings(data, "removedNames") }
  },
  mcp_instructions_delta: (data) => {
    const blocks = getStrings(data, "addedBlocks")
    const [[server, another], removed] = [getStrings(data, "addedNames"), getStrings(data, "removedNames")]
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
    hook: getString(data, "hookName") ?? "unnamed",
    content: getString(data, "content") ?? getStrings(data, "content").join("\n"),
    audience: "model",
  }),
  hook_success: (data) => ({
    type: "hook_output",
    hook: getString(data, "hookName") ?? "unnamed",
    content: getString(data, "content") ?? "",
    audience:
      HOOKS_SENT_TO_MODEL.has(getString(data, "hookEvent") ?? "") && getString(data, "content") ? "model" : "person",
  }),
  hook_system_message: (data) => ({
    type: "hook_output",
    hook: getString(data, "hookName") ?? "unnamed",
    content: getString(data, "content") ?? "",
    audience: "person",
  }),
  hook_blocking_error: (data) => ({
    type: "hook_output",
    hook: getString(data, "hookName") ?? "unnamed",
    content: getString(getObject(data, "blockingError"), "blockingError") ?? getString(data, "blockingError") ?? "",
    audience: "model",
  }),
  plan_mode: (data) => planMode(true, data),
  plan_mode_exit: (data) => planMode(false, data),
  directory: (data) => {
    const [path, content] = [getString(data, "path"), plainText(data)]
    if (path === undefined || content === undefined) return undefined
    return external(data, `The directory ${path} has:\n${content}`)
  },
  total_tokens_reminder: (data) => external(data, plainText(data)),
  read_truncation_notice: (data) => external(data, plainText(data)),
  selected_lines_in_ide: (data) => {
    const [path, content] = [getString(data, "filename"), getString(data, "content")]
    const [fromLine, toLine] = [getNumber(data, "lineStart"), getNumber(data, "lineEnd")]
    if (path === undefined || content === undefined || fromLine === undefined || toLine === undefined) return undefined
    return { type: "editor_selection", path, fromLine, toLine, content }
  },
}

function planMode(active: boolean, data: JsonObject): Attachment {
  const path = getString(data, "planFilePath")
  return { type: "plan_mode", active, ...(path === undefined ? {} : { path }) }
}

/** Events at which the output of a successful hook reaches the model. */
const HOOKS_SENT_TO_MODEL = new Set(["SessionStart", "UserPromptSubmit"])

function readTypedBlocks(data: JsonObject): readonly Block[] | undefined {
  const isHuman = (getString(getObject(data, "origin"), "kind") ?? "human") === "human"
  const isPrompt = (getString(data, "commandMode") ?? "prompt") === "prompt"
  return isHuman && isPrompt ? blocksFromApi(data.prompt) : undefined
}

function todosFrom(data: JsonObject): readonly Todo[] {
  return getObjects(data, "content").flatMap((task) => {
    const [content, status] = [getString(task, "subject") ?? getString(task, "content"), getString(task, "status")]
    const isTodo = content !== undefined && (status === "pending" || status === "in_progress" || status === "completed")
    return isTodo ? [{ content, status }] : []
  })
}

/** Pairs names with lines `- name: description` or `name`. Returns `undefined` if the lines do not match the names. */
function pairDescriptions(names: readonly string[], lines: readonly string[]): readonly Listed[] | undefined {
  if (names.length !== lines.length) return undefined
  const listed = names.map((name, index) => {
    const line = lines[index]!
    if (line === name || line === `- ${name}`) return { name }
    const front = `- ${name}: `
    return line.startsWith(front) ? { name, description: line.slice(front.length) } : undefined
  })
  return listed.every((item) => item !== undefined) ? listed : undefined
}
