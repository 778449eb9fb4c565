/** Builds an agent's entry in lists from the lead's journal and, while it works, from the running agent. */

import type { AgentRecord } from "../views/record/open-work.ts"
import type { Views } from "../views/views.ts"
import type { AgentView } from "./agent-task.ts"
import type { SubAgent } from "./sub-agent.ts"

export interface AgentViewSources {
  readonly record: AgentRecord
  /** `undefined` for agents of an earlier process. */
  readonly live: SubAgent | undefined
  readonly lead: { readonly location: string; readonly views: Views }
}

export function agentView({ record, live, lead }: AgentViewSources): AgentView {
  const { id, name, kind, description, definition, model, startedAt, endedAt, summary } = record
  const lines = [...lead.views.ledger.agents.values()].filter(({ agent }) => agent === id)
  const isPriced = lines.every(({ dollars }) => dollars !== undefined)
  return {
    ...{ id, name, kind, description, model },
    status: record.status === "running" ? (live?.status ?? "running") : record.status,
    ...(definition === undefined ? {} : { definition }),
    ...(live?.status !== "running" || live.progress === undefined ? {} : { progress: live.progress }),
    turns: live?.turns ?? lines.reduce((sum, { requests }) => sum + requests, 0),
    toolUses: live?.toolUses ?? 0,
    ...(isPriced ? { dollars: lines.reduce((sum, { dollars = 0 }) => sum + dollars, 0) } : {}),
    started: startedAt,
    ...(endedAt === undefined ? {} : { ended: endedAt }),
    ...(summary === undefined ? {} : { summary }),
    journal: agentJournalPath(lead.location, id),
  }
}

/** Sub-agents' journals are in a directory named after their lead's journal. */
export function agentJournalPath(leadLocation: string, id: string): string {
  const [, start, extension = ""] = /^(.*?)(\.jsonl)?$/s.exec(leadLocation)!
  return `${start}/subagents/${id}${extension}`
}
