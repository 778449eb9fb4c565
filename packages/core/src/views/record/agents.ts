/**
 * The agents view: the sub-agents that a conversation started, in order, how each ended, and what of them has reached the conversation.
 * It covers the whole journal, because an agent that was started on another branch was started all the same. Its result is due only
 * where the path says that it was started.
 */
import { type AgentEnding, type AgentKind, type AgentStart, type Entry, isDecision } from "../../journal/entries.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { isToolResult } from "../../messages/blocks.ts"
import { contentOf, isRequest } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"

export interface Agents {
  /** By id, in the order they were started. */
  readonly roster: Map<string, AgentRecord>
  /** The last message received from each sender, by its id. */
  readonly received: Map<string, string>
  /** How far the mailbox of the team was read. */
  cursor?: string
  /** The most hops of a message that was received since the last task, by the conversation or by an agent that brought it a result. */
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
  /** Whether the conversation as it is now started it. */
  readonly isOnPath: boolean
  /** `running` until the journal says how it ended. After a crash that may never have happened. */
  status: "running" | AgentEnding
  summary?: string
  endedAt?: string
  /** The result is in the conversation: as a tool result or as an attachment. */
  isDelivered: boolean
}

export const agents: Projection<Agents> = {
  name: "agents",
  scope: "journal",
  start: () => ({ roster: new Map(), received: new Map(), hops: 0 }),
  apply(state, entry, onPath = true) {
    if (isDecision(entry)) {
      if (entry.subtype === "agent-started") started(state, entry, onPath)
      else if (entry.subtype === "agent-ended") {
        const record = state.roster.get(entry.agent)
        if (record?.status === "running")
          Object.assign(record, { status: entry.status, summary: entry.summary, endedAt: entry.timestamp })
        state.hops = Math.max(state.hops, entry.hops ?? 0)
        if (record && entry.delivered) record.isDelivered = true
      }
    } else if (entry.type === "attachment") arrived(state, entry.attachment, onPath)
    else if (entry.type === "user") {
      if (isRequest(entry)) state.hops = 0
      if (onPath && state.roster.size > 0) answered(state, entry)
    }
    return state
  },
}

function started({ roster }: Agents, entry: AgentStart & { readonly timestamp: string }, isOnPath: boolean): void {
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

/** A message counts as received on every branch: its sender does not send it again. */
function arrived(state: Agents, attachment: Attachment, onPath: boolean): void {
  if (attachment.type === "queued_agent_message") {
    if (attachment.id !== undefined) state.received.set(attachment.from, attachment.id)
    if (attachment.cursor !== undefined) state.cursor = attachment.cursor
    state.hops = Math.max(state.hops, attachment.hops ?? 0)
  } else if (attachment.type === "agent_result" && onPath) {
    const record = state.roster.get(attachment.id)
    if (record) record.isDelivered = true
  }
}

function answered({ roster }: Agents, entry: Extract<Entry, { type: "user" }>): void {
  const calls = new Set(
    contentOf(entry)
      .filter(isToolResult)
      .map((block) => block.tool_use_id),
  )
  if (calls.size === 0) return
  for (const record of roster.values())
    if (record.kind === "wait" && calls.has(record.callId)) record.isDelivered = true
}

/** Agents that ended and whose result the conversation does not have yet, in the order they were started. */
export const undelivered = ({ roster }: Agents): readonly AgentRecord[] =>
  [...roster.values()].filter(({ isOnPath, isDelivered, status }) => isOnPath && !isDelivered && status !== "running")
