/** `/agents`: lists the agents, shows one while it works, stops it, and sends messages to it. */

import { randomUUID } from "node:crypto"
import type { QueryEvent } from "@strata/core"
import type { AgentView, Team } from "@strata/core/agent"
import { internalsOf } from "@strata/core/conversation"
import { STATUS_LABELS } from "@strata/page"
import { entryLines } from "../agents/activity.ts"
import { agentLabel, currentActivity } from "../agents/page.ts"
import { formatDollarsOrUnknown, pluralize } from "../display/numbers.ts"
import type { CommandTarget } from "./command-target.ts"
import type { DialogBody, DialogOption } from "./dialog.ts"
import { confirmAction, showList } from "./list-panel.ts"

const MAX_LINES = 400 // the journal has the rest
const LAST_PAGE = Number.MAX_SAFE_INTEGER // the last page
const SENDER = "terminal"
/** Events after which the agent's journal has new entries to show. */
const JOURNALED_EVENTS: ReadonlySet<QueryEvent["type"]> = new Set(["user", "response", "tool-result", "done"])

export async function showAgents(target: CommandTarget, argument: string): Promise<void> {
  const { team } = target.agent
  if (!team) return target.notice("The agent works alone here, because of --no-agents or the switch agents.")
  const sent = /^send\s+(\S+)\s+(.+)$/s.exec(argument)
  if (sent) return send(target, { team, to: sent[1]!, text: sent[2]! })
  if (argument !== "") return target.notice("Use /agents, or: /agents send NAME text")
  await showList(target, {
    rows: () => team.list(),
    title: (agents) => `${pluralize(agents.length, "agent")} of this conversation`,
    option: (agent) => ({ label: `└ ${agentLabel(agent)}`, hint: agentHint(agent) }),
    enter: (agent) => enterAgent(target, team, agent),
    empty: "This conversation has started no agents.",
  })
}

const agentHint = (agent: AgentView): string =>
  `${STATUS_LABELS[agent.status]}, ${pluralize(agent.turns, "turn")}, ${formatDollarsOrUnknown(agent.dollars)}: ${currentActivity(agent)}`

const BACK: DialogOption = { label: "Back to the list", letter: "b" }
const STOP: DialogOption = { label: "Stop it", letter: "x" }

/** Shows the agent's messages and keeps them up to date until the user leaves. */
export async function enterAgent(target: CommandTarget, team: Team, { id }: AgentView): Promise<void> {
  const agent = team.view(id)!
  const isActive = agent.status === "running" || agent.status === "idle"
  const title = `${id}: ${agentLabel(agent)}, ${STATUS_LABELS[agent.status]}`
  const unwatch = team.watch(id, ({ type }) => {
    if (JOURNALED_EVENTS.has(type)) void agentBody(target, id).then((body) => target.redraw(title, body))
  })
  const body = await agentBody(target, id)
  const answer = await target
    .ask({ title, body, top: LAST_PAGE, why: `Journal: ${agent.journal}`, options: isActive ? [BACK, STOP] : [BACK] })
    .finally(unwatch)
  if (answer.type === "dismissed" || answer.index === 0) return
  const question = `Stop ${id}? Its work so far is preserved, and its parent gets it.`
  if (await confirmAction(target, question, "Yes, stop it")) await team.stop(id, "The user stopped it.")
}

async function agentBody({ agent: { conversation } }: CommandTarget, id: string): Promise<DialogBody> {
  const journal = await internalsOf(conversation)
    .openAgentJournal(id)
    .catch(() => undefined)
  if (!journal) return { form: "text", text: "It has written nothing yet." }
  try {
    const lines: string[] = []
    for await (const entry of journal.entries()) lines.push(...entryLines(entry))
    return { form: "text", text: lines.slice(-MAX_LINES).join("\n") || "It has written nothing yet." }
  } finally {
    await journal.close()
  }
}

interface OutgoingMessage {
  readonly team: Team
  readonly to: string
  readonly text: string
}

/** Sends a message as content: like every message to an agent, it grants no permission. */
function send(target: CommandTarget, { team, to, text }: OutgoingMessage): void {
  const id = `${SENDER}#${randomUUID()}`
  const delivery = team.deliver({ id, from: SENDER, to, text, hops: 1 })
  target.notice(delivery.state === "refused" ? delivery.reason : `Sent to ${delivery.to.join(", ")}.`)
}
