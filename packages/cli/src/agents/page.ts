/** The pages of `strata agents` and the rows of `/agents`. Control characters in their texts are escaped. */

import type { AgentView } from "@strata/core/agent"
import { STATUS_LABELS } from "@strata/page"
import { shortenList } from "../display/long-list.ts"
import { formatDollarsOrUnknown, formatNumber, formatTimeAgo, pluralize } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import type { Style } from "../display/terminal.ts"
import { indent, wrapText } from "../display/text.ts"
import { escapeForTerminal, escapeToLine } from "../display/visible.ts"
import type { EarlierAgent, EarlierAgents } from "./earlier.ts"

const MAX_WIDTH = 120

export interface AgentRenderOptions {
  readonly style: Pick<Style, "bold" | "dim">
  readonly columns: number
  /** Shortens long lists, for output to a screen. */
  readonly isShort?: boolean
}

/** `finder (Explore)` */
export const agentLabel = ({ name, definition }: AgentView): string =>
  escapeToLine(definition === undefined || definition === name ? name : `${name} (${definition})`)

/** The agent's current activity, or its result once it has ended. */
export const currentActivity = ({ status, progress, summary, description }: AgentView): string =>
  escapeToLine((status === "running" ? progress : summary) ?? description)

export function listPage(
  agents: readonly AgentView[],
  { style, columns, isShort }: AgentRenderOptions,
): readonly string[] {
  if (agents.length === 0) return ["This conversation has started no agents."]
  const newest = isShort ? agents.toReversed() : agents // a shortened list shows the newest
  const { shown, rest } = shortenList(newest, { isShort, seeAll: "strata agents | less" })
  const listed = rest.length === 0 ? agents : shown
  return [
    style.bold(pluralize(agents.length, "agent")),
    "",
    ...table({
      width: Math.min(columns, MAX_WIDTH),
      titles: style.dim,
      columns: [
        { title: "id" },
        { title: "name", gives: "end" },
        { title: "kind" },
        { title: "status" },
        { title: "turns", align: "right" },
        { title: "cost", align: "right" },
        { title: "now, or how it ended", gives: "end" },
      ],
      rows: listed.map((agent) => [
        agent.id,
        agentLabel(agent),
        agent.kind,
        STATUS_LABELS[agent.status],
        formatNumber(agent.turns),
        formatDollarsOrUnknown(agent.dollars),
        currentActivity(agent),
      ]),
    }),
    ...rest.map(style.dim),
  ]
}

export interface EarlierRenderOptions extends AgentRenderOptions {
  readonly now: Date
}

/** Agents of earlier conversations, followed by the command that shows one of them. */
export function earlierPage(
  { agents, isCut }: EarlierAgents,
  { style, columns, now }: EarlierRenderOptions,
): readonly string[] {
  if (agents.length === 0) return []
  const [{ agent, conversation }] = agents as [EarlierAgent]
  return [
    "",
    style.bold("Earlier conversations"),
    "",
    ...table({
      width: Math.min(columns, MAX_WIDTH),
      titles: style.dim,
      columns: [
        { title: "conversation" },
        { title: "id" },
        { title: "name", gives: "end" },
        { title: "status" },
        { title: "cost", align: "right" },
        { title: "when" },
        { title: "how it ended", gives: "end" },
      ],
      rows: agents.map(({ conversation: id, agent: one }) => [
        id.slice(0, SHORT_ID),
        one.id,
        agentLabel(one),
        STATUS_LABELS[one.status],
        formatDollarsOrUnknown(one.dollars),
        formatTimeAgo(new Date(one.ended ?? one.started), now),
        currentActivity(one),
      ]),
    }),
    ...(isCut ? [style.dim("  … and more: strata agents --all")] : []),
    "",
    "To read one, with the path of its journal:",
    `  strata agents show ${agent.id} --conversation ${conversation.slice(0, SHORT_ID)}`,
  ]
}

const SHORT_ID = 8 // characters; enough to identify a conversation

export interface AgentDetails {
  readonly agent: AgentView
  readonly task?: string | undefined
  readonly result?: string | undefined
}

export function agentPage(
  { agent, task, result }: AgentDetails,
  { style, columns }: AgentRenderOptions,
): readonly string[] {
  const { id, kind, status, model, turns, dollars, started, ended, summary, journal } = agent
  const width = Math.min(columns, MAX_WIDTH) - 2
  const text = (whole: string) =>
    indent(
      escapeForTerminal(whole.trim())
        .split("\n")
        .flatMap((line) => (line === "" ? [""] : wrapText(line, width))),
      2,
    )
  return [
    style.bold(`${id}: ${agentLabel(agent)}, ${kind}, ${STATUS_LABELS[status]}`),
    `  model: ${escapeToLine(model)}; ${pluralize(turns, "turn")}, ${formatDollarsOrUnknown(dollars)}`,
    `  started: ${started}${ended === undefined ? "" : `; ended: ${ended}`}`,
    ...(status === "killed" && summary !== undefined ? text(summary) : []),
    `  journal: ${escapeToLine(journal)}`,
    "",
    style.bold("Task"),
    ...text(task ?? agent.description),
    ...(result === undefined || result === "" ? [] : ["", style.bold(resultTitle(status)), ...text(result)]),
  ]
}

const resultTitle = (status: AgentView["status"]): string =>
  status === "completed" ? "Result" : "The last thing it wrote"
