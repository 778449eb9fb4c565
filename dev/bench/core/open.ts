/**
 * Measures opening a long journal and preparing the next request, in a new process: after a clean end, after its writer was killed at a
 * random moment (20 times), and without any checkpoint, as after an import. A bare loop that parses every line is measured in the same run.
 *
 *     npm run bench -- open
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { createReadStream, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { openConversation } from "@strata/core"
import type { EntryDraft } from "@strata/core/store"
import { inTemporaryDirectory, isShort, milliseconds, quantile, timed } from "../measure.ts"

const MEGABYTE = 1_000_000
const SIZES = isShort ? [10 * MEGABYTE] : [100 * MEGABYTE, 1_000 * MEGABYTE]
const KILLS = isShort ? 3 : 20
const SHORTEST_LIFE_MS = 500
const LONGEST_LIFE_MS = 2_000
const BETWEEN_BOUNDARIES = 4 * MEGABYTE // a window of 1M tokens
const CALLS = 4 // of each response
const MODEL = "claude-opus-4-6"
const ID = "long"

const VERBS = "read write open close parse find load keep merge split sort count draw send move build check trim".split(
  " ",
)
const NOUNS = "journal window entry result summary budget client header token branch record query layer buffer".split(
  " ",
)

/** A tool result of about 20 KB like a source file: each has names of its own. */
function sourceFile(number: number): string {
  const lines: string[] = []
  for (let line = 0; line < 250; line++) {
    const at = number * 31 + line * 7
    const verb = VERBS[at % VERBS.length]!
    const noun = NOUNS[(at >> 2) % NOUNS.length]!
    lines.push(
      `  const ${noun}${at % 997} = await ${verb}${noun}(src/part-${number % 700}/${noun}.ts, ${at}, "${verb} ${noun}")`,
    )
  }
  return lines.join("\n")
}

const compaction: readonly EntryDraft[] = [
  { type: "system", subtype: "compact_boundary", compactMetadata: { trigger: "auto", preTokens: 1 } },
  {
    type: "user",
    isCompactSummary: true,
    isMeta: true,
    message: { role: "user", content: "Summary: everything so far." },
  },
]

async function open(directory: string, compactBefore: () => boolean) {
  return openConversation({
    dir: directory,
    cwd: directory,
    id: ID,
    model: MODEL,
    env: {},
    settings: { models: { [MODEL]: { window: 2 ** 40 } } },
    layers: [{ name: "compacting", beforeRequest: async () => (compactBefore() ? { drafts: compaction } : undefined) }],
  })
}

/** Continues the conversation by a number of bytes, with a boundary every 4 MB. Prints the number of each acknowledged turn. */
async function write(directory: string, first: number, bytes: number): Promise<void> {
  let isDue = false
  const chat = await open(directory, () => isDue)
  let sinceBoundary = 0
  let written = 0
  for (let number = first; written < bytes; number++) {
    const calls = Array.from({ length: CALLS }, (_, at) => `toolu_${number}_${at}`)
    const content = calls.map((id, at) => {
      const input = { file_path: `/src/file-${(number * CALLS + at) % 500}.ts` }
      return { type: "tool_use" as const, id, name: "Read", input }
    })
    const usage = { input_tokens: 10, output_tokens: 50 }
    await chat.record({ id: `msg_${number}`, model: MODEL, content, stop_reason: "tool_use", usage })
    const results = calls.map((id, at) => {
      return { type: "tool_result" as const, tool_use_id: id, content: sourceFile(number * CALLS + at) }
    })
    await chat.add({ role: "user", content: results })
    if (number % 20 === 0) await chat.add(`Now look at part ${number}. Never touch the tests.`)
    console.log(number)
    const size = JSON.stringify(results).length
    written += size
    sinceBoundary += size
    if (sinceBoundary < BETWEEN_BOUNDARIES) continue
    isDue = true
    await chat.prepare()
    isDue = false
    sinceBoundary = 0
  }
  await chat.close()
}

interface Opening {
  readonly openMs: number
  readonly prepareMs: number
  readonly processorMs: number
  readonly peakMegabytes: number
  readonly read: string
  /** The last turn in the request. Absent if the request begins with a summary of everything. */
  readonly last?: number | undefined
}

/** Runs in a new process, which ends without closing: the next opening finds the same journal. */
async function openAndReport(directory: string): Promise<void> {
  const before = process.cpuUsage()
  const { result: chat, ms: openMs } = await timed(() => open(directory, () => false))
  const { result: request, ms: prepareMs } = await timed(() => chat.prepare())
  const { user, system } = process.cpuUsage(before)
  const calls = JSON.stringify(request.messages).match(/toolu_(\d+)/g) ?? []
  const opening: Opening = {
    openMs,
    prepareMs,
    processorMs: (user + system) / 1_000,
    peakMegabytes: process.resourceUsage().maxRSS / 1_000,
    read: chat.openResult.read,
    last: calls.length === 0 ? undefined : Math.max(...calls.map((call) => Number(call.slice("toolu_".length)))),
  }
  console.log(JSON.stringify(opening))
  process.kill(process.pid, "SIGKILL")
}

async function parseEveryLine(file: string): Promise<void> {
  const { ms } = await timed(async () => {
    for await (const line of createInterface({ input: createReadStream(file) })) JSON.parse(line)
  })
  console.log(ms)
}

const THIS = fileURLToPath(import.meta.url)
const [, , task, directory = "", ...numbers] = process.argv

if (task === "write") await write(directory, Number(numbers[0]), Number(numbers[1]))
else if (task === "open") await openAndReport(directory)
else if (task === "parse") await parseEveryLine(directory)
else await inTemporaryDirectory(compareSizes)

async function compareSizes(root: string): Promise<void> {
  console.log("opening a journal and preparing the next request, in a new process")
  const short = join(root, "short")
  await runWriter(short, { first: 0, bytes: 1 })
  report("one turn", [openIn(short)])
  for (const size of SIZES) {
    const place = join(root, `${size}`)
    let next = await runWriter(place, { first: 0, bytes: size })
    const file = journalIn(place)
    console.log(`${Math.round(statSync(file).size / MEGABYTE)} MB`)
    console.log(`  every line parsed, nothing else   ${milliseconds(Number(run(["parse", file])))}`)
    report("after a clean end", [openIn(place)])
    const openings: Opening[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      next = await runWriter(place, { first: next, bytes: Number.POSITIVE_INFINITY, lifeMs: lifeOf(kill) })
      const opening = openIn(place)
      const { last = next - 1 } = opening
      if (last < next - 1) throw new Error(`Turn ${next - 1} was acknowledged, but ${last} is the last one.`)
      next = last + 1
      openings.push(opening)
    }
    report(`after ${KILLS} kills`, openings)
    rmSync(file.replace(/jsonl$/, "checkpoint"))
    report("without a checkpoint", [openIn(place)])
  }
}

/** Spread over the time in which a writer starts, opens and works. */
function lifeOf(kill: number): number {
  return SHORTEST_LIFE_MS + ((kill * 7) % KILLS) * (LONGEST_LIFE_MS / KILLS)
}

/** Lets a process write until it has written enough, or until it is killed. Resolves with the number of the next turn. */
async function runWriter(
  place: string,
  { first, bytes, lifeMs }: { readonly first: number; readonly bytes: number; readonly lifeMs?: number },
): Promise<number> {
  const writer = spawn(process.execPath, [THIS, "write", place, `${first}`, `${bytes}`], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ended = once(writer, "exit")
  let last = first - 1
  createInterface({ input: writer.stdout }).on("line", (line) => (last = Number(line)))
  if (lifeMs !== undefined) {
    await wait(lifeMs)
    writer.kill("SIGKILL")
  }
  await ended
  return last + 1
}

function journalIn(place: string): string {
  const found = readdirSync(place, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith(`${ID}.jsonl`))
  return join(place, found!)
}

/** The output of this script with a task. It may end by its own signal. */
function run(task: readonly string[]): string {
  try {
    return execFileSync(process.execPath, [THIS, ...task], { encoding: "utf8" })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

function openIn(place: string): Opening {
  return JSON.parse(run(["open", place])) as Opening
}

function report(when: string, openings: readonly Opening[]): void {
  const worst = (of: (opening: Opening) => number) => quantile(openings.map(of), 0.95)
  const ms = milliseconds(worst(({ openMs, prepareMs }) => openMs + prepareMs))
  const processor = milliseconds(worst(({ processorMs }) => processorMs))
  const memory = Math.round(worst(({ peakMegabytes }) => peakMegabytes))
  const tails = openings.filter(({ read }) => read === "tail").length
  console.log(
    `  ${when.padEnd(34)}${ms.padEnd(10)}processor ${processor.padEnd(10)}peak memory ${memory} MB, ${tails} of ${openings.length} from a checkpoint`,
  )
}
