/** Plants the facts, passes work and compactions over them, and looks for each fact. */
import Anthropic from "@anthropic-ai/sdk"
import {
  CompactionFailedError,
  type Conversation,
  handleOf,
  type IncomingMessage,
  openConversation,
  recallTool,
} from "@strata/core"
import { seededIds } from "@strata/core/base"
import { frozenClock, startSimulator } from "@strata/sim"
import { createCachingReader } from "../../../packages/core/src/conversation/follow/match.ts"
import { inTemporaryDirectory } from "../../bench/measure.ts"
import { KINDS, type PlantedFact, plantedFacts } from "./facts.ts"
import { knowingResponder } from "./knowing-responder.ts"
import { type Exchange, exchangeOf, otherWork, pictureOf } from "./work.ts"

const MODEL = "claude-opus-5-5"
const WORK = 12 // exchanges of other work before each compaction
const PAUSE_MS = 2 * 3_600_000 // before each compaction, so that old results are cleared first

export interface PlantedOptions {
  readonly planner: "balanced" | "off"
  /** `loop` adds messages one by one. `follow` is a client that resends its full message list. Default: `loop`. */
  readonly through?: "loop" | "follow"
  /** Numbers of compactions after which to look. */
  readonly after: readonly number[]
}

/** Where a fact is after the compactions. */
export type Reach = "in-view" | "one-search" | "lost"

export interface RecallCounts {
  readonly compactions: number
  readonly facts: readonly { readonly fact: PlantedFact; readonly reach: Reach; readonly isFound: boolean }[]
  /** Number of long results whose handle is in view. */
  readonly handles: number
  readonly long: number
  /** Size of the context in tokens. */
  readonly tokens: number
}

export interface PlantedFigures extends PlantedOptions {
  readonly looked: readonly RecallCounts[]
  /** Number of summary requests for each compaction. */
  readonly calls: number
}

export function measurePlanted(options: PlantedOptions): Promise<PlantedFigures> {
  return inTemporaryDirectory(async (dir) => {
    const facts = plantedFacts()
    const responder = knowingResponder(facts)
    const clock = frozenClock()
    const sim = await startSimulator({ responder, clock, bindThinking: "off" })
    try {
      const client = new Anthropic({ baseURL: sim.url, apiKey: "none", maxRetries: 0 })
      const recall = recallTool()
      await using chat = await openConversation({
        ...{
          model: MODEL,
          client,
          dir,
          cwd: "/work",
          id: "planted",
          ids: seededIds("planted"),
          clock: { now: () => new Date(clock.now()) },
          tools: [recall, ...TOOLS],
        },
        env: { STRATA_NOTES: "off" },
        settings: { memory: "off", planner: options.planner },
      })
      const talk = options.through === "follow" ? followed(chat) : added(chat)
      for (const fact of interleaved(facts)) await take(talk, exchangeOf(fact), fact.id)
      const looked: RecallCounts[] = []
      const max = Math.max(...options.after)
      for (let done = 0, round = 0; done < max; ) {
        for (let nth = 0; nth < WORK; nth++, round++) await take(talk, otherWork(round), `work-${round}`)
        clock.advance(PAUSE_MS)
        await chat.prepare()
        if (!(await isCompacted(chat))) continue
        done++
        if (options.after.includes(done)) looked.push(await look(chat, { facts, recall, compactions: done }))
      }
      return { ...options, looked, calls: responder.asked() / max }
    } finally {
      await sim.close()
    }
  })
}

export const TOOLS = ["Read", "Bash", "Grep", "Write", "WebFetch", "AskUser"].map((name) => ({
  ...{ name, description: `The tool ${name}.` },
  input_schema: { type: "object" as const },
}))

/** Alternates ordinary facts with those of the kinds, so that neither group is only at the end. */
function interleaved(facts: readonly PlantedFact[]): readonly PlantedFact[] {
  return facts
    .map((fact, at) => ({ fact, at: (at * 37) % facts.length }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ fact }) => fact)
}

/** The ways in which messages enter the conversation. */
export interface PlantedTalk {
  readonly chat: Conversation
  say(content: readonly object[]): Promise<void>
  /** Tells the client about an answer. */
  hear(content: readonly object[]): void
}

export const added = (chat: Conversation): PlantedTalk => ({
  chat,
  say: async (content) => {
    await chat.add({ role: "user", content } as IncomingMessage)
  },
  hear: () => {},
})

function followed(chat: Conversation): PlantedTalk {
  const list: { role: string; content: readonly object[] }[] = []
  const read = createCachingReader()
  return {
    chat,
    say: async (content) => {
      list.push({ role: "user", content })
      const { how } = await chat.syncMessages(list, { tools: TOOLS, read })
      if (how !== "added") throw new Error(`the list was ${how}, and it only grew`)
    },
    hear: (content) => void list.push({ role: "assistant", content }),
  }
}

export async function take(talk: PlantedTalk, { asks, answers, result, ends }: Exchange, id: string): Promise<void> {
  await talk.say(asks)
  if (answers.length > 0 && result) {
    await answer(talk, { id: `msg_${id}_call`, content: answers, stop_reason: "tool_use" })
    const call = answers.find((block) => "id" in block) as { id: string }
    const { content, isError = false } = result
    await talk.say([{ type: "tool_result", tool_use_id: call.id, content, ...(isError ? { is_error: true } : {}) }])
  }
  const thought = result ? [] : answers
  await answer(talk, { id: `msg_${id}`, content: [...thought, { type: "text", text: ends }], stop_reason: "end_turn" })
}

/** Adds an answer. Its usage is the estimate, so that sizes are those of a conversation that was really sent. */
async function answer(
  { chat, hear }: PlantedTalk,
  response: { id: string; content: readonly object[]; stop_reason: string },
): Promise<void> {
  await chat.prepare()
  const usage = { input_tokens: chat.accounting().total, output_tokens: 100 }
  await chat.record({
    ...response,
    type: "message",
    role: "assistant",
    model: MODEL,
    stop_sequence: null,
    usage,
  } as never)
  hear(response.content)
}

/** Compacts. A compaction that would free too little is refused; then more work comes first. */
const isCompacted = (chat: Conversation): Promise<boolean> =>
  chat.compact().then(
    () => true,
    (error) => {
      if (error instanceof CompactionFailedError) return false
      throw error
    },
  )

interface ToLook {
  readonly facts: readonly PlantedFact[]
  readonly recall: ReturnType<typeof recallTool>
  readonly compactions: number
}

async function look(chat: Conversation, { facts, recall, compactions }: ToLook): Promise<RecallCounts> {
  const view = JSON.stringify((await chat.prepare()).messages)
  const found: RecallCounts["facts"][number][] = []
  for (const fact of facts) {
    const isFound = await finds(recall, fact)
    found.push({ fact, isFound, reach: view.includes(fact.value) ? "in-view" : isFound ? "one-search" : "lost" })
  }
  const long = facts.filter(({ kind }) => kind === "long")
  const handles = await handlesOf(chat, long)
  return {
    ...{ compactions, facts: found, long: long.length, tokens: chat.accounting().total },
    handles: handles.filter((handle) => view.includes(handle)).length,
  }
}

/** Whether one search shows the fact. A picture is found if the search leads to its message. */
async function finds(recall: ToLook["recall"], fact: PlantedFact): Promise<boolean> {
  const search = async (input: object) => JSON.stringify((await recall.execute(input)).content)
  const answered = await search({ search: `What is the ${fact.subject}?` })
  if (fact.kind !== "image" || answered.includes(fact.value)) return answered.includes(fact.value)
  const handle = /([0-9a-f]{10})(?:\.\d+)? · the user[^`]*`{3,}[^`]*This screenshot shows/.exec(
    answered.replaceAll("\\n", "\n"),
  )?.[1]
  return handle !== undefined && (await search({ handle })).includes(pictureOf(fact))
}

async function handlesOf(chat: Conversation, facts: readonly PlantedFact[]): Promise<readonly string[]> {
  const handles: string[] = []
  for await (const entry of chat.entries()) {
    const written = JSON.stringify(entry)
    if (facts.some(({ id }) => written.includes(`"tool_use_id":"toolu_${id}"`))) handles.push(handleOf(entry.uuid))
  }
  return handles
}

export function plantedReport({ planner, through = "loop", looked, calls }: PlantedFigures): string {
  const lines = looked.flatMap(({ compactions, facts, handles, long, tokens }) => {
    const count = (group: PlantedFact["group"], reach: Reach) =>
      facts.filter((one) => one.fact.group === group && one.reach === reach).length
    const groups = (["planted", "kinds"] as const).map((group) => {
      const all = facts.filter(({ fact }) => fact.group === group).length
      return `${group === "planted" ? "ordinary work" : "twelve kinds"}: ${count(group, "in-view")} of ${all} in view, ${count(group, "one-search")} one search away, ${count(group, "lost")} lost`
    })
    const kinds = KINDS.map((kind) => {
      const own = facts.filter(({ fact }) => fact.kind === kind)
      return `${kind} ${own.filter(({ reach }) => reach === "in-view").length}+${own.filter(({ reach }) => reach === "one-search").length}/${own.length}`
    })
    return [
      `  after ${compactions} compactions, ${tokens.toLocaleString("en")} tokens in view`,
      ...groups.map((line) => `    ${line}`),
      `    by kind, in view + one search away: ${kinds.join(", ")}`,
      `    handles of long results in view: ${handles} of ${long}; a search shows ${facts.filter(({ isFound }) => isFound).length} of ${facts.length}`,
    ]
  })
  const way = through === "follow" ? "a caller's list, followed" : "an own loop"
  return [`${way}, planner ${planner}, ${calls.toFixed(1)} requests for each summary`, ...lines].join("\n")
}
