/** Fixtures of the loop's end-to-end tests: a real project directory, real tools, the real SDK, the simulator over HTTP. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { onTestFinished } from "vitest"
import type { AnswerBlock } from "../../../../sim/src/responder.ts"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import type { Simulator } from "../../../../sim/src/start.ts"
import { KEY } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import type { QueryEnd, QueryEvent } from "../../../src/agent/loop/query-events.ts"
import { openAgent } from "../../../src/agent/open-agent.ts"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { bashTool } from "../../../src/agent/tools/shell/bash.ts"
import { ShellSession } from "../../../src/agent/tools/shell/shell-session.ts"
import { localUser } from "../../../src/base/owner.ts"
import { anthropicModel } from "../../../src/model/anthropic/anthropic.ts"
import { edit } from "../../../src/tools/files/edit.ts"
import { read } from "../../../src/tools/files/read.ts"
import { FileReads } from "../../../src/tools/files/read-state.ts"
import type { Tool } from "../../../src/tools/tool.ts"

export const MODEL = "claude-opus-5-5"

/** A project directory with the given files, and a home next to it. Removed after the test. */
export function project(files: Readonly<Record<string, string>> = {}): { cwd: string; dir: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "strata-loop-")))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const cwd = join(root, "project")
  mkdirSync(cwd)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true })
    writeFileSync(join(cwd, name), content)
  }
  return { cwd, dir: join(root, "home") }
}

export const codingTools = (): readonly Tool[] => [read, edit, bashTool(new ShellSession())]

/** An agent that is closed after the test. */
export async function agentFor(
  simulator: Simulator,
  where: { cwd: string; dir: string },
  options: Partial<SingleAgentOptions> = {},
): Promise<Agent> {
  const agent = await openAgent({
    model: anthropicModel({
      model: MODEL,
      apiKey: KEY,
      baseURL: simulator.url,
      random: () => 0,
      delay: async () => undefined,
    }),
    tools: codingTools(),
    reads: new FileReads(),
    env: { PATH: process.env.PATH },
    memory: { owner: localUser },
    ...where,
    ...options,
  })
  onTestFinished(() => agent.close())
  return agent
}

/** Runs a query to its end. `watch` is called with every event. */
export async function ask(
  agent: Agent,
  prompt: string | undefined,
  options: Parameters<Agent["query"]>[1] & { watch?: (event: QueryEvent) => unknown } = {},
): Promise<{ events: readonly QueryEvent[]; end: QueryEnd }> {
  const { watch, ...rest } = options
  const events: QueryEvent[] = []
  const query = agent.query(prompt, rest)
  for (;;) {
    const step = await query.next()
    if (step.done) return { events, end: step.value }
    events.push(step.value)
    if (step.value.type === "error") step.value.take() // handles the error here: the end event reports it too
    await watch?.(step.value)
  }
}

/** A turn of the responder that calls tools: `calls(["Read", { file_path: "a" }])`. */
export const calls =
  (...wanted: readonly (readonly [name: string, input: unknown])[]): ScriptedTurn =>
  (turn) => ({
    content: wanted.map(([name, input]): AnswerBlock => ({ type: "tool_use", id: turn.nextToolUseId(), name, input })),
  })

export const ofType = <T extends QueryEvent["type"]>(events: readonly QueryEvent[], type: T) =>
  events.filter((event): event is Extract<QueryEvent, { type: T }> => event.type === type)
