/**
 * Inserts decisions into the messages of an imported conversation: the start, cost and end of sub-agents, and costs that no message
 * carries.
 */

import type { DecisionEntry, Usage, Uuid } from "@strata/core"
import { uuidFrom } from "@strata/core/base"
import type { Message } from "@strata/core/messages"
import type { Decision, Entry } from "@strata/core/store"
import { listActiveBranch } from "./active-branch.ts"
import type { ImportedAgent, ImportedConversation } from "./importer.ts"

export interface EntryPlacement {
  readonly messages: readonly Message[]
  readonly conversation: string
  /** Timestamp for entries whose time is unknown. */
  readonly now: string
}

export interface PlacedEntries {
  /** The active branch, with the decisions. */
  readonly entries: readonly Entry[]
  /** Messages of abandoned branches. They cost money but do not fill the window. */
  readonly aside: readonly Entry[]
}

/** The entries of an imported conversation, as views read them, without a journal. */
export function placedEntries(imported: ImportedConversation): PlacedEntries {
  const { messages, id } = imported
  const path = listActiveBranch(messages)
  const onPath = new Set(path)
  const now = messages.at(-1)?.timestamp ?? new Date(0).toISOString()
  return {
    entries: importedEntries(imported, { messages: path, conversation: id, now }),
    aside: messages.filter((message) => !onPath.has(message)),
  }
}

type ImportedCosts = Pick<ImportedConversation, "agents" | "spent">

/** Inserts each agent's start after the call that started it, and its end before the message that reports it. */
export function importedEntries(
  { agents = [], spent = [] }: ImportedCosts,
  placement: EntryPlacement,
): readonly Entry[] {
  const { messages, conversation, now } = placement
  if (agents.length + spent.length === 0) return messages
  const billed = new Set(messages.flatMap(billIn))
  const byUuid = new Map(messages.map((message) => [message.uuid, message]))
  const after = new Map<Uuid, DecisionEntry[]>()
  const before = new Map<Uuid, DecisionEntry[]>()
  const first: DecisionEntry[] = []
  const last: DecisionEntry[] = []
  const newest = messages.at(-1)
  for (const agent of agents) {
    const made = (name: string, { parentUuid, timestamp }: Pick<DecisionEntry, "parentUuid" | "timestamp">) => {
      const uuid = uuidFrom(`${conversation}:${agent.id}:${name}`)
      return (decision: Decision) => ({ type: "strata", uuid, parentUuid, timestamp, ...decision }) as DecisionEntry
    }
    const call = byUuid.get(agent.startedIn ?? "")
    const start = made("started", {
      parentUuid: call?.uuid ?? null,
      timestamp: call?.timestamp ?? agent.messages[0]?.timestamp ?? now,
    })
    listAt(after, call?.uuid, first).push(start(startOf(agent)))
    const end = byUuid.get(agent.endedIn ?? "")
    const place = {
      parentUuid: (end ? end.parentUuid : newest?.uuid) ?? null,
      timestamp: (end ?? agent.messages.at(-1))?.timestamp ?? now,
    }
    listAt(before, end?.uuid, last).push(
      ...spentBy(agent, billed).map((spent, at) => made(`spent:${at}`, place)(spent)),
      made(
        "ended",
        place,
      )({ subtype: "agent-ended", agent: agent.id, status: agent.status, summary: agent.summary, delivered: true }),
    )
  }
  for (const [at, { after: uuid, ...bill }] of spent.entries()) {
    const place = byUuid.get(uuid ?? "")
    listAt(after, place?.uuid, first).push({
      ...{ type: "strata", subtype: "spent", uuid: uuidFrom(`${conversation}:spent:${at}`) },
      ...{ parentUuid: place?.uuid ?? null, timestamp: place?.timestamp ?? now },
      ...bill,
    })
  }
  const placed = messages.flatMap((message): readonly Entry[] => [
    ...(before.get(message.uuid) ?? []),
    message,
    ...(after.get(message.uuid) ?? []),
  ])
  return [...first, ...placed, ...last]
}

function listAt(
  lists: Map<Uuid, DecisionEntry[]>,
  uuid: Uuid | undefined,
  otherwise: DecisionEntry[],
): DecisionEntry[] {
  if (uuid === undefined) return otherwise
  const list = lists.get(uuid) ?? []
  lists.set(uuid, list)
  return list
}

const startOf = ({ id, name, kind, description, definition, model, callId }: ImportedAgent): Decision => ({
  subtype: "agent-started",
  ...{ agent: id, name, kind, description, model, callId },
  ...(definition === undefined ? {} : { definition }),
})

/**
 * Returns one cost entry per response. The lines of a response repeat its usage, and the last one is complete. A fork's file may begin with
 * a copy of its parent's conversation, whose responses are in `billed` already.
 */
function spentBy({ id, messages, model, purpose }: ImportedAgent, billed: Set<string>): readonly Decision[] {
  const bills = new Map<string, { readonly model: string; readonly usage: Usage; readonly requestId?: string }>()
  for (const message of messages) {
    const usage = message.type === "assistant" ? message.message.usage : undefined
    if (message.type !== "assistant" || !usage) continue
    const responseId = message.message.id ?? message.uuid
    if (billed.has(responseId)) continue
    const { requestId, message: answer } = message
    bills.set(responseId, { model: answer.model ?? model, usage, ...(requestId === undefined ? {} : { requestId }) })
  }
  for (const responseId of bills.keys()) billed.add(responseId)
  const about = { subtype: "spent", purpose: purpose ?? "agent", agent: id } as const
  return [...bills].map(([responseId, bill]) => ({ ...about, responseId, ...bill }))
}

const billIn = (message: Message): readonly string[] =>
  message.type === "assistant" && message.message.usage ? [message.message.id ?? message.uuid] : []
