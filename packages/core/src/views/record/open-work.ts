/** The state of the work: todos, plan, the last request, finished and open calls. The view is called `frontier` in checkpoints. */
import {
  type AgentEnding,
  type AgentKind,
  type AgentStart,
  type DecisionEntry,
  type Entry,
  isBoundaryEntry,
  isDecision,
  isMessage,
} from "../../journal/entries.ts"
import type { Attachment, Todo } from "../../messages/attachments.ts"
import {
  type Block,
  isText,
  isToolResult,
  isToolUse,
  resultBlocks,
  type ToolResult,
  textOf,
  toBlocks,
} from "../../messages/blocks.ts"
import type { FileChangeRecord } from "../../messages/file-change-record.ts"
import { type ClientMessage, identifyMessage, type MessageIdentity } from "../../messages/message-identity.ts"
import {
  type AssistantMessage,
  type CallChanges,
  contentOf,
  type FileChange,
  isRequest,
  isSyntheticError,
  type Message,
  type UserMessage,
  type Uuid,
  userText,
} from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"

// Pairs each tool call with its result as entries arrive, for the views about the effects of tools.

const CHANGE_KINDS: ReadonlySet<unknown> = new Set<FileChange["what"]>(["created", "changed", "deleted"])

export interface OpenCall {
  readonly id: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

export interface FinishedCall extends OpenCall {
  readonly uuid: Uuid
  readonly failed: boolean
  readonly output: string
  /** The files that changed on disk while it ran, if that was checked. */
  readonly changed?: readonly FileChange[]
  /** The changes of a file tool, with hashes of the contents. */
  readonly kept?: readonly FileChangeRecord[]
}

/** Adds the calls of an entry to `open` and returns those that it finishes. */
export function followCalls(open: Map<string, OpenCall>, entry: Entry): readonly FinishedCall[] {
  if (!isMessage(entry) || entry.isSidechain || (entry.type !== "assistant" && entry.type !== "user")) return []
  return [...listFinished(entry, open), ...withoutCall(entry)]
}

function listFinished(entry: AssistantMessage | UserMessage, open: Map<string, OpenCall>): readonly FinishedCall[] {
  return contentOf(entry).flatMap((block): FinishedCall[] => {
    if (isToolUse(block)) {
      open.set(block.id, { id: block.id, tool: block.name, input: asRecord(block.input) })
      return []
    }
    const call = isToolResult(block) ? open.get(block.tool_use_id) : undefined
    if (!call) return []
    open.delete(call.id)
    const result = block as ToolResult
    const changes = entry.type === "user" ? changesByCall(call, entry) : undefined
    const [changed, kept] = [readFileChanges(changes), readChangeRecords(changes)]
    return [
      {
        ...call,
        uuid: entry.uuid,
        failed: result.is_error === true,
        output: resultOutput(result),
        ...(changed.length > 0 ? { changed } : {}),
        ...(kept.length > 0 ? { kept } : {}),
      },
    ]
  })
}

/** Changes by commands that the model wrote in its text: such a message has no result. */
function withoutCall(entry: AssistantMessage | UserMessage): readonly FinishedCall[] {
  if (entry.type !== "user" || !Array.isArray(entry.filesChanged) || contentOf(entry).some(isToolResult)) return []
  const { uuid, filesChanged } = entry
  const call = { id: "", tool: "", input: {}, uuid, failed: false, output: "" }
  return filesChanged.map((changes) => ({ ...call, changed: readFileChanges(changes) }))
}

function changesByCall({ id }: OpenCall, { filesChanged }: UserMessage): Partial<CallChanges> | undefined {
  return Array.isArray(filesChanged) ? filesChanged.find((changes) => changes?.callId === id) : undefined
}

/** Reads file changes. A manually edited line may contain anything there. */
function readFileChanges(changes: Partial<CallChanges> | null | undefined): readonly FileChange[] {
  const files = changes?.files
  return Array.isArray(files)
    ? files.filter((file) => typeof file?.path === "string" && CHANGE_KINDS.has(file.what))
    : []
}

function readChangeRecords(changes: Partial<CallChanges> | undefined): readonly FileChangeRecord[] {
  const kept = changes?.kept
  return Array.isArray(kept) ? kept.filter((change) => typeof change?.path === "string") : []
}

function resultOutput(result: ToolResult): string {
  return typeof result.content === "string" ? result.content : textOf(resultBlocks(result) as readonly Block[])
}

function asRecord(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === "object" && input !== null) return input as Record<string, unknown>
  return typeof input === "string" ? { input } : {}
}

export interface WorkState {
  todos: readonly Todo[]
  plan: { active: boolean; path?: string; text?: string }
  /** The last request. */
  request?: { readonly uuid: Uuid; readonly text: string; readonly isFromAgent?: true }
  /** Whether the assistant has given a final answer to it. */
  answered: boolean
  /** Calls without a result so far. */
  readonly open: Map<string, OpenCall>
}

export const workState: Projection<WorkState> = {
  name: "frontier",
  scope: "path",
  start: () => ({ todos: [], plan: { active: false }, answered: true, open: new Map() }),
  apply(state, entry) {
    if (isDecision(entry)) followMode(state, entry)
    followState(state, entry)
    for (const call of followCalls(state.open, entry)) followCall(state, call)
    return state
  },
}

/** The agent journals each change of its mode, so the last one applies, however the mode was left. */
function followMode(state: WorkState, decision: DecisionEntry): void {
  if (decision.subtype === "session" && decision.mode !== undefined) state.plan.active = decision.mode === "plan"
}

function followState(state: WorkState, entry: Entry): void {
  if (!isMessage(entry) || entry.isSidechain) return
  if (isRequest(entry)) {
    const text = userText(entry)
    if (text.trim() === "") return
    state.request = { uuid: entry.uuid, text, ...(entry.isFromAgent ? { isFromAgent: true } : {}) }
    state.answered = false
  } else if (entry.type === "assistant") {
    state.answered = !contentOf(entry).some(isToolUse) && textOf(contentOf(entry)).trim() !== ""
  } else if (entry.type === "attachment") {
    if (entry.attachment.type === "todo_list") state.todos = entry.attachment.todos
    if (entry.attachment.type === "plan_mode") state.plan.active = entry.attachment.active
    if (entry.attachment.type === "permission_mode") state.plan.active = entry.attachment.mode === "plan"
    if (entry.attachment.type === "plan_file")
      state.plan = { ...state.plan, path: entry.attachment.path, text: entry.attachment.content }
  }
}

function followCall(state: WorkState, { tool, input, failed }: FinishedCall): void {
  if (failed) return
  if (tool === "TodoWrite" || tool === "todowrite") state.todos = todosIn(input.todos)
  else if (tool === "update_plan") state.todos = todosIn(input.plan)
  else if (tool === "EnterPlanMode") state.plan.active = true
  else if (tool === "ExitPlanMode" || tool === "exit_plan_mode") {
    const text = input.plan
    state.plan = { ...state.plan, active: false, ...(typeof text === "string" ? { text } : {}) }
  }
}

const STATUSES: ReadonlyMap<unknown, Todo["status"]> = new Map([
  ["pending", "pending"],
  ["in_progress", "in_progress"],
  ["completed", "completed"],
  ["done", "completed"],
])

function todosIn(given: unknown): readonly Todo[] {
  if (!Array.isArray(given)) return []
  return given.flatMap((item: unknown) => {
    const { content, step, status } = (item ?? {}) as { content?: unknown; step?: unknown; status?: unknown }
    const text = content ?? step
    return typeof text === "string" ? [{ content: text, status: STATUSES.get(status) ?? "pending" }] : []
  })
}

// The message list of a client that resends it, as far as this conversation has followed: the identity of each message. The view is
// called `followed` in checkpoints.

export interface ClientMessageRecord extends MessageIdentity {
  readonly uuid: Uuid
  readonly role: string
  /** Responses that only called Strata's own tools. For the client they are the start of this one. */
  readonly rounds?: readonly Uuid[]
  /** The key without the text of those: a client that wants JSON has only the last text. */
  readonly shortKey?: string
}

export interface ClientMessages {
  readonly messages: ClientMessageRecord[]
  /** The newest response as the client has it, while it may continue. */
  readonly open?: { readonly content: readonly Block[]; readonly uuids: readonly Uuid[] }
}

export const clientMessages: Projection<ClientMessages> = {
  name: "followed",
  scope: "path",
  start: () => ({ messages: [] }),
  apply(state, entry) {
    if (isDecision(entry))
      return entry.subtype === "thinking-dropped" ? withoutThinking(state, entry.inMessages) : state
    // the client has started a new list with a summary of its own
    if (isBoundaryEntry(entry)) return entry.compactMetadata?.byCaller ? { messages: [] } : state
    if (entry.type === "assistant" && (entry.hiddenCalls || state.open)) return withResponse(state, entry)
    const message = toClientMessage(entry)
    if (!message) return state
    state.messages.push({ uuid: entry.uuid, role: message.role, ...identifyMessage(message) })
    return state.open ? { messages: state.messages } : state
  },
}

/** Adds a response. The client has one response where Strata has one for each of its own tool calls, and without those calls. */
function withResponse({ messages, open }: ClientMessages, entry: AssistantMessage): ClientMessages {
  if (entry.isSidechain || isSyntheticError(entry)) return { messages, ...(open ? { open } : {}) }
  const { hiddenCalls = [] } = entry
  const seen = toBlocks(entry.message.content).filter((block) => !isToolUse(block) || !hiddenCalls.includes(block.id))
  const content = [...(open?.content ?? []), ...seen]
  const uuids = [...(open?.uuids ?? []), entry.uuid]
  if (open) messages.pop()
  const rounds = uuids.slice(0, -1)
  messages.push({
    uuid: entry.uuid,
    role: "assistant",
    ...identifyMessage({ role: "assistant", content }),
    ...(rounds.length > 0 ? { rounds, shortKey: shortKeyOf(open!.content, seen) } : {}),
  })
  return { messages, ...(hiddenCalls.length > 0 ? { open: { content, uuids } } : {}) }
}

const shortKeyOf = (before: readonly Block[], last: readonly Block[]): string =>
  identifyMessage({ role: "assistant", content: [...before.filter((block) => !isText(block)), ...last] }).key

function withoutThinking(state: ClientMessages, dropped?: readonly Uuid[]): ClientMessages {
  const withoutIt = (message: ClientMessageRecord) => {
    if (!message.thinks || (dropped && !dropped.includes(message.uuid))) return message
    const { thinks: _, ...rest } = message
    return rest
  }
  return { ...state, messages: state.messages.map(withoutIt) }
}

/** The message as the client has it. Strata's own messages are not in its list. */
function toClientMessage(entry: Message): ClientMessage | undefined {
  if (entry.isSidechain || entry.isQueued) return undefined
  if (entry.type === "attachment")
    return entry.attachment.type === "system_message" ? entry.attachment.message : undefined
  if (entry.type !== "user" && entry.type !== "assistant") return undefined
  const isOurs = entry.isMeta || (entry.type === "user" && entry.isCompactSummary) || isSyntheticError(entry)
  return isOurs && !entry.asSent ? undefined : (entry.message as ClientMessage)
}

// The agents view: the sub-agents that a conversation started, in order, how each ended, and which of their results have reached the
// conversation. It covers the entire journal, because an agent that was started on another branch exists all the same. Its result is
// due only if it was started on the path.

export interface Agents {
  /** By id, in the order in which they were started. */
  readonly roster: Map<string, AgentRecord>
  /** The last message received from each sender, by its id. */
  readonly received: Map<string, string>
  /** Position up to which the team's mailbox was read. */
  cursor?: string
  /** The maximum of hops of a message received since the last task, by the conversation or by an agent that delivered a result to it. */
  hops: number
}

export interface AgentRecord {
  readonly id: string
  readonly name: string
  readonly kind: AgentKind
  readonly description: string
  readonly definition?: string
  readonly model: string
  readonly callId: string
  readonly startedAt: string
  /** Whether it was started on the current path. */
  readonly isOnPath: boolean
  /** `running` until the journal contains its end, which a crash may have prevented. */
  status: "running" | AgentEnding
  summary?: string
  endedAt?: string
  /** Whether its result is in the conversation, as a tool result or as an attachment. */
  isDelivered: boolean
}

export const agents: Projection<Agents> = {
  name: "agents",
  scope: "journal",
  start: () => ({ roster: new Map(), received: new Map(), hops: 0 }),
  apply(state, entry, onPath = true) {
    if (isDecision(entry)) {
      if (entry.subtype === "agent-started") recordStart(state, entry, onPath)
      else if (entry.subtype === "agent-ended") {
        const record = state.roster.get(entry.agent)
        if (record?.status === "running")
          Object.assign(record, { status: entry.status, summary: entry.summary, endedAt: entry.timestamp })
        state.hops = Math.max(state.hops, entry.hops ?? 0)
        if (record && entry.delivered) record.isDelivered = true
      }
    } else if (entry.type === "attachment") recordReceived(state, entry.attachment, onPath)
    else if (entry.type === "user") {
      if (isRequest(entry)) state.hops = 0
      if (onPath && state.roster.size > 0) recordResult(state, entry)
    }
    return state
  },
}

function recordStart({ roster }: Agents, entry: AgentStart & { readonly timestamp: string }, isOnPath: boolean): void {
  const { agent: id, name, kind, description, definition, model, callId, timestamp } = entry
  if (roster.has(id)) return
  roster.set(id, {
    ...{ id, name, kind, description, model, callId, isOnPath },
    ...(definition === undefined ? {} : { definition }),
    startedAt: timestamp,
    status: "running",
    isDelivered: false,
  })
}

/** Records a received message. It counts as received on every branch, because its sender does not send it again. */
function recordReceived(state: Agents, attachment: Attachment, onPath: boolean): void {
  if (attachment.type === "queued_agent_message") {
    if (attachment.id !== undefined) state.received.set(attachment.from, attachment.id)
    if (attachment.cursor !== undefined) state.cursor = attachment.cursor
    state.hops = Math.max(state.hops, attachment.hops ?? 0)
  } else if (attachment.type === "agent_result" && onPath) {
    const record = state.roster.get(attachment.id)
    if (record) record.isDelivered = true
  }
}

function recordResult({ roster }: Agents, entry: Extract<Entry, { type: "user" }>): void {
  const calls = new Set(
    contentOf(entry)
      .filter(isToolResult)
      .map((block) => block.tool_use_id),
  )
  if (calls.size === 0) return
  for (const record of roster.values())
    if (record.kind === "wait" && calls.has(record.callId)) record.isDelivered = true
}

/** Agents that ended and whose result the conversation does not have yet, in the order in which they were started. */
export const undelivered = ({ roster }: Agents): readonly AgentRecord[] =>
  [...roster.values()].filter(({ isOnPath, isDelivered, status }) => isOnPath && !isDelivered && status !== "running")
