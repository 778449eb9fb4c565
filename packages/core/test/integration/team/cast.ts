/** Fixtures of the team's end-to-end tests: a simulator whose answers depend on the sender, and a lead with its agents. */
import { onTestFinished } from "vitest"
import type { Answer, ResponderRequest, ResponderTurn } from "../../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../../sim/src/responders/extractive.ts"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import type { Simulator, SimulatorOptions } from "../../../../sim/src/start.ts"
import { client, simulator } from "../../../../sim/test/simulator.ts"
import { localUser } from "../../../src/base/owner.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { FORK_MARKER } from "../../../src/forks/fork.ts"
import type { Entry } from "../../../src/journal/entries.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import { type AgentOptions, openTeamAgent, type TeamAgent } from "../../../src/team/open-team.ts"
import { FileReads } from "../../../src/tools/files/read-state.ts"
import { codingTools, MODEL, project } from "../agent/agents.ts"
import { say } from "../layers/conversations.ts"

/** The turns of each role. A role is named in the task: `[tester] Run the tests.` Every other sender is the lead. */
export type Cast = Readonly<Record<string, readonly ScriptedTurn[]>> & { readonly lead: readonly ScriptedTurn[] }

export interface CastRequest {
  readonly role: string
  readonly request: ResponderRequest
}

export async function castSimulator(cast: Cast, options: Partial<SimulatorOptions> = {}) {
  const heard: CastRequest[] = []
  const scripts = new Map(Object.entries(cast).map(([role, turns]) => [role, scriptedResponder(turns)]))
  const sim = await simulator({
    ...options,
    responder: {
      name: "cast",
      async answer(turn): Promise<Answer> {
        if (asksAbout(turn)) return extractiveAnswer(turn) ?? { content: [{ type: "text", text: "Nothing to add." }] }
        const role = roleOf(turn.request, [...scripts.keys()])
        heard.push({ role, request: turn.request })
        return scripts.get(role)!.answer(turn)
      },
    },
  })
  return { sim, heard, of: (role: string) => heard.filter((each) => each.role === role) }
}

const texts = ({ messages }: ResponderRequest) =>
  messages.flatMap(({ role, content }) => (role === "user" ? content.map(({ text = "" }) => text) : []))

/** Whether the request is for a summary or notes instead of the work itself. */
function asksAbout({ request }: ResponderTurn): boolean {
  const last = texts(request).at(-1) ?? ""
  return /<summary>|session-memory/.test(last)
}

/**
 * Determines the role by the newest task: a fork has its lead's messages before its own. A lead's messages may quote tasks, so a fork's own
 * task begins a line. Progress lines are a separate role.
 */
function roleOf(request: ResponderRequest, roles: readonly string[]): string {
  if (roles.includes("progress") && texts(request).at(-1)?.includes("Write 3 to 5 words")) return "progress"
  const isFork = texts(request).some((text) => text.startsWith(`<${FORK_MARKER}>`))
  const isLead = !isFork && request.tools?.some(({ name }) => name === "Agent")
  const names = (text: string, role: string) =>
    isLead
      ? text.split("\n").some((line) => line.startsWith(`[${role}]`))
      : role !== "lead" && text.includes(`[${role}]`)
  for (const text of texts(request).toReversed()) for (const role of roles) if (names(text, role)) return role
  return "lead"
}

export interface LeadOptions extends Partial<AgentOptions> {
  /** Called with the body of every request. */
  readonly onBody?: (body: string) => void
}

export async function leadFor(sim: Simulator, { onBody, ...options }: LeadOptions = {}): Promise<TeamAgent> {
  const recording: typeof fetch = (url, init) => {
    onBody?.(String(init?.body))
    return fetch(url, init)
  }
  const agent = await openTeamAgent({
    model: anthropicModel({ model: MODEL, client: client(sim, { fetch: recording }), random: () => 0 }),
    tools: [...codingTools(), say],
    reads: new FileReads(),
    env: { PATH: process.env.PATH },
    mode: "bypass",
    memory: { owner: localUser },
    ...(options.cwd ? {} : project()),
    ...options,
    settings: { ...options.settings, switches: { "auto-memory": false, notes: false, ...options.settings?.switches } },
  })
  onTestFinished(() => agent.close())
  return agent
}

/** A call of the Agent tool. */
export const agentCall = (prompt: string, more: object = {}) =>
  ["Agent", { description: "some work", prompt, ...more }] as const

/** Simulates an earlier process of the conversation that started this many agents and got their results. */
export async function startedEarlier(sim: Simulator, count: number, options: LeadOptions): Promise<void> {
  const earlier = await leadFor(sim, options)
  const agents = Array.from({ length: count }, (_, at) => `agent-${at + 1}`)
  await engineOf(earlier.conversation).note(
    agents.flatMap((agent) => [
      {
        ...{ type: "strata", subtype: "agent-started", agent, name: agent, kind: "wait", description: "x" },
        ...{ model: MODEL, callId: agent },
      } as const,
      { type: "strata", subtype: "agent-ended", agent, status: "completed", summary: "x", delivered: true } as const,
    ]),
  )
  await earlier.close()
}

export const journalOf = ({ conversation }: TeamAgent): Promise<readonly Entry[]> => collected(conversation.entries())

/** The journal of one of the lead's agents. */
export async function agentJournalOf({ conversation }: TeamAgent, id: string): Promise<readonly Entry[]> {
  const journal = await engineOf(conversation).openAgentJournal(id)
  try {
    return await collected(journal.entries())
  } finally {
    await journal.close()
  }
}

async function collected(entries: AsyncIterable<Entry>): Promise<readonly Entry[]> {
  const all: Entry[] = []
  for await (const entry of entries) all.push(entry)
  return all
}

/** The decisions of one kind. */
export const decisions = <S extends string>(entries: readonly Entry[], subtype: S) =>
  entries.filter(
    (entry): entry is Extract<Entry, { subtype: S }> => entry.type === "strata" && entry.subtype === subtype,
  )

export const results = (entries: readonly Entry[]) =>
  entries.flatMap((entry) =>
    entry.type === "attachment" && entry.attachment.type === "agent_result" ? [entry.attachment] : [],
  )

/** Messages of other agents that a conversation received. */
export const received = (entries: readonly Entry[]) =>
  entries.flatMap((entry) =>
    entry.type === "attachment" && entry.attachment.type === "queued_agent_message" ? [entry.attachment] : [],
  )

/** A call of the SendMessage tool. */
export const send = (to: string, message: string | object) => ["SendMessage", { to, message }] as const
