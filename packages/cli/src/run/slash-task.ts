/** A task that is a slash command: what `/review src` sends, as in the chat. No one is there to ask, so only the rules decide what runs in it. */
import type { Attachment } from "@strata/core/messages"
import { loadOwnCommands } from "../chat/own-commands.ts"
import { ownMessage } from "../chat/own-message.ts"
import type { SessionAgent, Workspace } from "../session.ts"
import type { Task } from "./task.ts"

export type ReadyTask =
  /** `attached` comes before the text. */
  | { readonly state: "ready"; readonly task: Task; readonly attached: readonly Attachment[] }
  /** `why` is a sentence for the person. */
  | { readonly state: "not sent"; readonly why: string }

export interface SlashTask {
  readonly task: Task
  readonly agent: SessionAgent
  readonly workspace: Pick<Workspace, "root" | "env">
  readonly signal: AbortSignal
  readonly notice: (message: string) => void
}

export async function readyTask({ task, agent, workspace, signal, notice }: SlashTask): Promise<ReadyTask> {
  const { written } = task
  const asIs: ReadyTask = { state: "ready", task, attached: [] }
  if (!/^\/[^\s/]+(?:\s|$)/.test(written)) return asIs
  const { root, env } = workspace
  const commands = await loadOwnCommands({
    ...{ root, home: env.HOME, settings: agent.conversation.settings, servers: agent.servers, skills: agent.skills },
    onProblem: notice,
  })
  const dismissed = async () => ({ type: "dismissed" }) as const
  const own = await ownMessage(written, { commands, agent, ask: dismissed, asked: new Set(), isBusy: false, signal })
  if (own === undefined) {
    notice(`There is no command or skill ${written.split(/\s/, 1)[0]} here, so the task is sent as it is.`)
    return asIs
  }
  if (own.state === "not sent") return own
  const piped = task.text.slice(written.length) // what is piped follows what is written
  return { state: "ready", task: { text: own.text + piped, order: own.text, written }, attached: own.attached }
}
