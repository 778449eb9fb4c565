/** Labels for the kinds of attachments. */
import { pluralize } from "@strata/core/base"
import type { Attachment } from "@strata/core/messages"

const ATTACHMENT_NAMES: Readonly<Record<string, string>> = {
  agent_listing: "list of agents",
  agent_result: "report of the agent",
  agent_status: "state of the agents",
  carried_facts: "facts from the journal",
  command_output: "output of",
  compact_file_reference: "name of the file",
  deferred_tools: "tools not loaded",
  foreign: "attachment of another program",
  files_restored: "files put back",
  mcp_instructions: "instructions of the MCP server",
  mcp_prompt: "prompt of the MCP server",
  nested_memory: "instructions",
  person_command: "your command",
  queued_agent_message: "message from",
  skill_listing: "list of skills",
  standing_memory: "rules and memories",
  todo_list: "todos",
  tool_delta: "tools loaded",
}

export const attachmentName = (kind: string): string => ATTACHMENT_NAMES[kind] ?? kind.replaceAll("_", " ")

/** Labels for all attachments of a kind together, where the name of one does not fit. */
const PLURAL_NAMES: Readonly<Record<string, string>> = {
  agent_result: "reports of agents",
  command_output: "output of your commands",
  compact_file_reference: "names of files",
  file: "files",
  foreign: "attachments of another program",
  hook_output: "outputs of hooks",
  mcp_instructions: "instructions of MCP servers",
  memory: "memories",
  person_command: "your commands",
  nested_memory: "instruction files",
  queued_agent_message: "messages of agents",
  skill_content: "skills",
  system_message: "system messages",
}

export const attachmentsLabel = (kind: string): string => PLURAL_NAMES[kind] ?? attachmentName(kind)

/** `instructions src/AGENTS.md` */
export const attachmentLabel = ({ kind, about }: { readonly kind: string; readonly about: string }): string =>
  [attachmentName(kind), about].filter(Boolean).join(" ")

/** `file: src/a.ts` or `todos: 4 items`: an attachment with what it is about. */
export function attachmentTitle(attachment: Attachment): string {
  const subject = subjectOf(attachment)
  const name = attachmentName(attachment.type)
  return subject === "" ? name : `${name}: ${subject}`
}

/** What an attachment is about. Empty if its kind says everything. */
function subjectOf(attachment: Attachment): string {
  switch (attachment.type) {
    case "todo_list":
      return pluralize(attachment.todos.length, "item")
    case "skill_listing":
      return pluralize(attachment.skills.length, "skill")
    case "agent_listing":
    case "agent_status":
      return pluralize(attachment.agents.length, "agent")
    case "tool_delta":
      return listNames(attachment.added.map(({ name }) => name))
    case "deferred_tools":
      return pluralize(
        attachment.groups.reduce((sum, { names, more = 0 }) => sum + names.length + more, 0),
        "tool",
      )
    case "files_restored":
      return listNames(attachment.restored)
    case "permission_mode":
      return attachment.mode
    case "plan_mode":
      return attachment.active ? "on" : "off"
    case "date":
      return attachment.date
    case "hook_output":
      return attachment.hook
    case "mcp_instructions":
    case "mcp_prompt":
      return attachment.server
    case "queued_agent_message":
      return attachment.from
    case "command_output":
    case "person_command":
      return attachment.command
    case "foreign":
      return attachment.kind.replaceAll("_", " ")
    default:
      return "path" in attachment && attachment.path !== undefined
        ? attachment.path
        : "name" in attachment
          ? attachment.name
          : ""
  }
}

const MAX_LISTED = 6

/** `a, b and 4 more` */
export function listNames(names: readonly string[], max = MAX_LISTED): string {
  const more = names.length - max
  return `${names.slice(0, max).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}
