/** Labels for the kinds of attachments. */

const ATTACHMENT_NAMES: Readonly<Record<string, string>> = {
  agent_listing: "list of agents",
  agent_result: "report of the agent",
  agent_status: "state of the agents",
  carried_facts: "facts from the journal",
  command_output: "output of",
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
  file: "files",
  memory: "memories",
  person_command: "your commands",
  queued_agent_message: "messages of agents",
  system_message: "system messages",
}

export const attachmentsLabel = (kind: string): string => PLURAL_NAMES[kind] ?? attachmentName(kind)

/** `instructions src/AGENTS.md` */
export const attachmentLabel = ({ kind, about }: { readonly kind: string; readonly about: string }): string =>
  [attachmentName(kind), about].filter(Boolean).join(" ")
