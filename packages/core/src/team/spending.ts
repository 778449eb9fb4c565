/** The cost of a sub-agent's requests, for the ledger of its parent. */
import { type DecisionDraft, type Entry, isDecision } from "../journal/entries.ts"
import { estimateSpending } from "../journal/in-flight.ts"
import { newestFirst } from "../journal/newest-first.ts"
import type { Journal } from "../journal/store.ts"
import { isSyntheticError } from "../messages/messages.ts"

type Spending = Extract<DecisionDraft, { subtype: "spent" }>

export function spendingOf(entry: Entry, agent: string): Spending | undefined {
  const spent = { type: "strata", subtype: "spent", purpose: "agent", agent } as const
  if (entry.type === "strata") {
    if (entry.subtype !== "spent") return undefined
    const { model, responseId, requestId, usage, estimated, unrecorded } = entry
    const flags = { ...(estimated && { estimated }), ...(unrecorded && { unrecorded }) }
    return { ...spent, model, responseId, ...(requestId && { requestId }), usage, ...flags }
  }
  if (entry.type !== "assistant" || !entry.message.usage || isSyntheticError(entry)) return undefined
  const { id = entry.uuid, model = "unknown", usage } = entry.message
  const { requestId } = entry
  return { ...spent, model, responseId: id, ...(requestId && { requestId }), usage }
}

export interface MissingSpendingInput {
  /** Ids of the agents that were running when the process died. */
  readonly agents: readonly string[]
  /** The parent's entries, newest first. They are read back to the start of the oldest of these agents. */
  readonly parent: AsyncIterable<Entry>
  /** Rejects if the agent has no journal. */
  readonly openJournal: (agent: string) => Promise<Journal>
}

/** Finds spending of agents that is missing in the parent's journal, because the process died in between. */
export async function missingSpending({
  agents,
  parent,
  openJournal,
}: MissingSpendingInput): Promise<readonly DecisionDraft[]> {
  const known = await readRecordedResponses(parent, new Set(agents))
  const missing: Spending[] = []
  for (const agent of agents) {
    const journal = await openJournal(agent).catch(() => undefined)
    if (!journal) continue // the process died before the agent wrote anything
    try {
      const spent = await listSpending(journal, agent)
      missing.push(...spent.filter(({ responseId }) => !known.has(responseId)))
    } finally {
      await journal.close()
    }
  }
  return missing
}

async function readRecordedResponses(parent: AsyncIterable<Entry>, agents: ReadonlySet<string>): Promise<Set<string>> {
  const responses = new Set<string>()
  const unseen = new Set(agents)
  for await (const entry of parent) {
    if (!isDecision(entry)) continue
    if (entry.subtype === "spent" && agents.has(entry.agent ?? "")) responses.add(entry.responseId)
    if (entry.subtype === "agent-started") unseen.delete(entry.agent)
    if (unseen.size === 0) break
  }
  return responses
}

/**
 * Spending in chronological order, followed by requests in flight. Entries that a fork copied from its parent are excluded, because the
 * parent has recorded them.
 */
async function listSpending(journal: Journal, agent: string): Promise<readonly Spending[]> {
  const spent: Spending[] = []
  for await (const entry of newestFirst(journal)) {
    if (isDecision(entry) && entry.subtype === "branched") break
    const spending = spendingOf(entry, agent)
    if (spending) spent.push(spending)
  }
  const known = new Set(spent.map(({ responseId }) => responseId))
  const inFlight = (journal.inFlight?.unsettled() ?? [])
    .map((sent): Spending => ({ ...estimateSpending(sent), purpose: "agent", agent }))
    .filter(({ responseId }) => !known.has(responseId))
  return [...spent.reverse(), ...inFlight]
}
