/** Runs one client through its steps against its own simulator, and compares the bills. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { helpfulResponder, type Responder, type Simulator, startSimulator } from "@strata/sim"
import { type ChildResult, runChild } from "./child.ts"
import { lastLine } from "./install.ts"
import type { Client } from "./list.ts"
import { BIG_FILES } from "./scenarios.ts"
import type { Done, Step, StepContext } from "./step.ts"

const RUN_TIMEOUT_MS = 3 * 60_000
const STRATA = fileURLToPath(new URL("../../../packages/cli/src/main.ts", import.meta.url))
const TENTH_OF_A_CENT = 0.001 // dollars; bills that differ by less are the same
/** Matches requests for a summary. The instruction is in the last message. */
const ASKS_FOR_SUMMARY = /\b(?:create|provide|write|produce|update)\b[^.\n]{0,80}\b(?:summary|checkpoint)\b/i

export interface BillRow {
  readonly client: string
  readonly version: string
  readonly task: string
  readonly result: string
  readonly works: boolean
  readonly requests?: number
  readonly refused?: number
}

export interface ClientTrial {
  readonly client: Client
  readonly version: string
  readonly installed: string
  /** Directory for the client's home and working directory. */
  readonly root: string
}

export interface ComparedBill {
  readonly what: string
  readonly client: number
  readonly simulator: number
}

export async function tryClient({ client, version, installed, root }: ClientTrial): Promise<readonly BillRow[]> {
  const responder = thinkingResponder()
  const simulator = await startSimulator({ responder })
  try {
    const work = mkdtempSync(join(root, "work-"))
    const context: StepContext = { installed, home: mkdtempSync(join(root, "home-")), url: simulator.url }
    writeAll({ ...inside(work, { "notes.txt": "the answer is 42\n", ...BIG_FILES }), ...client.files?.(context) })
    const rows: BillRow[] = []
    const done: Done[] = []
    const bills: ComparedBill[] = []
    for (const step of client.steps) {
      const before = { log: simulator.log.length, dollars: dollarsOf(simulator), summaries: responder.summaries() }
      writeAll(step.files?.(context) ?? {})
      const run = await runChild(step.command(context, done), {
        cwd: work,
        env: {
          ...{ HOME: context.home, TMPDIR: work, ANTHROPIC_BASE_URL: simulator.url, ANTHROPIC_API_KEY: "sk-simulator" },
          ...client.env,
          ...step.env,
        },
        timeoutMs: RUN_TIMEOUT_MS,
        input: step.input,
      })
      const log = simulator.log.slice(before.log)
      const row = judge(run, { step, log, compacted: responder.summaries() > before.summaries })
      rows.push({ client: client.name, version, task: step.what, ...row })
      if (!row.works) break
      const finished: Done = { stdout: run.stdout, version, forked: step.forks ?? false }
      if (step.bill) {
        const spent = dollarsOf(simulator) - before.dollars
        bills.push({ what: step.what, client: step.bill(finished, done), simulator: spent })
      }
      done.push(finished)
    }
    const compared = bills.length > 0 ? [compareBills(bills)] : []
    const inspected = client.transcripts && compared.length > 0 ? [await inspect(context.home, simulator)] : []
    return [...rows, ...[...compared, ...inspected].map((row) => ({ client: client.name, version, ...row }))]
  } finally {
    await simulator.close()
  }
}

const dollarsOf = (simulator: Simulator): number => simulator.stats().total.dollars

export const inside = (directory: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [join(directory, name), text]))

export function writeAll(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

/** A responder that follows instructions, thinks before each answer, and counts the requested summaries. */
function thinkingResponder(): Responder & { summaries(): number } {
  const helpful = helpfulResponder()
  let summaries = 0
  return {
    name: "thinking",
    summaries: () => summaries,
    async answer(turn) {
      const last = turn.request.messages.findLast(({ role }) => role === "user")
      if (last?.content.some(({ text = "" }) => ASKS_FOR_SUMMARY.test(text))) summaries++
      const answer = await helpful.answer(turn)
      return { ...answer, content: [{ type: "thinking", thinking: "Let me see." }, ...answer.content] }
    },
  }
}

interface Judged {
  readonly step: Step
  readonly log: Simulator["log"]
  readonly compacted: boolean
}

function judge(
  { code, stdout, stderr }: ChildResult,
  { step, log, compacted }: Judged,
): Omit<BillRow, "client" | "version" | "task"> {
  const requests = log.filter(({ path }) => path.startsWith("/v1/"))
  const refused = requests.filter(({ status }) => status >= 400)
  const ran = code === 0 && step.expected.test(stdout)
  const works = ran && (compacted || !step.compacts)
  const why = refused[0]?.error ?? /^.*Error\b.*$/m.exec(stderr)?.[0].slice(0, 200) ?? lastLine(stderr || stdout)
  const failure = ran ? "fails: no summary was asked for" : `fails: ${why}`
  return {
    result: works ? (refused.length > 0 ? `works, after: ${why}` : "works") : failure,
    works,
    requests: requests.length,
    refused: refused.length,
  }
}

/** Compares the bill of each step, as the client prints it, with the simulator's. */
export function compareBills(bills: readonly ComparedBill[]): Pick<BillRow, "task" | "result" | "works"> {
  const total = (whose: "client" | "simulator") => sumOf(bills, (bill) => bill[whose])
  const apart = bills.filter(({ client, simulator }) => !(Math.abs(client - simulator) < TENTH_OF_A_CENT))
  const shown = ({ client, simulator }: Omit<ComparedBill, "what">) =>
    `client ${dollars(client)}, simulator ${dollars(simulator)}`
  const result =
    apart.length === 0
      ? `equal: ${shown({ client: total("client"), simulator: total("simulator") })}`
      : `differ: ${apart.map((bill) => `${bill.what}: ${shown(bill)}`).join("; ")}`
  return { task: `its bill for each of ${bills.length} steps`, result, works: apart.length === 0 }
}

const dollars = (amount: number): string => `$${amount.toFixed(4)}`

interface Inspected {
  readonly conversations: readonly { readonly money: { readonly lines: readonly { readonly counts: Counts }[] } }[]
}
type Counts = Readonly<Record<"input" | "cacheWrite5m" | "cacheWrite1h" | "cacheRead" | "output", number>>

/**
 * Compares the tokens that `strata inspect` finds in the transcripts with those of the simulator's answers in them. The input must be
 * equal. Newer versions record an answer before they know its output tokens, and never the cost of a compaction.
 */
async function inspect(home: string, simulator: Simulator): Promise<Pick<BillRow, "task" | "result" | "works">> {
  const task = "strata inspect on its transcripts"
  const files = globSync(join(home, ".claude/projects/**/*.jsonl")).filter((file) => statSync(file).size > 0)
  const { code, stdout, stderr } = await runChild([process.execPath, STRATA, "inspect", "--json", ...files], {
    cwd: home,
    env: { HOME: home },
    timeoutMs: RUN_TIMEOUT_MS,
  })
  if (code !== 0) return { task, result: `fails: ${lastLine(stderr)}`, works: false }
  const { conversations } = JSON.parse(stdout) as Inspected
  const counts = conversations.flatMap(({ money }) => money.lines.map((line) => line.counts))
  const found = {
    input: sumOf(counts, (each) => each.input + each.cacheWrite5m + each.cacheWrite1h + each.cacheRead),
    output: sumOf(counts, ({ output }) => output),
  }
  const texts = files.map((file) => readFileSync(file, "utf8"))
  const billed = simulator.log.flatMap((entry) =>
    texts.filter((text) => entry.messageId && text.includes(`"${entry.messageId}"`)).map(() => entry),
  ) // a fork repeats earlier answers, and each file is a conversation
  const known = {
    input: sumOf(billed, ({ input }) => (input ? input.uncached + input.read + input.written : 0)),
    output: sumOf(billed, ({ output = 0 }) => output),
  }
  const works = found.input === known.input && found.output <= known.output
  const shown = `${found.input} tokens of input, ${found.output} of output`
  return {
    task,
    result: `${works ? "equal" : "differ"}: ${shown}; simulator ${known.input} and ${known.output}`,
    works,
  }
}

const sumOf = <T>(all: readonly T[], amount: (each: T) => number): number =>
  all.reduce((sum, each) => sum + amount(each), 0)
