/** Runs one session of Claude Code on its own simulator: plants facts and compacts repeatedly. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { planInstall } from "@strata/plugins"
import { helpfulResponder, type Responder, type ResponderTurn, type Simulator, startSimulator } from "@strata/sim"
import { runChild } from "../clients/child.ts"
import { type PlantedFact, plantedFacts } from "../planted/facts.ts"

export const WAYS = ["its own", "record", "replace"] as const
export type ClaudeMode = (typeof WAYS)[number]

export interface ClaudeTrial {
  readonly way: ClaudeMode
  readonly claude: string
  readonly root: string
  readonly compactions: number
}

export interface ClaudeSession {
  readonly way: ClaudeMode
  readonly facts: number
  /** Number of facts whose exact value is in the request after the last compaction. */
  readonly inView: number
  /** Characters of the messages in that request. */
  readonly characters: number
  /** Tokens that the first request after each compaction wrote to the cache, on average. */
  readonly firstWrite: number
  readonly requests: number
  readonly refused: number
  readonly dollars: number
}

const STRATA = fileURLToPath(new URL("../../../packages/cli/src/main.ts", import.meta.url))
const RUN_TIMEOUT_MS = 2 * 60_000
const FILLER = 16_000 // characters around a fact in a file

export async function trySession({ way, claude, root, compactions }: ClaudeTrial): Promise<ClaudeSession> {
  const seen: ResponderTurn["request"][] = []
  const simulator = await startSimulator({ responder: watching(helpfulResponder(), seen) })
  const home = mkdtempSync(join(root, "home-"))
  const work = mkdtempSync(join(root, "work-"))
  try {
    if (way !== "its own") await installPlugin(home, way)
    const facts = plantedFacts().filter(({ group }) => group === "planted")
    const say = sayer({ claude, home, work, url: simulator.url })
    const writes: number[] = []
    for (let nth = 0; nth < compactions; nth++) {
      const own = facts.filter((_, at) => at % compactions === nth)
      for (const fact of own) await say(promptFor(fact, work))
      await say("/compact")
      const before = simulator.log.length
      await say("What is next?")
      writes.push(simulator.log.slice(before).find(isAnswer)?.input?.written ?? 0)
    }
    const messages = JSON.stringify(seen.at(-1)?.messages ?? [])
    return {
      way,
      facts: facts.length,
      inView: facts.filter(({ value }) => messages.includes(value)).length,
      characters: messages.length,
      firstWrite: Math.round(writes.reduce((sum, each) => sum + each, 0) / writes.length),
      requests: simulator.log.filter(isAnswer).length,
      refused: simulator.log.filter(({ status }) => status >= 400).length,
      dollars: simulator.stats().total.dollars,
    }
  } finally {
    await simulator.close()
  }
}

const isAnswer = ({ path, status }: Simulator["log"][number]) => path.startsWith("/v1/messages") && status === 200

/** Wraps a responder so that it also records the requests of the conversation, which are those with tools. */
const watching = (responder: Responder, seen: ResponderTurn["request"][]): Responder => ({
  ...responder,
  answer(turn) {
    if ((turn.request.tools ?? []).length > 3) seen.push(turn.request)
    return responder.answer(turn)
  },
})

async function installPlugin(home: string, mode: Exclude<ClaudeMode, "its own">): Promise<void> {
  const env = { HOME: home, PATH: "/nowhere" } // an empty path, so that no client is asked for its version
  const program = [process.execPath, STRATA]
  const plan = await planInstall({ client: "claude-code", env, home: join(home, ".strata"), program, mode })
  await plan.apply()
}

/** Half of the facts are typed by the user, half are read from files. */
function promptFor({ id, kind, sentence }: PlantedFact, work: string): string {
  if (kind === "typed" || kind === "said" || kind === "input") return `Remember that ${sentence}.`
  mkdirSync(work, { recursive: true })
  const filler = "The rest of this file says nothing that matters here. ".repeat(FILLER / 110)
  writeFileSync(join(work, `${id}.txt`), `${filler}\n${sentence}\n${filler}\n`)
  return `Read ${id}.txt`
}

interface Speaking {
  readonly claude: string
  readonly home: string
  readonly work: string
  readonly url: string
}

/** Returns a function that sends prompts to the same session, one after the other. */
function sayer({ claude, home, work, url }: Speaking): (prompt: string) => Promise<void> {
  let session: string | undefined
  return async (prompt) => {
    const which = session === undefined ? [] : ["--resume", session]
    const words = ["-p", prompt, "--output-format", "json", "--model", "claude-opus-5-5", "--allowedTools", "Read"]
    const { code, stdout, stderr } = await runChild([claude, ...words, ...which], {
      cwd: work,
      env: {
        ...{ HOME: home, TMPDIR: work, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-simulator" },
        ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
      },
      timeoutMs: RUN_TIMEOUT_MS,
    })
    if (code !== 0) throw new Error(`Claude Code ended with ${code}: ${stderr || stdout}`)
    session ??= /"session_id":"([^"]+)"/.exec(stdout)?.[1]
  }
}
