/** `strata agents`: lists and shows the agents of a conversation, follows one, and sends messages to a running one. */

import { realpath, stat } from "node:fs/promises"
import { setTimeout as pause } from "node:timers/promises"
import { type AgentDirectory, type AgentView, openAgentDirectory, type SocketReply } from "@strata/core/agent"
import { STATUS_LABELS } from "@strata/page"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { AGENTS } from "../descriptions.ts"
import type { Terminal } from "../display/terminal.ts"
import { escapeToLine, jsonForTerminal } from "../display/visible.ts"
import { interruptible } from "../run/interruption.ts"
import { chooseConversation, conversationsIn, nearestFirst } from "../stored-conversation.ts"
import { nearestTo } from "../suggestion.ts"
import { describeActivity, entryLines } from "./activity.ts"
import { listEarlierAgents } from "./earlier.ts"
import { agentPage, earlierPage, listPage } from "./page.ts"

// Opens the agents of one conversation for reading only, so the conversation may be in use.

export interface AgentDirectoryOptions extends Pick<CommandCall, "cwd" | "env"> {
  /** The start of a conversation's id. Default: the newest of this directory, else of the project. */
  readonly id?: string | undefined
  /** Prefers the newest conversation that is open. */
  readonly open?: boolean
}

export async function openDirectory({ cwd, env, id, open = false }: AgentDirectoryOptions): Promise<AgentDirectory> {
  const place = { cwd, env, alsoUnowned: true }
  if (open && id === undefined)
    for (const one of nearestFirst(await conversationsIn(place), await realpath(cwd))) {
      const agents = await openAgentDirectory(one, { env })
      if (await agents.isOpen()) return agents
    }
  return openAgentDirectory(await chooseConversation({ ...place, id, consequence: ", so it has no agents." }), { env })
}

/** Adds the current activity of each running agent, read from its own journal. */
export async function listCurrentAgents(agents: AgentDirectory): Promise<readonly AgentView[]> {
  return Promise.all(
    (await agents.list()).map(async (agent) => {
      if (agent.status !== "running") return agent
      const progress = await describeActivity(agents.newestEntries(agent.id)).catch(() => undefined)
      return progress === undefined ? agent : { ...agent, progress }
    }),
  )
}

/** Finds an agent by id or name. If two have the same name, the newer one is returned. */
export function findAgent(agents: readonly AgentView[], nameOrId: string): AgentView {
  const found = agents.findLast(({ id, name }) => id === nameOrId || name === nameOrId)
  if (found) return found
  const known = agents.map(({ id, name }) => (name === id ? id : `${id} (${name})`)).join(", ")
  throw new UsageError(
    known === ""
      ? `This conversation has started no agents, so it has no "${nameOrId}".`
      : `There is no agent "${nameOrId}" in this conversation. It has ${known}.`,
  )
}

const DONE = 0
const FAILED = 1
/** Sender of messages from a terminal. The socket's token proves the account, not that a human typed the message. */
const SENDER = "terminal"

/** Minimum and maximum number of arguments after each action, and their placeholder. */
const ACTIONS = {
  list: [0, 0, ""],
  show: [1, 1, "ID"],
  tail: [1, 1, "ID"],
  stop: [1, 1, "ID"],
  send: [2, Number.POSITIVE_INFINITY, "NAME TEXT…"],
} as const satisfies Record<string, readonly [min: number, max: number, value: string]>

type Action = keyof typeof ACTIONS

/** Used when the user asked about one conversation only. */
const NO_EARLIER_AGENTS = { agents: [], isCut: false }

const WITH_JSON: ReadonlySet<Action> = new Set(["list", "show"])

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(AGENTS, args)
  const { action, given } = parseAction(operands)
  if (values.all && action !== "list") throw new UsageError(`strata agents ${action} has no --all.`)
  if (values.json && !WITH_JSON.has(action)) throw new UsageError(`strata agents ${action} has no --json.`)
  const place = await openDirectory({ cwd, env, id: values.conversation, open: action !== "list" })
  const look = { style: terminal.style, columns: terminal.columns, isShort: terminal.isScreen }
  const print = (value: unknown, page: () => readonly string[]) => {
    terminal.print(`${values.json ? jsonForTerminal(value, 2) : page().join("\n")}\n`)
    return DONE
  }
  switch (action) {
    case "list": {
      const agents = await listCurrentAgents(place)
      const { id } = place.conversation
      const isOne = values.conversation !== undefined
      const earlier = isOne ? NO_EARLIER_AGENTS : await listEarlierAgents({ cwd, env, without: id, all: values.all })
      const listed = earlier.agents.map(({ conversation, agent }) => ({ conversation, ...agent }))
      return print({ conversation: id, agents, ...(isOne ? {} : { earlier: listed }) }, () => [
        ...listPage(agents, look),
        ...earlierPage(earlier, { ...look, now: new Date() }),
      ])
    }
    case "show": {
      const agent = findAgent(await listCurrentAgents(place), given[0]!)
      const texts = await place.texts(agent.id).catch(() => ({}))
      return print({ ...agent, ...texts }, () => agentPage({ agent, ...texts }, look))
    }
    case "tail":
      return tail(place, findAgent(await place.list(), given[0]!), terminal)
    case "stop": {
      const { id } = findAgent(await place.list(), given[0]!)
      const answer = await deliverIfOpen(place, () => place.stop(id, { from: SENDER }))
      if (!answer.accepted) return refused(answer.why)
      terminal.print(`${id} was asked to stop. Its work so far is preserved.\n`)
      return DONE
    }
    case "send": {
      const [to = "", ...words] = given
      const answer = await deliverIfOpen(place, () => place.send({ from: SENDER, to, text: words.join(" ") }))
      if (!answer.accepted) return refused(answer.why)
      terminal.print(`Sent to ${to}. It reads the message before its next request.\n`)
      return DONE
    }
  }

  function refused(why: string): number {
    terminal.complain(`${why}\n`)
    return FAILED
  }
}

/** Messages can be delivered only while a process has the conversation open. */
async function deliverIfOpen(place: AgentDirectory, deliver: () => Promise<SocketReply>): Promise<SocketReply> {
  if (await place.isOpen()) return deliver()
  const { id } = place.conversation
  return {
    accepted: false,
    why: `The conversation ${id.slice(0, 8)} is not running, so its agents are not working. Nothing was sent. To continue it: strata chat --resume ${id}`,
  }
}

function parseAction([name = "list", ...given]: readonly string[]): { action: Action; given: readonly string[] } {
  const names = Object.keys(ACTIONS) as Action[]
  const action = names.find((one) => one === name)
  if (action === undefined) {
    const near = nearestTo(name, names)
    const hint = near === undefined ? `The actions are ${names.join(", ")}.` : `Did you mean "strata agents ${near}"?`
    throw new UsageError(`strata agents has no action ${name}. ${hint}`)
  }
  const [min, max, value] = ACTIONS[action]
  if (given.length >= min && given.length <= max) return { action, given }
  const usage = `strata agents ${action}${value === "" ? "" : ` ${value}`}`
  throw new UsageError(`Use it like this: ${usage}. "strata agents --help" shows more.`)
}

/** `strata agents tail`: prints what an agent does, from its journal, until it ends. */
const POLL_MS = 250 // between two reads of the journals
const INTERRUPTED = 130 // the exit code that shells use for Ctrl-C

async function tail(agents: AgentDirectory, { id, journal }: AgentView, terminal: Terminal): Promise<number> {
  const interruption = interruptible()
  const { signal } = interruption
  let printed = 0
  let size = -1
  const printNew = async () => {
    const bytes = (await stat(journal).catch(() => undefined))?.size ?? size
    if (bytes === size) return
    size = bytes
    const lines: string[] = []
    let count = 0
    for await (const entry of agents.entries(id)) if (++count > printed) lines.push(...entryLines(entry))
    printed = count
    if (lines.length > 0) terminal.print(`${lines.join("\n")}\n`)
  }
  try {
    for (;;) {
      const now = (await agents.list()).find((agent) => agent.id === id)!
      await printNew() // after the status, so that lines written before the end are not missed
      if (now.status !== "running") {
        const how = now.summary === undefined || now.status === "completed" ? "" : `: ${now.summary}`
        terminal.complain(`- ${id} ${STATUS_LABELS[now.status]}${escapeToLine(how)}\n`)
        return DONE
      }
      await pause(POLL_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return INTERRUPTED
    }
  } finally {
    interruption.stop()
  }
}
