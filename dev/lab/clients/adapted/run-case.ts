/** Runs a program once, with or without Strata, against its own simulator. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { type Simulator, startSimulator } from "@strata/sim"
import { runChild } from "../child.ts"
import { lastLine } from "../install.ts"
import { inside, writeAll } from "../try-client.ts"
import type { AdaptedCase } from "./framework.ts"
import { taskResponder } from "./task-responder.ts"

const PROCESS_TIMEOUT_MS = 5 * 60_000
const MODEL = "claude-opus-4-6"
/** Window that Strata assumes. The server accepts a million tokens, so that the same program also runs without Strata. */
const WINDOW = 60_000 // in tokens

export type AdaptedMode = "direct" | "strata"

/** Result of one run. */
export interface AdaptedRun {
  readonly requests: number
  /** Refused requests that the program did not provoke. */
  readonly refused: readonly string[]
  readonly answers: readonly string[]
  readonly faults: readonly string[]
  readonly dollars: number
  readonly compactions: number
  readonly recalls: number
}

export interface AdaptedRunOptions {
  readonly case: AdaptedCase
  readonly way: AdaptedMode
  readonly installed: string
  /** Working directory, emptied before each run so that both runs have the same paths. */
  readonly directory: string
}

export async function runCase({ case: each, way, installed, directory }: AdaptedRunOptions): Promise<AdaptedRun> {
  let provoked = 0
  const responder = taskResponder({
    next: (kind) => {
      if (kind === "refused") provoked++
      simulator.faults.add({ fault: { kind: kind === "refused" ? "overloaded" : "cut-socket" }, times: 1 })
    },
  })
  const lines: string[] = []
  const simulator: Simulator = await startSimulator({ responder, log: (line) => lines.push(line) })
  const [work, home] = [join(directory, "work"), join(directory, "home")]
  for (const path of [work, home]) {
    rmSync(path, { recursive: true, force: true })
    mkdirSync(path, { recursive: true })
  }
  const program = join(installed, "program.js")
  writeAll({ [program]: each.program })
  const printed: string[] = []
  const faults: string[] = []
  try {
    for (const words of each.processes ?? [[]]) {
      const { code, stdout, stderr } = await runChild([process.execPath, program, ...words], {
        cwd: work,
        env: {
          ...{ HOME: home, TMPDIR: work, BASE_URL: simulator.url, MODEL, ANTHROPIC_API_KEY: "sk-simulator" },
          ...{ STRATA: way === "strata" ? "1" : "", STRATA_DIR: join(directory, "strata"), WINDOW: `${WINDOW}` },
        },
        timeoutMs: PROCESS_TIMEOUT_MS,
      })
      printed.push(...stdout.split("\n"))
      const at = `${way}${words.length > 0 ? `-${words.join("-")}` : ""}`
      writeAll(inside(directory, { [`outputs/${named(each.what)}-${at}.txt`]: `${stdout}\n---\n${stderr}` }))
      faults.push(...new Set(stderr.match(/^strata: .*(?:passed through|was not sent|switched off).*$/gm)))
      if (code !== 0) faults.push(`${way} ends with ${code}: ${lastLine(stderr || stdout)}`)
    }
    const { log } = simulator
    const sent = log.filter(({ path }) => path === "/v1/messages")
    return {
      requests: sent.length,
      refused: sent
        .filter(({ status }) => status >= 400)
        .map(({ error }) => error ?? "")
        .slice(provoked),
      answers: printed.flatMap((line) => line.match(/ANSWER\[[^\]]*\]/g) ?? []),
      faults: [...faults, ...printed.filter((line) => line.startsWith("FAULT: "))],
      dollars: simulator.stats().total.dollars,
      compactions: responder.summaries.ours,
      recalls: responder.recalls.count,
    }
  } finally {
    writeAll(inside(directory, { [`outputs/${named(each.what)}-${way}-requests.txt`]: `${lines.join("\n")}\n` }))
    rmSync(join(directory, "strata"), { recursive: true, force: true })
    await simulator.close()
  }
}

const named = (what: string): string => what.replaceAll(/\W+/g, "-")
