/** `/tasks`: lists all background work of this chat, which can be stopped here. */
import type { Team } from "@strata/core/agent"
import { internalsOf } from "@strata/core/conversation"
import { agentLabel, currentActivity } from "../agents/page.ts"
import { pluralize } from "../display/numbers.ts"
import { firstLine } from "../display/text.ts"
import { escapeToLine } from "../display/visible.ts"
import type { SessionAgent } from "../session.ts"
import { enterAgent } from "./agents-panel.ts"
import type { CommandTarget } from "./command-target.ts"
import { confirmAction, showList } from "./list-panel.ts"

export interface BackgroundTask {
  /** Short name of the background task. */
  readonly label: string
  readonly about: string
  /** Sentence that is shown after the task was stopped. */
  readonly stopEffect: string
  stop(): Promise<unknown>
  /** Opens the details of the task, for an agent. */
  enter?(target: CommandTarget): Promise<void>
}

export function showTasks(target: CommandTarget): Promise<void> {
  return showList(target, {
    rows: () => tasksOf(target.agent),
    title: (tasks) => `${pluralize(tasks.length, "task")} in the background`,
    option: ({ label, about }) => ({ label: label, hint: about }),
    enter: (task) => task.enter?.(target) ?? askToStop(target, task),
    empty: "There is no background work.",
  })
}

async function askToStop(target: CommandTarget, { label, about, stopEffect, stop }: BackgroundTask): Promise<void> {
  if (!(await confirmAction(target, `Stop this? ${label}: ${about}`, "Yes, stop it"))) return
  await stop()
  target.notice(stopEffect)
}

/** Commands, then agents, then background work of the layers. */
function tasksOf({ shells, team, conversation, dreaming }: SessionAgent): readonly BackgroundTask[] {
  const commands = shells.map(({ id, command, stop }): BackgroundTask => {
    const line = escapeToLine(firstLine(command, ABOUT_CHARACTERS))
    return { label: `command ${id}`, about: line, stopEffect: `Stopped ${id}. Its output is kept.`, stop }
  })
  const internals = internalsOf(conversation)
  const layers = internals.workingLayers().flatMap((layer): readonly BackgroundTask[] => {
    const words = LAYER_TASKS[layer]
    const dream = dreaming?.state?.status === "running" ? dreaming.state : undefined
    if (!words || (layer === "dreaming" && !dream)) return [] // the layer may only be checking whether a dream is due
    const phase = layer === "dreaming" ? `: ${dream!.phase}` : ""
    return [{ ...words, about: `${words.about}${phase}`, stop: () => internals.stopLayer(layer) }]
  })
  return [...commands, ...(team ? agentTasks(team) : []), ...layers]
}

const ABOUT_CHARACTERS = 80

function agentTasks(team: Team): readonly BackgroundTask[] {
  const active = team.list().filter(({ status }) => status === "running" || status === "idle")
  return active.map((agent) => ({
    label: `agent ${agentLabel(agent)}`,
    about: currentActivity(agent),
    stopEffect: `Stopped ${agent.id}.`,
    stop: () => team.stop(agent.id, "The user stopped it."),
    enter: (target) => enterAgent(target, team, agent),
  }))
}

/** Describes the background work of each layer. Layers without lasting work are omitted. */
const LAYER_TASKS: Readonly<Record<string, Omit<BackgroundTask, "stop">>> = {
  "session-memory": {
    label: "notes",
    about: "writes its notes on this conversation",
    stopEffect: "Stopped. The notes are as they were, and are written again when they are due.",
  },
  compaction: {
    label: "summary",
    about: "prepares the summary of the next compaction",
    stopEffect: "Stopped. Another summary is written when a compaction is due.",
  },
  "auto-memory": {
    label: "memories",
    about: "looks for what is worth remembering",
    stopEffect: "Stopped. What it saved so far stays.",
  },
  dreaming: {
    label: "dream",
    about: "puts the memories in order",
    stopEffect: "Stopped. The memory is unchanged.",
  },
}
