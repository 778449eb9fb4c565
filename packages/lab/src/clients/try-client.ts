/** Runs one client against a simulator of its own, and compares the bills where the client prints one. */
import { globSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { helpfulBrain, type Simulator, startSimulator } from "@strata/sim"
import { type ChildResult, runChild } from "./child.ts"
import { lastLine } from "./install.ts"
import type { Client, Place } from "./list.ts"

const RUN_TIMEOUT_MS = 3 * 60_000
const STRATA = fileURLToPath(new URL("../../../cli/src/main.ts", import.meta.url))
const CENT = 0.005 // dollars; bills that differ by less are the same to the cent

export interface Row {
  readonly client: string
  readonly version: string
  readonly task: string
  readonly result: string
  readonly works: boolean
  readonly requests?: number
  readonly refused?: number
}

export interface Trial {
  readonly client: Client
  readonly version: string
  readonly installed: string
  /** Where the client's home and its work are made. */
  readonly root: string
}

export async function tryClient({ client, version, installed, root }: Trial): Promise<readonly Row[]> {
  const simulator = await startSimulator({ brain: helpfulBrain() })
  try {
    const home = mkdtempSync(join(root, "home-"))
    const work = mkdtempSync(join(root, "work-"))
    const place: Place = { installed, home, url: simulator.url }
    writeFileSync(join(work, "notes.txt"), "the answer is 42\n")
    for (const [path, text] of Object.entries(client.files(place))) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
    const run = await runChild(client.command(place), {
      cwd: work,
      env: {
        HOME: home,
        TMPDIR: work,
        ANTHROPIC_BASE_URL: simulator.url,
        ANTHROPIC_API_KEY: "sk-simulator",
        ...client.env,
      },
      timeoutMs: RUN_TIMEOUT_MS,
    })
    const row = judge(run, { client, version, simulator })
    return row.works && client.bills ? [row, await compareBills(run, { client, version, simulator, home })] : [row]
  } finally {
    await simulator.close()
  }
}

interface Tried {
  readonly client: Client
  readonly version: string
  readonly simulator: Simulator
}

function judge({ code, stdout, stderr }: ChildResult, { client, version, simulator }: Tried): Row {
  const requests = simulator.log.filter(({ path }) => path.startsWith("/v1/"))
  const refused = requests.filter(({ status }) => status >= 400)
  const works = code === 0 && client.expected.test(stdout)
  const why = refused[0]?.error ?? /^.*Error\b.*$/m.exec(stderr)?.[0].slice(0, 200) ?? lastLine(stderr || stdout)
  return {
    client: client.name,
    version,
    task: client.task,
    result: works ? (refused.length > 0 ? `works, after: ${why}` : "works") : `fails: ${why}`,
    works,
    requests: requests.length,
    refused: refused.length,
  }
}

/** Three bills for one conversation: the client's, the simulator's, and that of `strata inspect` on the transcript. */
async function compareBills(
  run: ChildResult,
  { client, version, simulator, home }: Tried & { home: string },
): Promise<Row> {
  const printed = Number(/"total_cost_usd":([\d.e-]+)/.exec(run.stdout)?.[1])
  const files = globSync(join(home, ".claude/projects/**/*.jsonl"))
  const inspected = await runChild([process.execPath, STRATA, "inspect", "--json", ...files], {
    cwd: home,
    env: { HOME: home },
    timeoutMs: RUN_TIMEOUT_MS,
  })
  const bills = { client: printed, simulator: simulator.stats().total.dollars, inspect: inspectedDollars(inspected) }
  const figures = Object.values(bills)
  const works = figures.every((dollars) => Math.abs(dollars - bills.simulator) < CENT)
  const shown = Object.entries(bills).map(([name, dollars]) => `${name} $${dollars.toFixed(4)}`)
  return {
    client: client.name,
    version,
    task: "its bill, the simulator's, and that of strata inspect",
    result: `${works ? "equal" : "differ"}: ${shown.join(", ")}`,
    works,
  }
}

function inspectedDollars({ code, stdout }: ChildResult): number {
  if (code !== 0) return Number.NaN
  const { conversations } = JSON.parse(stdout) as { conversations: readonly { money: { dollars: number } }[] }
  return conversations.reduce((sum, { money }) => sum + money.dollars, 0)
}
