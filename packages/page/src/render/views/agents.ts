/** The sub-agents of a conversation with state, cost and a stop button. */
import type { AgentView } from "@strata/core/agent"
import { formatDollars, formatNumber, pluralize } from "@strata/core/base"
import { STATUS_LABELS } from "../../labels/agents.ts"
import { html, type Markup } from "../markup.ts"
import { emptyState } from "./shell.ts"

export interface AgentsViewOptions {
  readonly base: string
  readonly conversation: string
  /** Whether a process has the conversation open. Agents can be stopped only in this case. */
  readonly isOpen: boolean
}

export function agentsView(agents: readonly AgentView[], place: AgentsViewOptions): Markup {
  if (agents.length === 0)
    return html`${emptyState("No sub-agents.", "The agent starts one with its Agent tool, when a task can be done on the side.")}`
  const running = agents.filter(({ status }) => status === "running").length
  return html`<p>${pluralize(agents.length, "agent")}, ${running === 0 ? "none running" : `${formatNumber(running)} running`}.</p>
<ul class="tree">${agents.map((agent) => agentMarkup(agent, place))}</ul>`
}

function agentMarkup(agent: AgentView, { base, conversation, isOpen }: AgentsViewOptions): Markup {
  const { id, name, status, description, definition, turns, dollars: paid, progress, summary, model } = agent
  const facts = [
    ...(definition === undefined ? [] : [definition]),
    model,
    pluralize(turns, "turn"),
    paid === undefined || (turns === 0 && status !== "running") ? "cost unknown" : formatDollars(paid),
  ]
  return html`<li class="agent ${status}" id="agent-${id}"><p><span class="state">${STATUS_LABELS[status]}</span> <strong>${name}</strong> ${description}</p>
<p class="soft">${facts.join(" · ")} · <a href="${base}/c/${conversation}~${id}/messages">its messages</a></p>
${progress === undefined ? undefined : html`<p>${progress}</p>`}${summary === undefined ? undefined : html`<p>${summary}</p>`}
${
  status === "running" && isOpen
    ? html`<p><button type="button" class="danger" data-post="${base}/c/${conversation}/agents/${id}/stop" data-into="result-${id}" data-asks="Stop this agent?" data-asks-more="Its work so far is preserved.">Stop</button></p>`
    : undefined
}<div id="result-${id}" aria-live="polite"></div></li>`
}
