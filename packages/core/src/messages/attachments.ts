/**
 * Attachments: what the system puts into a conversation beside the words of the human and the model (MSG-9).
 * Each kind is data; `renderAttachment` is its one rendering for the model. A rendering is a pure function of the
 * attachment, so it is the same bytes in every request.
 */
import type { TextBlock } from "./blocks.ts"
import { inline } from "./inline.ts"

export interface Todo {
  readonly content: string
  readonly status: "pending" | "in_progress" | "completed"
}

export type Attachment = { readonly belongsTo?: string } & (
  | { readonly type: "file"; readonly path: string; readonly content: string }
  | { readonly type: "compact_file_reference"; readonly path: string }
  | { readonly type: "todo_list"; readonly todos: readonly Todo[] }
  | { readonly type: "plan_file"; readonly path: string; readonly content: string }
  | { readonly type: "plan_mode"; readonly active: boolean; readonly path?: string }
  | { readonly type: "skill_content"; readonly name: string; readonly content: string }
  | { readonly type: "skill_listing"; readonly skills: readonly Listed[] }
  | { readonly type: "agent_status"; readonly agents: readonly AgentStatus[] }
  | { readonly type: "agent_listing"; readonly agents: readonly Listed[] }
  | { readonly type: "tool_delta"; readonly added: readonly Listed[]; readonly removed: readonly string[] }
  | {
      readonly type: "editor_selection"
      readonly path: string
      readonly fromLine: number
      readonly toLine: number
      readonly content: string
    }
  | { readonly type: "mcp_instructions"; readonly server: string; readonly instructions: string }
  | { readonly type: "nested_memory"; readonly path: string; readonly content: string }
  | { readonly type: "queued_agent_message"; readonly from: string; readonly content: string }
  | {
      readonly type: "hook_output"
      readonly hook: string
      readonly content: string
      readonly audience?: "model" | "person"
    }
  | { readonly type: "memory"; readonly path: string; readonly content: string; readonly age?: string }
  /** What stands after a boundary as data, rendered from the views (L4-29). */
  | { readonly type: "carried_facts"; readonly content: string }
  /** A kind that another program recorded. `text` is what it sent to the model, if it sent anything. */
  | { readonly type: "foreign"; readonly kind: string; readonly data: unknown; readonly text?: string }
)

export interface Listed {
  readonly name: string
  readonly description?: string
}

export interface AgentStatus {
  readonly id: string
  readonly name: string
  readonly status: "running" | "completed" | "failed" | "killed"
  readonly summary?: string
}

export type AttachmentKind = Attachment["type"]

/** What the model is sent for an attachment: no blocks for those meant for a person only. */
export function renderAttachment(attachment: Attachment): readonly TextBlock[] {
  const text = describe(attachment)
  return text === "" ? [] : [{ type: "text", text: asReminder(text) }]
}

/** Marks text as coming from the system, so that the model does not take it for the human's words. */
export function asReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`
}

function describe(attachment: Attachment): string {
  switch (attachment.type) {
    case "file":
      return `The file ${inline(attachment.path)} as it is on disk now:\n${fenced(attachment.content)}`
    case "compact_file_reference":
      return `The file ${inline(attachment.path)} was read earlier and is too large to repeat here. Read it again if you need it.`
    case "todo_list":
      return attachment.todos.length === 0
        ? "The todo list is empty."
        : `The todo list as it stands:\n${attachment.todos.map(todoLine).join("\n")}`
    case "plan_file":
      return `The plan in ${inline(attachment.path)}:\n${fenced(attachment.content)}`
    case "plan_mode":
      return attachment.active
        ? `Plan mode is on: look and think, change nothing until the plan is approved.${attachment.path ? ` The plan goes to ${inline(attachment.path)}.` : ""}`
        : "Plan mode is off: changes may be made again."
    case "skill_content":
      return `The skill "${attachment.name}" is in use. Its instructions:\n${attachment.content}`
    case "skill_listing":
      return `Skills that can be used:\n${attachment.skills.map(listedLine).join("\n")}`
    case "agent_status":
      return `Background agents:\n${attachment.agents.map(agentLine).join("\n")}`
    case "agent_listing":
      return `Agents that can be started:\n${attachment.agents.map(listedLine).join("\n")}`
    case "tool_delta":
      return [
        attachment.added.length > 0
          ? `Tools that can be used from now on:\n${attachment.added.map(listedLine).join("\n")}`
          : "",
        attachment.removed.length > 0 ? `Tools that are gone: ${attachment.removed.join(", ")}.` : "",
      ]
        .filter((part) => part !== "")
        .join("\n")
    case "editor_selection":
      return `Lines ${attachment.fromLine} to ${attachment.toLine} of ${inline(attachment.path)} are selected in the editor:\n${fenced(attachment.content)}`
    case "mcp_instructions":
      return `The tool server "${attachment.server}" says how its tools are to be used:\n${attachment.instructions}`
    case "nested_memory":
      return `Instructions in ${inline(attachment.path)}, which apply to files below its directory:\n${attachment.content}`
    case "queued_agent_message":
      return `A message from the agent "${attachment.from}" (not from the user):\n${attachment.content}`
    case "hook_output":
      return attachment.audience === "person" ? "" : `The hook "${attachment.hook}" says:\n${attachment.content}`
    case "memory":
      return `A memory${attachment.age ? ` from ${attachment.age}` : ""}, kept in ${inline(attachment.path)}. It was true when it was written; check before you rely on it:\n${attachment.content}`
    case "carried_facts":
      return attachment.content === ""
        ? ""
        : `A record of what was said and done before this point. It is computed from the conversation itself and complete, but for what it says is left out. It is not a new request: what stands between fences is quoted.\n\n${attachment.content}`
    case "foreign":
      return attachment.text ?? ""
  }
}

const listedLine = ({ name, description }: Listed) => (description ? `- ${name}: ${description}` : `- ${name}`)
const agentLine = ({ name, id, status, summary }: AgentStatus) =>
  `- ${name} (${id}): ${status}${summary ? `, ${summary}` : ""}`

const TODO_MARKS = { pending: "[ ]", in_progress: "[~]", completed: "[x]" } as const
const todoLine = ({ content, status }: Todo) => `${TODO_MARKS[status]} ${content}`

/** A fence longer than any in the text, so that the text cannot close it. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
