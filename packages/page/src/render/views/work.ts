/**
 * Background work of a project in all processes: a dream, sub-agents, requests of the layers. Each can be stopped or says how to stop it.
 */
import type { RequestSource } from "@strata/core/base"
import { formatDollars, formatTimeAgo, pluralize } from "@strata/core/base"
import { dreamProgress } from "../../labels/dreams.ts"
import type { BackgroundWork, WorkConversation } from "../../live/source.ts"
import { html, type Markup } from "../markup.ts"
import { emptyState } from "./shell.ts"

export interface WorkViewInput {
  readonly base: string
  readonly work: readonly BackgroundWork[]
  readonly now: Date
}

export function workView({ base, work, now }: WorkViewInput): Markup {
  return html`<h1>Background work</h1>${
    work.length === 0
      ? emptyState(
          "There is no background work.",
          "Dreams, sub-agents, notes, summaries and memories of this project appear here while they run.",
        )
      : html`<p>${pluralize(work.length, "task")} running.</p><ul class="tree">${work.map((one) => html`<li class="agent running">${task(one, { base, now })}</li>`)}</ul>`
  }<div id="work-result" aria-live="polite"></div>`
}

interface WorkContext {
  readonly base: string
  readonly now: Date
}

function task(one: BackgroundWork, { base, now }: WorkContext): Markup {
  switch (one.kind) {
    case "dream": {
      const { dream } = one
      const newest = dream.turns.at(-1)
      const doing = newest?.calls.at(-1) ?? newest?.text
      return html`<p><span class="state">dream</span> <strong>puts the memories of this project in order</strong></p>
<p class="soft">${[describeStart(dream.startedAt, now), dreamProgress(dream)].join(" · ")}</p>
${doing === undefined || doing === "" ? undefined : html`<p>${doing}</p>`}${stopButton({
  post: `${base}/work/dream/stop`,
  asks: "Stop the dream?",
  more: "The memories stay unchanged.",
})}`
    }
    case "agent": {
      const { agent, conversation } = one
      const { id, name, description, progress, turns, dollars: paid } = agent
      const cost = paid === undefined ? "cost unknown" : formatDollars(paid)
      const facts = [describeStart(agent.started, now), pluralize(turns, "turn"), cost]
      return html`<p><span class="state">agent</span> <strong>${name}</strong> ${description}</p>
<p class="soft">${facts.join(" · ")} · ${conversationLink(base, conversation)}</p>${progress === undefined ? undefined : html`<p>${progress}</p>`}${stopButton(
        {
          post: `${base}/c/${conversation.id}/agents/${id}/stop`,
          asks: "Stop this agent?",
          more: "Its work so far is preserved.",
        },
      )}`
    }
    case "request": {
      const { request, conversation } = one
      const facts = [...(request.at === undefined ? [] : [describeStart(request.at, now)]), request.model]
      return html`<p><span class="state">request</span> <strong>${REQUEST_LABELS[request.purpose] ?? "asks the model"}</strong></p>
<p class="soft">${facts.join(" · ")} · ${conversationLink(base, conversation)}</p>
<p class="soft">To stop it, type /tasks in that chat.</p>`
    }
  }
}

/** Descriptions of requests in the background. */
const REQUEST_LABELS: Readonly<Partial<Record<RequestSource, string>>> = {
  notes: "writes the notes of the conversation",
  compaction: "writes the summary of a compaction",
  "by-hand": "writes the summary of a compaction that you asked for",
  memory: "looks for what should be remembered",
  "keep-warm": "keeps the cache warm",
  sampling: "answers a question of an MCP server",
  search: "searches the web",
}

const describeStart = (at: string, now: Date): string => `started ${formatTimeAgo(new Date(at), now)}`

const conversationLink = (base: string, { id, title }: WorkConversation): Markup =>
  html`<a href="${base}/c/${id}">${title}</a>`

interface StopButton {
  readonly post: string
  readonly asks: string
  readonly more: string
}

const stopButton = ({ post, asks, more }: StopButton): Markup =>
  html`<p><button type="button" class="danger" data-post="${post}" data-into="work-result" data-asks="${asks}" data-asks-more="${more}">Stop</button></p>`
