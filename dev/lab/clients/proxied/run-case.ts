/** Runs a client through a case in one mode, against its own simulator. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Conversations, newSecret, startProxy } from "@strata/adapters/proxy"
import { type Simulator, startSimulator } from "@strata/sim"
import { runChild } from "../child.ts"
import { lastLine } from "../install.ts"
import type { Done, StepContext } from "../step.ts"
import { inside, writeAll } from "../try-client.ts"
import type { Case } from "./case.ts"
import { answersIn, PARTS, type ReadingResponder, readingResponder } from "./reading-responder.ts"

const PROMPT_TIMEOUT_MS = 4 * 60_000
/** Step in which simulated time advances, so that timers fire at their time. */
const STEP_MS = 15_000
const TYPING_MS = 30_000 // before a prompt
const MINUTE_MS = 60_000
/** Lines of the proxy's log about ordinary requests. */
const AS_PLANNED = /^\S+ \S+ \d{3}(?:, (?:replaced|watched))?$/

export type ProxyMode = "direct" | "observe" | "proxy"

/** Result of one run. */
export interface ProxiedRun {
  readonly requests: number
  /** Requests that the server refused, including those that the proxy then sent in another form. */
  readonly refused: readonly string[]
  readonly answers: readonly string[]
  /** Reason why the run ended early. */
  readonly failure?: string
  readonly dollars: number
  readonly compactions: ReadingResponder["summaries"]
  readonly conversations: number
  /** Requests of conversations that the proxy sent unchanged, and its log messages. */
  readonly problems: readonly string[]
}

export interface ProxiedRunOptions {
  readonly case: Case
  readonly way: ProxyMode
  readonly installed: string
  readonly version: string
  /** Working directory, emptied before each run so that all runs have the same paths. */
  readonly directory: string
}

export async function runCase({
  case: each,
  way,
  installed,
  version,
  directory,
}: ProxiedRunOptions): Promise<ProxiedRun> {
  const responder = readingResponder()
  const lines: string[] = []
  const simulator = await startSimulator({ responder, log: (line) => lines.push(line) })
  const problems: string[] = []
  const address = way === "direct" ? direct(simulator) : await viaProxy(simulator, { way, directory, problems })
  try {
    const { work, place: context } = prepared(directory, { installed, url: address.url })
    writeAll({ ...inside(work, PARTS), ...each.files?.(context) })
    const done: Done[] = []
    const answers: string[] = []
    let failure: string | undefined
    for (const prompt of each.prompts) {
      responder.begin(prompt.calls)
      const { code, stdout, stderr } = await runChild(prompt.command(context, done), {
        cwd: work,
        env: {
          ...{ HOME: context.home, TMPDIR: work, ANTHROPIC_BASE_URL: context.url, ANTHROPIC_API_KEY: "sk-simulator" },
          ...each.env,
        },
        timeoutMs: PROMPT_TIMEOUT_MS,
      })
      writeAll(inside(directory, { [`outputs/${way}-${done.length + 1}.txt`]: `${stdout}\n---\n${stderr}` }))
      const found = answersIn(stdout)
      if (code !== 0 || (found.length === 0 && !prompt.isSilent)) {
        failure = `${prompt.what}: ${lastLine(stderr || stdout)}`
        break
      }
      answers.push(...found.slice(-1)) // after a compaction of its own a client may answer twice
      done.push({ stdout, version, forked: prompt.forks ?? false })
      for (let passed = 0; passed < TYPING_MS + each.pauseMinutes * MINUTE_MS; passed += STEP_MS) {
        await address.settled()
        simulator.clock.advance(STEP_MS)
      }
    }
    const conversations = await address.close()
    writeAll(inside(directory, { [`outputs/${way}-requests.txt`]: `${lines.join("\n")}\n` }))
    return {
      requests: simulator.log.filter(({ path }) => path === "/v1/messages").length,
      refused: refusals(simulator),
      answers,
      ...(failure === undefined ? {} : { failure }),
      dollars: simulator.stats().total.dollars,
      compactions: responder.summaries,
      conversations,
      problems,
    }
  } finally {
    await address.close()
    await simulator.close()
  }
}

interface ServerAddress {
  readonly url: string
  settled(): Promise<void>
  /** Closes the proxy and resolves with its number of conversations. */
  close(): Promise<number>
}

const direct = (simulator: Simulator): ServerAddress => ({
  url: simulator.url,
  settled: async () => undefined,
  close: async () => 0,
})

const refusals = ({ log }: Simulator): readonly string[] =>
  log.filter(({ path, status }) => path === "/v1/messages" && status >= 400).map(({ error }) => error ?? "")

interface Behind {
  readonly way: ProxyMode
  readonly directory: string
  readonly problems: string[]
}

async function viaProxy(simulator: Simulator, { way, directory, problems }: Behind): Promise<ServerAddress> {
  const { url: upstream, clock } = simulator
  const dir = join(directory, "strata")
  rmSync(dir, { recursive: true, force: true })
  const plans = new Conversations({
    upstream,
    cwd: join(directory, "work"),
    env: {},
    dir,
    observe: way === "observe",
    clock: timerClock(clock),
    log: (line) => {
      if (!/: compaction, /.test(line)) problems.push(line)
    },
  })
  const onLog = (line: string) => {
    if (!AS_PLANNED.test(line)) problems.push(line)
  }
  const proxy = await startProxy({ upstream, plans, secret: newSecret(), onLog })
  let conversations: number | undefined
  return {
    url: proxy.url,
    async settled() {
      await new Promise((resolve) => setImmediate(resolve)) // wait until the clock's timers have run
      for (const chat of await plans.open()) await chat.whenIdle()
    },
    async close() {
      if (conversations !== undefined) return conversations
      const rows = await plans.status()
      writeAll(inside(directory, { [`outputs/${way}-status.json`]: JSON.stringify(rows, null, 2) }))
      conversations = rows.length
      await proxy.close()
      await plans.close()
      return conversations
    },
  }
}

/** Adapts the simulator's clock to the proxy's timers. */
const timerClock = (clock: Simulator["clock"]) => ({
  now: () => new Date(clock.now()),
  after(ms: number, call: () => void) {
    const stop = new AbortController()
    void clock.sleep(ms, stop.signal).then(() => {
      if (!stop.signal.aborted) call()
    })
    return () => stop.abort()
  },
})

function prepared(directory: string, { installed, url }: Pick<StepContext, "installed" | "url">) {
  const work = join(directory, "work")
  const context: StepContext = { installed, home: join(directory, "home"), url }
  for (const path of [work, context.home]) {
    rmSync(path, { recursive: true, force: true })
    mkdirSync(path, { recursive: true })
  }
  return { work, place: context }
}
