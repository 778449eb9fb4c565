/**
 * Fixtures of the compaction tests: an agent in a small window, and a responder that follows a script, writes summaries and takes notes.
 */

import type { Answer, ResponderRequest, ResponderTurn } from "../../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../../sim/src/responders/extractive.ts"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import type { SimulatorOptions } from "../../../../sim/src/start.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import type { QueryEvent } from "../../../src/agent/loop/query-events.ts"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { FORK_MARKER } from "../../../src/forks/fork.ts"
import type { DecisionEntry, Entry } from "../../../src/journal/entries.ts"
import type { CompactionProgress } from "../../../src/layers/layer.ts"
import { AT_ONCE } from "../../compacting.ts"
import { layeredAgent } from "../layers/conversations.ts"

export interface RecordedRequest {
  readonly request: ResponderRequest
  /** Whether the request continues the conversation, or asks for a summary or notes. */
  readonly about: "work" | "summary" | "notes"
}

export interface ResponderOptions {
  /** The answer to a request for a summary, instead of a truthful one. */
  readonly summary?: (turn: ResponderTurn) => Answer | Promise<Answer> | string | undefined
  readonly notes?: (turn: ResponderTurn) => Answer | Promise<Answer> | string | undefined
}

/** A simulator that follows this script and records every request with its purpose. */
export async function compactingSimulator(
  turns: readonly ScriptedTurn[],
  { summary, notes, ...options }: ResponderOptions & Partial<SimulatorOptions> = {},
) {
  const seen: RecordedRequest[] = []
  const script = scriptedResponder(turns, { afterLast: "repeat" })
  const sim = await simulator({
    bindThinking: "error",
    ...options,
    responder: {
      name: "compacting",
      async answer(turn) {
        const about = subjectOf(turn.request)
        seen.push({ request: turn.request, about })
        if (about === "work") return script.answer(turn)
        const own = await (about === "summary" ? summary?.(turn) : notes?.(turn))
        if (own !== undefined) return typeof own === "string" ? { content: [{ type: "text", text: own }] } : own
        return extractiveAnswer(turn) ?? { content: [{ type: "text", text: "Nothing to add." }] }
      },
    },
  })
  return { sim, seen, of: (about: RecordedRequest["about"]) => seen.filter((each) => each.about === about) }
}

/** A fork's purpose is in its directive, which its later requests still contain. A direct call has it in its last message. */
function subjectOf(request: ResponderRequest): RecordedRequest["about"] {
  const texts = request.messages.flatMap(({ content }) => content.map(({ text = "" }) => text))
  const directive = texts.find((text) => text.includes(`<${FORK_MARKER}`)) ?? lastText(request)
  if (/<summary>/.test(directive)) return "summary"
  return /session-memory|kept as a text of the conversation/.test(directive) ? "notes" : "work"
}

function lastText({ messages }: ResponderRequest): string {
  const last = messages.at(-1)?.content ?? []
  return last.map(({ text = "" }) => text).join("\n")
}

/** Notes start at 10,000 tokens. By default they start shortly before the threshold. */
export const EARLY_NOTES = { planner: "off" } as const
export const NO_NOTES = { switches: { notes: false } } as const
/** Neither notes nor the route without a model: only a model can write a summary. */
export const MODELS_ONLY = { switches: { notes: false, "compact-offline": false } } as const

export const compactingAgent = (
  sim: Parameters<typeof layeredAgent>[0],
  { window = 60_000, settings = {}, ...options }: Partial<SingleAgentOptions> & { window?: number; name?: string } = {},
) =>
  layeredAgent(sim, {
    ...options,
    settings: {
      models: { [options.name ?? "claude-opus-5-5"]: { window } },
      ...settings,
      switches: { ...AT_ONCE, "auto-memory": false, ...settings.switches }, // memory requests would consume turns of the script
    },
  })

export async function entriesOf(agent: Agent): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const entry of agent.conversation.entries()) entries.push(entry)
  return entries
}

export async function decisionsOf<S extends DecisionEntry["subtype"]>(agent: Agent, subtype: S) {
  const entries = await entriesOf(agent)
  return entries.filter(
    (entry): entry is Extract<DecisionEntry, { subtype: S }> => entry.type === "strata" && entry.subtype === subtype,
  )
}

/** A model that writes these notes whenever it is asked for notes. */
export const NOTES_OF = (words: string): Required<Pick<ResponderOptions, "notes">> => ({
  notes(turn) {
    const calls = turn.request.messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_use"))
    const path = /[^\s"'`<>]*session-memory\/[\w-]+\.md/.exec(JSON.stringify(turn.request.messages))?.[0]
    if (path === undefined || calls.some(({ id }) => id?.startsWith("toolu_notes"))) return "The notes are up to date."
    const old = "# Current State\n"
    return {
      content: [
        {
          type: "tool_use",
          id: `toolu_notes_${turn.index}`,
          name: "Edit",
          input: { file_path: path, old_string: old, new_string: `${old}${words}\n` },
        },
      ],
    }
  },
})

/** Every text of a request in order, including results and attachments. */
export const textsOf = ({ messages }: ResponderRequest): readonly string[] =>
  messages.flatMap(({ content }) =>
    content.map(
      ({ text, content: inner }) => text ?? (typeof inner === "string" ? inner : JSON.stringify(inner ?? "")),
    ),
  )

/** The messages of compactions to the user. */
export const phasesIn = (events: readonly QueryEvent[], phase: CompactionProgress["phase"]): readonly string[] =>
  events.flatMap((event) =>
    event.type === "compaction" && event.progress.phase === phase && "message" in event.progress
      ? event.progress.message
      : [],
  )
