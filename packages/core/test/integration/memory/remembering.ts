/** Fixtures of the tests of layer 5: an agent with a memory, a responder that saves memories, and readers of the files on disk. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Answer, ResponderRequest, ResponderTurn } from "../../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../../sim/src/responders/extractive.ts"
import { type ScriptedTurn, scriptedResponder } from "../../../../sim/src/responders/scripted.ts"
import type { Simulator } from "../../../../sim/src/start.ts"
import { simulator } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { projectName } from "../../../src/base/clock.ts"
import { isForked } from "../../../src/forks/fork.ts"
import type { Decision, DecisionOf } from "../../../src/journal/entries.ts"
import { memoryDirectory } from "../../../src/journal/file/layout.ts"
import { write } from "../../../src/tools/files/write.ts"
import { agentFor, ask, codingTools, project } from "../agent/agents.ts"

export type Where = ReturnType<typeof project>
export type OnFork = (turn: ResponderTurn) => Answer | string | undefined | Promise<Answer | string | undefined>

export interface Setup {
  /** The model's answers to the conversation itself. Default: always "Done.". */
  readonly script?: readonly ScriptedTurn[]
  /** The answer to a fork. `undefined` leaves it to the responder that saves memories. */
  readonly onFork?: OnFork
  readonly where?: Where
}

export interface Stage {
  readonly sim: Simulator
  readonly where: Where
  /** The memory directory of the project. */
  readonly memory: string
  /** Requests of forks, and those of the conversations. */
  readonly forks: ResponderRequest[]
  readonly requests: ResponderRequest[]
  /** Opens a new conversation, or reopens the one with this id. */
  open(options?: Partial<SingleAgentOptions>): Promise<Agent>
}

/** One simulator, one project, any number of conversations. */
export async function stage({ script = [], onFork, where = project() }: Setup = {}): Promise<Stage> {
  const forks: ResponderRequest[] = []
  const requests: ResponderRequest[] = []
  const responder = scriptedResponder([...script])
  const sim = await simulator({
    responder: {
      name: "remembering",
      async answer(turn) {
        if (!isForked(turn.request.messages as never)) {
          requests.push(turn.request)
          return responder.answer(turn)
        }
        forks.push(turn.request)
        const given = (await onFork?.(turn)) ?? extractiveAnswer(turn) ?? "Nothing to remember."
        return typeof given === "string" ? { content: [{ type: "text", text: given }] } : given
      },
    },
  })
  return {
    ...{ sim, where, forks, requests },
    memory: memoryIn(where),
    open: (options = {}) =>
      agentFor(sim, where, {
        clock: { now: () => new Date(sim.clock.now()) },
        tools: [...codingTools(), write],
        mode: "accept-edits",
        ...options,
        settings: {
          ...options.settings,
          figures: { "background-share": 100, ...options.settings?.figures }, // the budget has its own tests
          switches: { notes: false, ...options.settings?.switches },
        },
      }),
  }
}

/** The memory directory of a project. */
export const memoryIn = ({ cwd, dir }: Where): string => memoryDirectory(dir, projectName(cwd))

/** Sends a prompt, and waits for the background work. */
export async function say(agent: Agent, prompt: string) {
  const outcome = await ask(agent, prompt)
  await agent.conversation.whenIdle()
  return outcome
}

/** The memory files, without index and history. */
export const filesIn = (memory: string): readonly string[] =>
  existsSync(memory)
    ? readdirSync(memory).filter((name) => name.endsWith(".md") && name !== "MEMORY.md" && !name.startsWith("."))
    : []

export const textsIn = (memory: string): string =>
  filesIn(memory)
    .map((name) => readFileSync(join(memory, name), "utf8"))
    .join("\n")

/** Everything below a directory, as one text. */
export function everythingIn(directory: string): string {
  if (!existsSync(directory)) return ""
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n")
}

export async function decisions<S extends Decision["subtype"]>(agent: Agent, subtype: S): Promise<DecisionOf<S>[]> {
  const found: DecisionOf<S>[] = []
  for await (const entry of agent.conversation.entries())
    if (entry.type === "strata" && entry.subtype === subtype) found.push(entry as unknown as DecisionOf<S>)
  return found
}

/** All text of a request's user messages. */
export const textOfRequest = ({ messages }: ResponderRequest): string => JSON.stringify(messages)

/** The text of a memory file that a fork writes. */
export const memoryFile = (fields: Readonly<Record<string, string>>, body: string): string =>
  `---\n${Object.entries(fields)
    .map(([key, value]) => `${key}: ${value}`)
    .join("\n")}\n---\n\n${body}\n`

/** A model that reads the index before it writes, so that the fork has a second request. */
export function lookFirst({ request, nextToolUseId }: ResponderTurn): Answer | undefined {
  const asked = request.messages.at(-1)?.content.at(-1)?.text ?? ""
  const directory = /the memory directory (\S+)\. You can write/.exec(asked)?.[1]
  if (directory === undefined) return undefined
  const input = { file_path: join(directory, "MEMORY.md") }
  return { content: [{ type: "tool_use", id: nextToolUseId(), name: "Read", input }] }
}

/** An answer that writes files into the memory directory. */
export const writing =
  (memory: () => string, files: Readonly<Record<string, string>>): OnFork =>
  (turn) => {
    const last = turn.request.messages.at(-1)
    if (last?.content.some(({ type }) => type === "tool_result")) return "Written."
    return {
      content: Object.entries(files).map(([name, content]) => ({
        type: "tool_use" as const,
        id: turn.nextToolUseId(),
        name: "Write",
        input: { file_path: join(memory(), name), content },
      })),
    }
  }
