/** Builds the journal, compacts it, and fetches every block. */

import { hash } from "node:crypto"
import {
  type Block,
  type Conversation,
  contentOf,
  handleOf,
  type IncomingMessage,
  isMessage,
  type Message,
  openConversation,
  recallTool,
} from "@strata/core"
import { createEstimator } from "../../../packages/core/src/tokens/estimate.ts"
import { inTemporaryDirectory, milliseconds, quantile } from "../../bench/measure.ts"

// Generated rounds of work: a question, an answer with a call, its result, a final answer. Each block has a marker of unique words.

const SUBJECTS = "parser cache index socket journal ledger router scheduler widget gateway".split(" ")
const PLACES = "kitchen harbour meadow station library garden bridge market tower valley".split(" ")
const LINES = 120 // in each result

const pick = (list: readonly string[], at: number) => list[at % list.length]!
const spelled = (at: number) => [...String(at)].map((digit) => "abcdefghij"[Number(digit)]).join("")

/** Three words that occur only in this block. */
const markerOf = (round: number, part: string) =>
  `marker ${part}${spelled(round)} ${pick(SUBJECTS, round)}${spelled(round * 7)} ${pick(PLACES, round)}${spelled(round * 3)}`

export function roundOf(round: number): readonly IncomingMessage[] {
  const id = `toolu_${round}`
  const path = `/work/src/${pick(SUBJECTS, round)}/${pick(PLACES, round * 3)}-${round}.ts`
  const lines = Array.from(
    { length: LINES },
    (_, at) =>
      `${at + 1}  const ${pick(PLACES, at)}${at} = read("${pick(SUBJECTS, at + round)}", ${round * 1_000 + at})`,
  )
  return [
    {
      role: "user",
      content: [{ type: "text", text: `Please look at the ${pick(SUBJECTS, round)} (${markerOf(round, "ask")}).` }],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: `I read ${path} first (${markerOf(round, "say")}).` },
        { type: "tool_use", id, name: "Read", input: { file_path: path, note: markerOf(round, "call") } },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: [...lines, markerOf(round, "result")].join("\n") }],
    },
    { role: "assistant", content: [{ type: "text", text: `It is fine (${markerOf(round, "end")}).` }] },
  ]
}

const MODEL = "claude-opus-5-5"
const SAMPLE = 500 // number of blocks that are looked up from the view

export interface ReachOptions {
  readonly tokens: number
  readonly compactions: number
}

export interface Times {
  readonly median: number
  readonly p95: number
}

export interface ReachFigures extends ReachOptions {
  readonly blocks: number
  /** Number of blocks with different bytes. */
  readonly wrong: number
  readonly sample: number
  /** Number of sampled blocks that one search and one fetch did not reach. */
  readonly unreached: number
  readonly fetchMs: Times
  readonly searchMs: Times
  /** Processor time, which depends less on the load of the machine. */
  readonly fetchCpuMs: Times
  readonly searchCpuMs: Times
  /** Time of the first search, which indexes the journal. */
  readonly firstSearchMs: number
  /** Time of a search right after one more exchange, which indexes only the new entries. */
  readonly nextSearchMs: number
  readonly viewTokens: number
}

export function measureReach(options: ReachOptions): Promise<ReachFigures> {
  return inTemporaryDirectory(async (dir) => {
    const recall = recallTool()
    await using chat = await openConversation({
      ...{ model: MODEL, dir, cwd: dir, env: {}, id: "reach" },
      tools: [recall],
      settings: { memory: "off", models: { [MODEL]: { window: 1_000_000 } } },
    })
    await fill(chat, options)
    const stored = await blocksOf(chat)
    const fetches: Took[] = []
    let wrong = 0
    for (const { handle, digest } of stored) {
      const took = stopwatch()
      const block = await chat.recall(handle)
      fetches.push(took())
      if (block === undefined || digestOf(block) !== digest) wrong++
    }
    const search = async (text: string) => {
      const took = stopwatch()
      const { content } = await recall.execute({ search: text })
      return { text: String(content), ...took() }
    }
    const first = await search("the very first search")
    const wanted = stored.filter(({ words }) => words !== "")
    const step = Math.max(1, Math.floor(wanted.length / SAMPLE))
    const sample = wanted.filter((_, at) => at % step === 0)
    const searches: Took[] = []
    let unreached = 0
    for (const { handle, words, digest } of sample) {
      const found = await search(words)
      searches.push(found)
      const block = found.text.includes(handle) ? await chat.recall(handle) : undefined
      if (block === undefined || digestOf(block) !== digest) unreached++
    }
    await chat.add([{ role: "user", content: "One more question." }])
    const next = await search("one more question")
    return {
      ...options,
      blocks: stored.length,
      wrong,
      sample: sample.length,
      unreached,
      fetchMs: timesOf(fetches.map(({ ms }) => ms)),
      searchMs: timesOf(searches.map(({ ms }) => ms)),
      fetchCpuMs: timesOf(fetches.map(({ cpuMs }) => cpuMs)),
      searchCpuMs: timesOf(searches.map(({ cpuMs }) => cpuMs)),
      firstSearchMs: first.ms,
      nextSearchMs: next.ms,
      viewTokens: chat.accounting().total,
    }
  })
}

interface Took {
  readonly ms: number
  readonly cpuMs: number
}

function stopwatch(): () => Took {
  const [started, used] = [performance.now(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(used)
    return { ms: performance.now() - started, cpuMs: (user + system) / 1_000 }
  }
}

const timesOf = (all: readonly number[]): Times => ({ median: quantile(all, 0.5), p95: quantile(all, 0.95) })

/** Alternates rounds of work and compactions, until the requested number of tokens is in the journal. */
async function fill(chat: Conversation, { tokens, compactions }: ReachOptions): Promise<void> {
  const estimator = createEstimator("claude-5")
  const share = tokens / compactions
  let round = 0
  for (let done = 0; done < compactions; done++) {
    for (let added = 0; added < share; round++) {
      const messages = roundOf(round)
      await chat.add(messages)
      for (const { content } of messages) added += estimator.text(JSON.stringify(content))
    }
    await chat.compact({ routes: ["offline"] })
  }
}

const isSummary = (message: Message) => message.type === "user" && message.isCompactSummary === true

interface StoredBlock {
  readonly handle: string
  readonly digest: string
  /** Words that only this block has. Empty for blocks without unique words. */
  readonly words: string
}

async function blocksOf(chat: Conversation): Promise<readonly StoredBlock[]> {
  const stored: StoredBlock[] = []
  for await (const entry of chat.entries()) {
    if (!isMessage(entry) || (entry.type !== "user" && entry.type !== "assistant")) continue
    contentOf(entry).forEach((block, at) => {
      const words = /marker (\w+ \w+ \w+)/.exec(JSON.stringify(block))?.[1] ?? ""
      stored.push({ handle: handleOf(entry.uuid, at), digest: digestOf(block), words: isSummary(entry) ? "" : words })
    })
  }
  return stored
}

const digestOf = (block: Block | Message) => hash("sha256", JSON.stringify(block), "hex")

export function reachReport(figures: ReachFigures): string {
  const { tokens, compactions, blocks, wrong, sample, unreached, fetchMs, searchMs, viewTokens } = figures
  const times = (all: Times, processor: Times) =>
    `median ${milliseconds(all.median)}, p95 ${milliseconds(all.p95)} (processor: ${milliseconds(processor.median)}, ${milliseconds(processor.p95)})`
  return [
    `${tokens.toLocaleString("en")} tokens, ${compactions} compactions without a model; the view has ${viewTokens.toLocaleString("en")} tokens`,
    `  blocks fetched by handle: ${blocks.toLocaleString("en")}, ${wrong} of them not the same bytes; ${times(fetchMs, figures.fetchCpuMs)}`,
    `  blocks reached by one search and one fetch: ${sample - unreached} of ${sample}; a search takes ${times(searchMs, figures.searchCpuMs)}`,
    `  the first search, which indexes everything: ${milliseconds(figures.firstSearchMs)}; one after a new message: ${milliseconds(figures.nextSearchMs)}`,
  ].join("\n")
}
