/** The decisions about imported sub-agents, at their places among the messages: where each was started, what it cost, how it ended. */
import { uuidFrom } from "../base/ids.ts"
import type { Decision, DecisionEntry, Entry } from "../journal/entries.ts"
import type { Message, Usage, Uuid } from "../messages/messages.ts"
import type { ImportedAgent } from "./importer.ts"

export interface Placing {
  readonly messages: readonly Message[]
  readonly conversation: string
  /** The time of what has none. */
  readonly now: string
}

/** The messages with the decisions: a start follows its call, an end comes before the message that reports it. */
export function agentDecisions(agents: readonly ImportedAgent[], placing: Placing): readonly Entry[] {
  const { messages, conversation, now } = placing
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
      ...spentBy(agent).map((spent, at) => made(`spent:${at}`, place)(spent)),
      made(
        "ended",
        place,
      )({ subtype: "agent-ended", agent: agent.id, status: agent.status, summary: agent.summary, delivered: true }),
    )
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

/** One for each response. The lines of a response repeat its usage, and the last one has all of it. */
function spentBy({ id, messages, model }: ImportedAgent): readonly Decision[] {
  const bills = new Map<string, { readonly model: string; readonly usage: Usage }>()
  for (const message of messages) {
    if (message.type !== "assistant" || !message.message.usage) continue
    bills.set(message.message.id ?? message.uuid, {
      model: message.message.model ?? model,
      usage: message.message.usage,
    })
  }
  return [...bills].map(([responseId, bill]) => ({
    subtype: "spent",
    purpose: "agent",
    agent: id,
    responseId,
    ...bill,
  }))
}
