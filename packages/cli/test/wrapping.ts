/** A simulator and a project for `strata wrap` and `strata proxy`. The simulator bills all requests. */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type Simulator, startSimulator } from "@strata/sim"
import { extractiveAnswer } from "../../sim/src/responders/extractive.ts"
import { strataHere } from "./strata-here.ts"
import { COMPILE_CACHE, MAIN } from "./strata-process.ts"

/** The wrapped program bundled with the SDK, which loads in half the time. */
export const PROGRAM = join(dirname(MAIN), "wrapped-program.js")
export const MODEL = "claude-opus-5-5"

export interface WrapResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface StartedWrap {
  readonly pid: number
  readonly ended: Promise<WrapResult>
  /** Resolves with the match in either output. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  signal(name: NodeJS.Signals): void
}

export interface WrapOptions extends AsyncDisposable {
  readonly sim: Simulator
  readonly home: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>
  start(command: readonly string[], env?: Environment): StartedWrap
  /** Runs a command as a separate process. */
  strata(args: readonly string[], env?: Environment): Promise<WrapResult>
  /**
   * Runs a command inside the test. `stdout` then contains what the wrapped program writes to the file `SAYS`, because there is no pipe.
   * Observing needs a real process, because it starts the program again for a replay.
   */
  here(args: readonly string[], env?: Environment): Promise<Omit<WrapResult, "signal">>
}

type Environment = Readonly<Record<string, string | undefined>>

/** Options. `window` is the model's window, small enough that Strata has to act. */
interface WrappingOptions {
  readonly window?: number
  /** Settings of the user. */
  readonly settings?: object
}

export async function wrapping({ window, settings = {} }: WrappingOptions = {}): Promise<WrapOptions> {
  const models = window === undefined ? {} : { models: { [MODEL]: { window } } }
  const sim = await startSimulator({
    ...models,
    responder: {
      name: "reader",
      answer: (turn) => {
        const own = extractiveAnswer(turn)
        if (own) return own
        const read = turn.request.messages.filter(({ role }) => role === "assistant").length
        const call = { type: "tool_use" as const, id: turn.nextToolUseId(), name: "look", input: {} }
        return { content: [{ type: "text", text: "I look at the next file." }, ...(read > 100 ? [] : [call])] }
      },
    },
  })
  const place = realpathSync(mkdtempSync(join(tmpdir(), "wrap-")))
  const [home, project] = [join(place, "strata"), join(place, "project")]
  mkdirSync(home)
  mkdirSync(project)
  writeFileSync(join(home, "settings.json"), JSON.stringify({ ...models, ...settings }))
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: place,
    TMPDIR: place,
    STRATA_HOME: home,
    ANTHROPIC_BASE_URL: sim.url,
    NO_COLOR: "1",
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  }
  const start: WrapOptions["start"] = (command, more = {}) =>
    startProcess(command, { cwd: project, env: { ...env, ...more } })
  return {
    ...{ sim, home, project, env, start },
    strata: (args, more) => start([process.execPath, MAIN, ...args], more).ended,
    async here(args, more = {}) {
      const SAYS = join(place, "said")
      rmSync(SAYS, { force: true })
      const ended = await strataHere(args, { cwd: project, env: { ...env, SAYS, ...more } as Record<string, string> })
      return { ...ended, stdout: ended.stdout + (existsSync(SAYS) ? readFileSync(SAYS, "utf8") : "") }
    },
    async [Symbol.asyncDispose]() {
      await sim.close()
      rmSync(place, { recursive: true, force: true })
    },
  }
}

function startProcess(
  [program, ...args]: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): StartedWrap {
  const child = spawn(program!, args, { ...options, stdio: ["ignore", "pipe", "pipe"] })
  const texts = { stdout: "", stderr: "" }
  const listeners = new Set<() => void>()
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text
      for (const listener of listeners) listener()
    })
  return {
    pid: child.pid!,
    ended: new Promise((resolve, reject) => {
      child.once("error", reject)
      child.once("close", (code, signal) => resolve({ code, signal, ...texts }))
    }),
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const match = pattern.exec(texts.stdout) ?? pattern.exec(texts.stderr)
          if (match) resolve(match)
        }
        listeners.add(check)
        child.once("close", () => reject(new Error(`It ended without saying ${pattern}: ${JSON.stringify(texts)}`)))
        check()
      }),
    signal: (name) => void child.kill(name),
  }
}
