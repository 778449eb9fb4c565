/**
 * Attachments: what the system adds to a conversation besides the messages of the person and the model. They are data. What each says to
 * the model is in `attachment-texts`.
 */
import type { PermissionMode } from "../base/vocabulary.ts"
import type { TextBlock } from "./blocks.ts"
import type { FileChangeRecord } from "./kept-change.ts"

/** An item of the agent's list. */
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
  /** Tools that ToolSearch can load. It replaces the list before it. `tokens`: about what declaring them would take. */
  | { readonly type: "deferred_tools"; readonly groups: readonly DeferredGroup[]; readonly tokens: number }
  /** The file that is open in the person's editor. */
  | { readonly type: "editor_file"; readonly path: string }
  | {
      readonly type: "editor_selection"
      readonly path: string
      readonly fromLine: number
      readonly toLine: number
      readonly content: string
    }
  | FilesRestored
  /** A command that the person ran, and what it printed. */
  | { readonly type: "person_command"; readonly command: string; readonly content: string }
  | { readonly type: "mcp_instructions"; readonly server: string; readonly instructions: string }
  /** A text of a server that the person asked for by name, with the message after it. It is the server's, not the person's. */
  | { readonly type: "mcp_prompt"; readonly server: string; readonly prompt: string; readonly content: string }
  /** What a command printed that a slash command of the person's runs. */
  | { readonly type: "command_output"; readonly command: string; readonly content: string }
  | { readonly type: "nested_memory"; readonly path: string; readonly content: string }
  | AgentMessage
  /** What a sub-agent that works in the background came to. */
  | {
      readonly type: "agent_result"
      readonly id: string
      readonly name: string
      readonly status: "completed" | "failed" | "killed"
      readonly content: string
      /** Where all of it is, if `content` is only a part. */
      readonly handle?: string
    }
  | {
      readonly type: "hook_output"
      readonly hook: string
      readonly content: string
      readonly audience?: "model" | "person"
    }
  | RecalledMemory
  /** What is kept across conversations, at the start: how to keep more, the user's rules and preferences, the index. */
  | {
      readonly type: "standing_memory"
      readonly path: string
      readonly content: string
      /** The files whose text is in the content. */
      readonly files?: readonly string[]
    }
  /** Facts from the journal, added after a boundary. */
  | { readonly type: "carried_facts"; readonly content: string }
  /** A message of the role `system` that a caller put between the others. It is sent as it came. */
  | CallerSystemMessage
  /** A kind recorded by another program. `text` is what that program sent to the model, if anything. */
  | { readonly type: "foreign"; readonly kind: string; readonly data: unknown; readonly text?: string }
)

/** A system message of a caller that keeps its own list. */
export interface CallerSystemMessage {
  readonly type: "system_message"
  readonly message: {
    readonly role: "system"
    readonly content?: string | readonly TextBlock[]
    readonly [field: string]: unknown
  }
}

/** Files that the person had put back to an earlier state, by their whole paths. */
export interface FilesRestored {
  readonly type: "files_restored"
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  /** Files that changed since that point and stay as they are. */
  readonly left: readonly string[]
  /** The changes on disk, so that a later restore knows them. The model is not sent them. */
  readonly changes: readonly FileChangeRecord[]
}

/** A message of another agent: content, never the person's words. */
export interface AgentMessage {
  readonly type: "queued_agent_message"
  readonly from: string
  readonly content: string
  /** `<sender>#<number>`: unique, in order for each sender. */
  readonly id?: string
  readonly summary?: string
  /** A structured message: its kind, the request that it belongs to, and whether the sender agrees. */
  readonly kind?: string
  readonly request?: string
  readonly approve?: boolean
  /** How far the receiver has read the mailbox that it came from. */
  readonly cursor?: string
  /** How many messages, one answering another, led to this one. */
  readonly hops?: number
}

/** A memory, or a passage of an earlier conversation, that fits what the user said. */
export interface RecalledMemory {
  readonly type: "memory"
  readonly path: string
  readonly content: string
  readonly age?: string
  /** What it is. Default: a memory file. */
  readonly from?: "memory" | "conversation"
  /** Who said it, or where it comes from, as a phrase. */
  readonly source?: string
  /** Names in it that the code no longer has. */
  readonly gone?: readonly string[]
  /** Why it was attached: to this message, because of these words. Absent where the person had it saved just now. */
  readonly why?: { readonly message: string; readonly words: readonly string[] }
}

/** Something the model can use by its name. */
export interface NamedCapability {
  readonly name: string
  readonly description?: string
}

/** A tool that is available from now on. */
export interface AddedTool extends NamedCapability {
  /** The JSON Schema of its input, as text, where only CallTool reaches the tool. */
  readonly schema?: string
  /** ToolSearch loaded it. It stays loaded after a compaction. */
  readonly loaded?: boolean
}

/** Tools of one server. */
export interface DeferredGroup {
  /** What all names begin with. Empty for tools of the program itself. */
  readonly prefix: string
  readonly names: readonly string[]
  /** How many names are left out. */
  readonly more?: number
}

/** A sub-agent and how it is doing. */
export interface AgentStatus {
  readonly id: string
  readonly name: string
  readonly status: "running" | "completed" | "failed" | "killed"
  readonly summary?: string
}

export type AttachmentKind = Attachment["type"]
