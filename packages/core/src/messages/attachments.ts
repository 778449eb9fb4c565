/**
 * Attachments: data that the system adds to a conversation, besides the messages of the user and the model. `attachment-texts.ts` has
 * the text of each for the model.
 */
import type { PermissionMode } from "../base/enums.ts"
import type { TextBlock } from "./blocks.ts"
import type { FileChangeRecord } from "./file-change-record.ts"

/** An item of the agent's todo list. */
export interface Todo {
  readonly content: string
  readonly status: "pending" | "in_progress" | "completed"
}

/** Context that neither the user nor the model wrote. `type` says which kind. */
export type Attachment = { readonly belongsTo?: string } & (
  | { readonly type: "file"; readonly path: string; readonly content: string }
  | { readonly type: "compact_file_reference"; readonly path: string }
  | { readonly type: "todo_list"; readonly todos: readonly Todo[] }
  | { readonly type: "plan_file"; readonly path: string; readonly content: string }
  | { readonly type: "plan_mode"; readonly active: boolean; readonly path?: string }
  /** The permission mode from here on. `before`: the mode that the model knew until now. */
  | { readonly type: "permission_mode"; readonly mode: PermissionMode; readonly before?: PermissionMode }
  /** The day from here on, as YYYY-MM-DD. */
  | { readonly type: "date"; readonly date: string }
  | { readonly type: "skill_content"; readonly name: string; readonly content: string }
  | { readonly type: "skill_listing"; readonly skills: readonly NamedCapability[] }
  | { readonly type: "agent_status"; readonly agents: readonly AgentStatus[] }
  | { readonly type: "agent_listing"; readonly agents: readonly NamedCapability[] }
  | { readonly type: "tool_delta"; readonly added: readonly AddedTool[]; readonly removed: readonly string[] }
  /** Tools that ToolSearch can load. Replaces the previous list. `tokens`: about how many tokens their declarations would take. */
  | { readonly type: "deferred_tools"; readonly groups: readonly DeferredGroup[]; readonly tokens: number }
  /** The file that is open in the user's editor. */
  | { readonly type: "editor_file"; readonly path: string }
  | {
      readonly type: "editor_selection"
      readonly path: string
      readonly fromLine: number
      readonly toLine: number
      readonly content: string
    }
  | FilesRestored
  /** A command that the user ran, and its output. `person_command` is its name on disk. */
  | { readonly type: "person_command"; readonly command: string; readonly content: string }
  | { readonly type: "mcp_instructions"; readonly server: string; readonly instructions: string }
  /** A prompt of an MCP server that the user asked for by name. The text is the server's, not the user's. The user's message follows. */
  | { readonly type: "mcp_prompt"; readonly server: string; readonly prompt: string; readonly content: string }
  /** The output of a command that runs as part of one of the user's slash commands. */
  | { readonly type: "command_output"; readonly command: string; readonly content: string }
  | { readonly type: "nested_memory"; readonly path: string; readonly content: string }
  | AgentMessage
  /** The result of a sub-agent that ran in the background. */
  | {
      readonly type: "agent_result"
      readonly id: string
      readonly name: string
      readonly status: "completed" | "failed" | "killed"
      readonly content: string
      /** The handle of the full result, if `content` is only a part of it. */
      readonly handle?: string
    }
  | {
      readonly type: "hook_output"
      readonly hook: string
      readonly content: string
      readonly audience?: "model" | "person"
    }
  | RecalledMemory
  /** Memory at the start of a conversation: how to save memories, the user's rules and preferences, and the index. */
  | {
      readonly type: "standing_memory"
      readonly path: string
      readonly content: string
      /** The files whose text is part of the content. */
      readonly files?: readonly string[]
    }
  /** Facts computed from the journal, added after a boundary. */
  | { readonly type: "carried_facts"; readonly content: string }
  /** A message with the role `system` that a client put between the others. It is sent unchanged. */
  | ClientSystemMessage
  /** A kind that another program recorded. `text` is what that program sent to the model, if anything. */
  | { readonly type: "foreign"; readonly kind: string; readonly data: unknown; readonly text?: string }
)

/** A system message of a client that resends its own message list. */
export interface ClientSystemMessage {
  readonly type: "system_message"
  readonly message: {
    readonly role: "system"
    readonly content?: string | readonly TextBlock[]
    readonly [field: string]: unknown
  }
}

/** Files that the user had restored to an earlier state, with absolute paths. */
export interface FilesRestored {
  readonly type: "files_restored"
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  /** Files that changed since that point and were not restored. */
  readonly left: readonly string[]
  /** The changes on disk, for a later restore. The model does not receive them. */
  readonly changes: readonly FileChangeRecord[]
}

/** A message of another agent. It is content, never the user's request. */
export interface AgentMessage {
  readonly type: "queued_agent_message"
  readonly from: string
  readonly content: string
  /** `<sender>#<number>`: unique, and increasing for each sender. */
  readonly id?: string
  readonly summary?: string
  /** For a structured message: its kind, the id of the request it belongs to, and whether the sender agrees. */
  readonly kind?: string
  readonly request?: string
  readonly approve?: boolean
  /** Position in the mailbox up to which the receiver has read. */
  readonly cursor?: string
  /** Number of messages, each answering the one before, that led to this one. */
  readonly hops?: number
}

/** A memory, or a passage of an earlier conversation, that is relevant to the user's message. */
export interface RecalledMemory {
  readonly type: "memory"
  readonly path: string
  readonly content: string
  readonly age?: string
  /** Kind of source. Default: a memory file. */
  readonly from?: "memory" | "conversation"
  /** A phrase that names who wrote it or where it comes from. */
  readonly source?: string
  /** Names in the memory that the code no longer contains. */
  readonly gone?: readonly string[]
  /** Why the memory was attached: the message it matched, and the matching terms. Absent if the user has just had it saved. */
  readonly why?: { readonly message: string; readonly words: readonly string[] }
}

/** A capability that the model can use by name, such as a skill or an agent. */
export interface NamedCapability {
  readonly name: string
  readonly description?: string
}

/** A tool that is available from now on. */
export interface AddedTool extends NamedCapability {
  /** The JSON Schema of the tool's input, as text, if the tool can only be reached through CallTool. */
  readonly schema?: string
  /** Whether ToolSearch loaded the tool. It then stays loaded after a compaction. */
  readonly loaded?: boolean
}

/** The deferred tools of one server. */
export interface DeferredGroup {
  /** The prefix of all names. Empty for the program's own tools. */
  readonly prefix: string
  readonly names: readonly string[]
  /** Number of names that were omitted. */
  readonly more?: number
}

/** A sub-agent and its current status. */
export interface AgentStatus {
  readonly id: string
  readonly name: string
  readonly status: "running" | "completed" | "failed" | "killed"
  readonly summary?: string
}

export type AttachmentKind = Attachment["type"]
