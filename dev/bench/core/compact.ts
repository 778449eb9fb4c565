/**
 * Measures how long a compaction blocks the event loop. The conversation reads this package's own source files, so its names, numbers and
 * paths are real ones. A model in this process writes the summary. The result is the largest gap between two turns of the event loop while
 * `chat.compact()` plans, requests, checks and writes, and its total time, at several sizes.
 *
 *     npm run bench -- compact
 */
import { globSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { localUser, type Model } from "@strata/core"
import { openConversation } from "../../../packages/core/src/public-functions.ts"
import { findModel } from "../../../packages/core/src/tokens/models.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile } from "../measure.ts"

const MODEL = "claude-opus-4-6"
const WINDOW = 1_000_000
const SIZES = isShort ? [100_000] : [100_000, 165_000, 530_000]
const RUNS = isShort ? 1 : 5
const PAGE = 6_000 // characters of one result
const CHARACTERS_PER_TOKEN = 3.2
const SUMMARY_NAMES = 120

const SOURCE = join(import.meta.dirname, "../../../packages/core/src")

interface Page {
  readonly path: string
  readonly text: string
}

function pages(): readonly Page[] {
  return globSync("**/*.ts", { cwd: SOURCE })
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(join(SOURCE, file), "utf8")
      const count = Math.ceil(text.length / PAGE)
      return Array.from({ length: count }, (_, at) => ({
        path: join("/project", relative(SOURCE, join(SOURCE, file))),
        text: text.slice(at * PAGE, (at + 1) * PAGE),
      }))
    })
}

/** A summary of typical length, with names from the pages that were read. */
function summaryOf(read: readonly Page[]): string {
  const step = Math.max(1, Math.floor(read.length / SUMMARY_NAMES))
  const lines = read.filter((_, at) => at % step === 0).map(({ path }) => `- ${path} was read.`)
  return `<summary>\n1. Primary Request and Intent:\nGo through the source files and say what each one is for.\n\n3. Files and Code Sections:\n${lines.join("\n")}\n\n8. Current Work:\nReading the source files one by one.\n\n9. Optional Next Step:\nRead the next source file.\n</summary>`
}

const summariser = (text: string): Model => ({
  name: MODEL,
  provider: "bench",
  facts: findModel(MODEL).facts,
  async *stream() {
    const usage = { input_tokens: 100, output_tokens: 1_500 }
    const content = [{ type: "text" as const, text }]
    yield {
      type: "response",
      response: { id: "msg_s", model: MODEL, content, stop_reason: "end_turn", usage } as never,
    }
  },
})

async function compacted(root: string, tokens: number): Promise<{ readonly gap: number; readonly whole: number }> {
  const all = pages()
  const count = Math.ceil((tokens * CHARACTERS_PER_TOKEN) / PAGE)
  const read = Array.from({ length: count }, (_, at) => all[at % all.length]!)
  await using chat = await openConversation({
    ...{ dir: join(root, `${tokens}-${Math.random()}`), cwd: "/project", memory: { owner: localUser }, env: {} },
    model: summariser(summaryOf(read)),
    settings: {
      ...{ planner: "off", flush: "never", models: { [MODEL]: { window: WINDOW } } },
      switches: { notes: false, "clear-by-size": false, "clear-by-time": false, "tool-result-storage": false },
    } as never,
  })
  await chat.add("Go through the source files and say what each one is for. Never change one.")
  for (const [at, { path, text }] of read.entries()) {
    const id = `toolu_${at}`
    await chat.record({
      ...{ id: `msg_${at}`, model: MODEL, stop_reason: "tool_use" },
      content: [
        { type: "text", text: `Next comes ${path}.` },
        { type: "tool_use", id, name: "Read", input: { file_path: path } },
      ],
    })
    await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] })
  }
  await chat.whenIdle()
  const loop = watchLoop()
  const start = computed()
  await chat.compact()
  const whole = computed() - start
  return { gap: loop.stop(), whole }
}

/** Watches the longest computing time between two turns of the event loop. Other programs on the machine are not counted. */
function watchLoop() {
  let isOver = false
  let last = computed()
  let largest = 0
  const turn = () => {
    const now = computed()
    largest = Math.max(largest, now - last)
    last = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  return {
    stop() {
      isOver = true
      return largest
    },
  }
}

/** Processor time of this thread in milliseconds. */
function computed(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

await inTemporaryDirectory(async (root) => {
  await compacted(root, 20_000) // compiles the code before the measurement
  for (const tokens of SIZES) {
    const runs = []
    for (let run = 0; run < RUNS; run++) runs.push(await compacted(root, tokens))
    const [gaps, wholes] = [runs.map(({ gap }) => gap), runs.map(({ whole }) => whole)]
    console.log(
      `${tokens / 1_000}K tokens: largest gap ${milliseconds(quantile(gaps, 0.5))} (worst ${milliseconds(Math.max(...gaps))}), ${milliseconds(quantile(wholes, 0.5))} in all`,
    )
  }
})
