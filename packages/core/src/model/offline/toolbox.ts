/**
 * The tools of a request, by role. A caller uses roles ("read this path"), and the toolbox finds an offered tool and an input that its
 * schema accepts.
 */

import { memoize } from "../../base/work.ts"
import type { ReadRequest } from "./read-message.ts"
import type { ToolCall } from "./timeline.ts"
import { completeInput, findProblems, propertiesOf, type Schema, schemaOf } from "./tool-schema.ts"

export type ToolRole = "read" | "write" | "edit" | "shell" | "search" | "find" | "todo"
export type TodoStatus = "pending" | "in_progress" | "completed"

export interface OfflineTodo {
  readonly content: string
  readonly status: TodoStatus
}

export interface PlannedCall {
  readonly role: ToolRole | "other"
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

export interface Toolbox {
  offers(role: ToolRole): boolean
  /** The call. `undefined` if the tool is not offered or its schema does not accept these values. */
  call(role: ToolRole, values: Values): PlannedCall | undefined
}

/** Values under the role's own field names, such as `path` or `pattern`. */
export type Values = Readonly<Record<string, unknown>>

interface RoleFacts {
  /** Compared in lower case, without dashes, underscores and a leading `mcp__server__`. */
  readonly names: readonly string[]
  /** Each field with the names that tools use for it. */
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** Fields that the call requires. */
  readonly needs: readonly string[]
}

const PATH_NAMES = ["file_path", "path", "filePath", "filename", "file"]
const FOLDER_NAMES = ["path", "directory", "dir", "cwd"]

const ROLES: Readonly<Record<ToolRole, RoleFacts>> = {
  read: {
    names: ["read", "readfile", "view", "viewfile", "openfile"],
    fields: { path: PATH_NAMES, offset: ["offset", "start_line", "startLine"], limit: ["limit", "line_count"] },
    needs: ["path"],
  },
  write: {
    names: ["write", "writefile", "createfile", "create"],
    fields: { path: PATH_NAMES, content: ["content", "contents", "file_text", "text"] },
    needs: ["path", "content"],
  },
  edit: {
    names: ["edit", "editfile", "strreplace", "replace"],
    fields: {
      path: PATH_NAMES,
      old: ["old_string", "old_str", "oldText", "oldString"],
      new: ["new_string", "new_str", "newText", "newString"],
    },
    needs: ["path", "old", "new"],
  },
  shell: {
    names: ["bash", "shell", "runcommand", "exec", "terminal"],
    fields: { command: ["command", "cmd", "script"], description: ["description"] },
    needs: ["command"],
  },
  search: {
    names: ["grep", "search", "searchfiles", "ripgrep", "codesearch"],
    fields: {
      pattern: ["pattern", "query", "regex"],
      path: FOLDER_NAMES,
      glob: ["glob", "include"],
      mode: ["output_mode"],
      count: ["head_limit", "max_results", "limit"],
    },
    needs: ["pattern"],
  },
  find: {
    names: ["glob", "find", "findfiles", "listfiles", "ls"],
    fields: { pattern: ["pattern", "glob", "query"], path: FOLDER_NAMES },
    needs: ["pattern"],
  },
  todo: {
    names: ["todowrite", "todo", "updatetodos", "todos"],
    fields: { todos: ["todos", "items"] },
    needs: ["todos"],
  },
}

const ROLE_OF_NAME: ReadonlyMap<string, ToolRole> = new Map(
  Object.entries(ROLES).flatMap(([role, { names }]) => names.map((name) => [name, role as ToolRole])),
)

/** Memoized, because it is called several times for every call of a conversation, which uses few tools. */
export const toolRole = memoize((toolName): ToolRole | "other" => {
  const plain = toolName.replace(/^.*__/, "").replace(/[_-]/g, "").toLowerCase()
  return ROLE_OF_NAME.get(plain) ?? "other"
})

/** The value of one of the role's fields, under the name that this tool uses. */
export function toolField(call: Pick<ToolCall, "name" | "input">, field: string): unknown {
  const role = toolRole(call.name)
  const names = role === "other" ? [field] : (ROLES[role].fields[field] ?? [])
  return names.map((name) => call.input[name]).find((value) => value !== undefined)
}

export function toolPath(call: Pick<ToolCall, "name" | "input">): string | undefined {
  const path = toolField(call, "path")
  return typeof path === "string" ? path : undefined
}

export function toolCommand(call: Pick<ToolCall, "name" | "input">): string | undefined {
  const command = toolField(call, "command")
  return typeof command === "string" ? command : undefined
}

/** The todo list that a call sets. `undefined` if it sets none. */
export function toolTodos(call: Pick<ToolCall, "name" | "input">): OfflineTodo[] | undefined {
  const list = toolRole(call.name) === "todo" ? toolField(call, "todos") : undefined
  if (!Array.isArray(list)) return undefined
  return list.map(schemaOf).map((item) => ({
    content: String(item.content ?? item.text ?? item.title ?? ""),
    status: readStatus(item.status),
  }))
}

export function readStatus(words: unknown): TodoStatus {
  if (words === "completed" || words === "done" || words === "x") return "completed"
  return words === "in_progress" ? "in_progress" : "pending"
}

export function openToolbox(request: ReadRequest): Toolbox {
  const offered = new Map<ToolRole, { name: string; schema: Schema }>()
  for (const { name, input_schema = {} } of request.tools ?? []) {
    const role = toolRole(name)
    if (role !== "other" && !offered.has(role)) offered.set(role, { name, schema: input_schema })
  }
  return {
    offers: (role) => offered.has(role),
    call(role, values) {
      const tool = offered.get(role)
      if (tool === undefined) return undefined
      const input = fillInput({ schema: tool.schema, facts: ROLES[role], values })
      return input && { role, name: tool.name, input }
    },
  }
}

function fillInput(given: { schema: Schema; facts: RoleFacts; values: Values }) {
  const { schema, facts, values } = given
  const properties = propertiesOf(schema)
  const unspecified = Object.keys(properties).length === 0
  const input: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(values)) {
    const names = facts.fields[field] ?? []
    const name = unspecified ? names[0] : names.find((candidate) => candidate in properties)
    const fitted = name === undefined ? undefined : fitValue(schemaOf(properties[name]), value)
    const fits = name !== undefined && fitted !== undefined && findProblems(properties[name] ?? {}, fitted).length === 0
    if (fits) input[name] = fitted
    else if (facts.needs.includes(field)) return undefined
  }
  const complete = completeInput(schema, { input, words: "as planned" })
  return findProblems(schema, complete).length === 0 ? complete : undefined
}

/** Fits list items (todos) to the schema: drops unknown properties and adds required ones. */
function fitValue(schema: Schema, value: unknown): unknown {
  if (!Array.isArray(value)) return value
  const items = schemaOf(schema.items)
  const known = propertiesOf(items)
  if (Object.keys(known).length === 0) return value
  return value.map((item: Record<string, unknown>, index) => {
    const content = String(item.content)
    const offered = { text: content, title: content, activeForm: content, id: `${index + 1}`, ...item }
    const kept = Object.entries(offered).filter(
      ([name, part]) => name in known && findProblems(known[name]!, part).length === 0,
    )
    return completeInput(items, { input: Object.fromEntries(kept), words: content })
  })
}
