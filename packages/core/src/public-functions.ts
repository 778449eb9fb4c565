/** The functions of the package's root. Their implementation is loaded when they are called, so importing the package costs little. */
import type { Agent } from "./agent/agent.ts"
import type { Conversation } from "./conversation/conversation.ts"
import type { ListConversationsOptions, StoredConversation, StoreLocation } from "./conversation/list.ts"
import type { MemoryBankOptions, ProjectBank } from "./conversation/open-memory-bank.ts"
import type { RecallReader } from "./conversation/open-recall.ts"
import type { ConversationOptions } from "./conversation/options.ts"
import type { Entry } from "./journal/entries.ts"
import { strataDirectory } from "./journal/file/layout.ts"
import type {
  CompactedMessages,
  CompactionCarryover,
  CompactMessagesOptions,
} from "./layers/4-compaction/messages/compact-messages.ts"
import type { CompactableMessage } from "./layers/4-compaction/messages/input-messages.ts"
import type { RecordMessagesOptions } from "./layers/4-compaction/messages/record-messages.ts"
import type { ProjectSettings } from "./settings/read-with-trust.ts"
import type { SettingsInput } from "./settings/settings.ts"
import type { AgentDirectory } from "./team/agent-directory.ts"
import type { AgentDefinition } from "./team/definitions/definition.ts"
import type { AgentOptions, TeamAgent } from "./team/open-team.ts"

/**
 * Opens a conversation for your own loop: a new or a stored one. All layers are active in it.
 *
 * @example
 * await using chat = await openConversation({ model: "claude-opus-5-5", client, system, tools })
 * await chat.add("Fix the failing test")
 * const response = await client.messages.stream(await chat.prepare()).finalMessage()
 * await chat.record(response)
 */
export async function openConversation(options: ConversationOptions): Promise<Conversation> {
  const { openConversation: open } = await import("./conversation/open.ts")
  return open(options)
}

/**
 * Opens an agent that runs the loop for you: it asks the model, runs tools with permission, and stores the conversation.
 *
 * @example
 * await using agent = await openAgent({ model: "claude-opus-5-5", tools: codingTools() })
 * const { text, cost } = await agent.ask("Fix the failing test")
 */
export async function openAgent(
  options: AgentOptions & { readonly agents: true | readonly AgentDefinition[] },
): Promise<TeamAgent>
export async function openAgent(options: AgentOptions): Promise<Agent>
export async function openAgent({ agents = false, ...options }: AgentOptions): Promise<Agent> {
  if (agents === false) {
    const { openAgent: open } = await import("./agent/open-agent.ts")
    return open(options)
  }
  const { openTeamAgent } = await import("./team/open-team.ts")
  return openTeamAgent({ ...options, agents })
}

/** Compacts a message array that you keep yourself. Returns the messages to send instead, and the state to pass to the next call. */
export async function compactMessages<M extends CompactableMessage>(
  messages: readonly M[],
  options: CompactMessagesOptions = {},
): Promise<CompactedMessages<M>> {
  const { compactMessages: carried } = await import("./layers/4-compaction/messages/compact-messages.ts")
  return carried(messages, options)
}

/** Does most of the work of a later `compactMessages` in advance: records the messages, and returns the state to pass to it. */
export async function recordMessages(
  messages: readonly CompactableMessage[],
  options: RecordMessagesOptions = {},
): Promise<CompactionCarryover> {
  const { recordMessages: recorded } = await import("./layers/4-compaction/messages/record-messages.ts")
  return recorded(messages, options)
}

/** The stored conversations of a project, newest first. Pass an `id` to `openConversation` or `openAgent` to continue one. */
export async function listConversations(
  options: ListConversationsOptions = {},
): Promise<readonly StoredConversation[]> {
  const { listConversations: list } = await import("./conversation/list.ts")
  return list(options)
}

/**
 * Every entry of a stored conversation, first to last, including abandoned branches. Opens it for reading only.
 *
 * @example
 * const [newest] = await listConversations({ owner: localUser })
 * for await (const entry of readEntries(newest)) if (isMessage(entry)) console.log(entry.type, textOf(contentOf(entry)))
 */
export async function* readEntries(
  conversation: Pick<StoredConversation, "address">,
  where: StoreLocation = {},
): AsyncGenerator<Entry> {
  const { readEntries: read } = await import("./conversation/list.ts")
  yield* read(conversation, where)
}

/**
 * Opens read-only recall over a stored conversation, even if another process has it open. It answers like the Recall tool.
 *
 * @example
 * await using past = await openRecall(stored, { owner: localUser })
 * const { text } = await past.recall({ search: "the failing test" })
 */
export async function openRecall(conversation: StoredConversation, where: StoreLocation = {}): Promise<RecallReader> {
  const { openRecall: open } = await import("./conversation/open-recall.ts")
  return open(conversation, where)
}

/**
 * The settings of a project from all files, the environment and `settings`, and which of them need the user's trust.
 *
 * @example
 * const reading = await readSettings({ cwd })
 * const { state } = await reading.trust()
 * const agent = await openAgent({ model, effectiveSettings: reading.settings({ trusted: state !== "untrusted" }) })
 */
export async function readSettings(
  given: Omit<StoreLocation, "store" | "owner"> & { readonly settings?: SettingsInput } = {},
): Promise<ProjectSettings> {
  const { cwd = process.cwd(), env = process.env, settings } = given
  const { readWithTrust } = await import("./settings/read-with-trust.ts")
  return readWithTrust({ root: given.dir ?? strataDirectory(env), cwd, env, ...(settings ? { settings } : {}) })
}

/**
 * The memories of a project, to list, search and change. Every change is recorded and can be undone.
 *
 * @example
 * const bank = await openMemoryBank({ owner: localUser })
 * for (const { name, body } of await bank.all()) console.log(name, body)
 */
export async function openMemoryBank(options: MemoryBankOptions): Promise<ProjectBank> {
  const { openMemoryBank: open } = await import("./conversation/open-memory-bank.ts")
  return open(options)
}

/** The agents of a stored conversation: lists them, reads what they do, and messages them if another process has the conversation open. */
export async function openAgentDirectory(
  conversation: StoredConversation,
  where: StoreLocation = {},
): Promise<AgentDirectory> {
  const { openAgentDirectory: open } = await import("./team/agent-directory.ts")
  return open(conversation, where)
}
