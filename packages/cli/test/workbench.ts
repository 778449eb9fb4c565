/** A test environment for `strata`: a simulator on loopback, a separate home and project, and the command as a real process. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import {
  type AnswerBlock,
  type FaultRule,
  type Responder,
  type ScriptedTurn,
  type Simulator,
  scriptedResponder,
  startSimulator,
} from "@strata/sim"
import { haltingClock } from "./halting-clock.ts"
import { strataHere } from "./strata-here.ts"
import { COMPILE_CACHE, MAIN } from "./strata-process.ts"

export interface Workbench extends AsyncDisposable {
  readonly sim: Simulator
  readonly home: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>
  /** The command line that starts `strata`. */
  readonly command: readonly string[]
  /** Runs a command as a separate process. */
  strata(args: readonly string[], options?: StrataOptions): StrataProcess
  /** Runs a command inside the test, which takes a tenth of the time of a process. */
  here(args: readonly string[], options?: StrataOptions): Promise<CommandResult>
  /** Releases halted streams. */
  goOn(): void
}

export interface StrataOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface StrataProcess {
  readonly ended: Promise<CommandResult>
  /** Resolves when standard output contains the text. */
  printed(text: string): Promise<void>
  /** Resolves when standard error contains the text. */
  complained(text: string): Promise<void>
  signal(name: NodeJS.Signals): void
}

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface WorkbenchOptions {
  readonly turns: readonly ScriptedTurn[]
  /** Turns of other agents, by the name in brackets in their task: `[finder] Where is it?`. */
  readonly cast?: Readonly<Record<string, readonly ScriptedTurn[]>>
  readonly faults?: readonly FaultRule[]
  /** A slow stream halts after this many events. */
  readonly haltsAfter?: number
  /** Files of the project. */
  readonly files?: Readonly<Record<string, string>>
}

/** A stream that sends some events and then halts: see `haltsAfter`. */
export const HALTING = { kind: "slow-stream", delayMs: 1 } as const

export async function workbench(options: WorkbenchOptions): Promise<Workbench> {
  const { turns, cast = {}, faults = [], files = {}, haltsAfter = Number.POSITIVE_INFINITY } = options
  const clock = haltingClock(haltsAfter)
  const sim = await startSimulator({ responder: castResponder(turns, cast), faults, clock })
  const place = realpathSync(mkdtempSync(join(tmpdir(), "w-")))
  const [home, project] = [join(place, "home"), join(place, "project")]
  mkdirSync(project)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: place,
    STRATA_HOME: home,
    ANTHROPIC_BASE_URL: sim.url,
    NO_COLOR: "1",
    LANG: "C.UTF-8",
    STRATA_AUTO_MEMORY: "0", // extraction would consume turns of the script
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  }
  return {
    sim,
    home,
    project,
    env,
    command: [process.execPath, MAIN],
    strata: (args, more = {}) => start(args, { ...more, env: { ...env, ...more.env }, cwd: project }),
    here: (args, more = {}) => strataHere(args, { ...more, cwd: project, env: { ...env, ...more.env } }),
    goOn: clock.goOn,
    async [Symbol.asyncDispose]() {
      await sim.close()
      rmSync(place, { recursive: true, force: true })
    },
  }
}

function castResponder(turns: readonly ScriptedTurn[], cast: Required<WorkbenchOptions>["cast"]): Responder {
  const lead = scriptedResponder(turns)
  const others = Object.entries(cast).map(([name, own]) => ({ mark: `[${name}]`, responder: scriptedResponder(own) }))
  return {
    name: "cast",
    answer: (turn) => {
      const task = JSON.stringify(turn.request.messages[0])
      return (others.find(({ mark }) => task.includes(mark))?.responder ?? lead).answer(turn)
    },
  }
}

function start(
  args: readonly string[],
  { stdin = "", env, cwd }: StrataOptions & { readonly cwd: string },
): StrataProcess {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: env as NodeJS.ProcessEnv })
  const texts = { stdout: "", stderr: "" }
  const listeners = new Set<() => void>()
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text
      for (const listener of listeners) listener()
    })
  }
  child.stdin.end(stdin)
  const holds = (name: keyof typeof texts, text: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => texts[name].includes(text) && resolve()
      listeners.add(check)
      child.once("close", () => reject(new Error(`It ended without saying "${text}": ${JSON.stringify(texts)}`)))
      check()
    })
  return {
    ended: new Promise((resolve, reject) => {
      child.once("error", reject)
      child.once("close", (code) => resolve({ code, ...texts }))
    }),
    printed: (text) => holds("stdout", text),
    complained: (text) => holds("stderr", text),
    signal: (name) => void child.kill(name),
  }
}

/** A turn in which the model calls tools, optionally after some text. */
export function calls(tools: Readonly<Record<string, unknown>>, words = ""): ScriptedTurn {
  return ({ nextToolUseId }) => ({
    content: [
      ...(words === "" ? [] : [{ type: "text" as const, text: words }]),
      ...Object.entries(tools).map(
        ([name, input]): AnswerBlock => ({ type: "tool_use", id: nextToolUseId(), name, input }),
      ),
    ],
  })
}
