/** Everything that the screen shows about a conversation apart from messages: status, queue, title, notes and compactions. */
import { type Agent, textOf } from "@strata/core"
import type { AgentView } from "@strata/core/agent"
import { internalsOf } from "@strata/core/conversation"
import type { PlannerReport } from "@strata/core/policy"
import { FIGURES, type FigureName, SWITCHES, type SwitchName } from "@strata/core/settings"
import { summarise } from "../display/ledger.ts"
import type { SessionAgent } from "../session.ts"
import type { CompactionState, NotesState } from "./notes-state.ts"
import type { FillLevel, Item, QueuedInput, Status } from "./state.ts"

/** Sub-agents that are working now. A teammate that waits for a message is not. */
export const workingAgents = ({ team }: SessionAgent): readonly AgentView[] =>
  team?.list().filter(({ status }) => status === "running") ?? []

const LEVELS: Readonly<Record<ReturnType<Agent["conversation"]["windowUsage"]>["state"], FillLevel>> = {
  ...{ fine: "fine", warning: "warning" },
  ...{ compact: "error", blocked: "error" },
}

export function statusOf(agent: SessionAgent): Status {
  const { conversation: chat, model, mode, dreaming } = agent
  const agents = workingAgents(agent).length
  const { percentLeft, state } = chat.windowUsage()
  const { dollars, unpriced, byPurpose } = summarise(internalsOf(chat).views.ledger)
  return {
    model: model.name,
    mode,
    percentLeft,
    fill: LEVELS[state],
    dollars,
    isPriceIncomplete: unpriced.length > 0,
    turns: byPurpose.find(({ purpose }) => purpose === "main")?.requests ?? 0,
    ...(agents === 0 ? {} : { agents }),
    ...(dreaming?.state?.status === "running" ? { dream: dreaming.state.phase } : {}),
  }
}

/** Messages typed while the agent works, until they are delivered. */
export function queuedOf({ conversation: chat }: Agent): readonly QueuedInput[] {
  return internalsOf(chat).views.context.queued.flatMap((message) =>
    message.type === "user" ? [{ uuid: message.uuid, text: textOf(message.message.content) }] : [],
  )
}

export function headingOf({ conversation: chat }: Agent, cwd: string): Item {
  if (chat.userMessages().messages.length === 0)
    return { kind: "heading", text: `Strata in ${cwd}. Type a task, or /help.` }
  const title = internalsOf(chat).views.context.session?.title ?? "Untitled conversation"
  return { kind: "heading", text: `${title} (${chat.id.slice(0, 8)})` }
}

export function compactionStateOf({ conversation: chat }: Agent): CompactionState {
  const { views, planner } = internalsOf(chat)
  const { count, failures } = views.compactions
  const { autoCompact, limit } = chat.thresholds
  return {
    count,
    prepared: chat.preparedCompaction,
    failures,
    maxFailures: flagValue(chat, "compact-failures"),
    at: limit === autoCompact ? autoCompact : undefined,
    plannedAt: plannedSize(planner().compaction),
    mayByHand: !chat.settings.values.off && !chat.settings.values.disableCompact,
  }
}

/** The smallest size at which the planner may compact. */
const plannedSize = (planned: PlannerReport["compaction"]): number | undefined =>
  planned?.where === "between-requests" ? planned.from : planned?.at

export function notesStateOf({ conversation: chat }: Agent): NotesState {
  const { views, planner } = internalsOf(chat)
  const { path, tokens = 0, throughUuid } = views.notes
  if (throughUuid === undefined) {
    const first = Math.max(flagValue(chat, "notes-start"), plannedSize(planner().compaction) ?? 0)
    return isSwitchedOn(chat, "notes") ? { kind: "none", first } : { kind: "off" }
  }
  const messages = views.context.storedMessages()
  const at = messages.findIndex(({ uuid }) => uuid === throughUuid)
  return {
    kind: "taken",
    ...(path === undefined ? {} : { path }),
    tokens,
    ...(at < 0 ? {} : { after: messages.length - 1 - at }),
  }
}

function flagValue({ settings }: Agent["conversation"], name: FigureName): number {
  return settings.values.figures[name] ?? FIGURES.find((figure) => figure.name === name)!.value
}

function isSwitchedOn({ settings }: Agent["conversation"], name: SwitchName): boolean {
  return settings.values.switches[name] ?? SWITCHES.find((flag) => flag.name === name)!.on
}
