/** Runs the same conversation through each entry of Strata: the library, `compactMessages`, the plugin of Claude Code and the proxy. */
import Anthropic from "@anthropic-ai/sdk"
import { Conversations, newSecret, startProxy } from "@strata/adapters/proxy"
import { type CompactionCarryover, compactMessages, openConversation, type PlainMessage } from "@strata/core"
import {
  extractiveAnswer,
  frozenClock,
  type Responder,
  type ResponderTurn,
  type Simulator,
  startSimulator,
} from "@strata/sim"
import { added, TOOLS, take } from "../measure.ts"
import type { Exchange } from "../work.ts"
import { claudeCode } from "./claude-code.ts"
import { messagesOf, scriptOf } from "./conversation.ts"

export const MODEL = "claude-opus-5-5"
const WINDOW = 130_000 // in tokens, for the proxy: the range with the facts fits, and a few ranges fill it
const MAX_REQUESTS = 100 // limit for a proxy that does not compact

/** Who writes summaries: the simulator, or no model at all. */
export type Summaries = "model" | "quoted"

export interface EntryContext {
  readonly dir: string
  readonly summaries: Summaries
}

interface SentMessage {
  readonly role: string
  readonly content: unknown
}

/** One conversation at an entry. */
export interface MixedEntry extends AsyncDisposable {
  /** Plays the exchanges, compacts, and returns the messages that the model is sent next. */
  range(exchanges: readonly Exchange[]): Promise<readonly SentMessage[]>
}

export const ENTRIES: Readonly<Record<string, (context: EntryContext) => Promise<MixedEntry>>> = {
  library,
  carry: carried,
  plugin: async ({ dir, summaries }) => {
    const sim = await simulator(summaries)
    const session = await claudeCode({
      dir,
      // with its own summaries, Claude Code gets the record; without them, the plugin replaces its compaction
      mode: summaries === "model" ? "record" : "replace",
      summarise: (messages) => summaryOf(sim, messages),
    })
    return { range: (exchanges) => session.range(exchanges), [Symbol.asyncDispose]: () => sim.close() }
  },
  proxy: proxied,
}

async function library({ dir, summaries }: EntryContext): Promise<MixedEntry> {
  const sim = await simulator(summaries)
  const chat = await openConversation({
    ...{ model: MODEL, client: clientOf(sim.url), dir, cwd: "/work", id: "mixed", tools: TOOLS },
    clock: { now: () => new Date(sim.clock.now()) },
    env: { STRATA_NOTES: "off" },
    settings: { memory: "off", planner: "off" },
  })
  const talk = added(chat)
  let done = 0
  return {
    async range(exchanges) {
      for (const exchange of exchanges) await take(talk, exchange, `mixed-${++done}`)
      await chat.compact(summaries === "quoted" ? { routes: ["offline"] } : {})
      return (await chat.prepare()).messages
    },
    async [Symbol.asyncDispose]() {
      await chat.close()
      await sim.close()
    },
  }
}

async function carried({ summaries }: EntryContext): Promise<MixedEntry> {
  const sim = await simulator(summaries)
  let messages: readonly PlainMessage[] = []
  let before: CompactionCarryover | undefined
  return {
    async range(exchanges) {
      const made = await compactMessages([...messages, ...exchanges.flatMap(messagesOf)], {
        model: MODEL,
        ...(before ? { before } : {}),
        ...(summaries === "model"
          ? { summary: ({ messages: covered, prompt }) => summaryOf(sim, covered as readonly PlainMessage[], prompt) }
          : {}),
      })
      messages = made.messages as readonly PlainMessage[]
      before = made.state
      return messages as readonly SentMessage[]
    },
    [Symbol.asyncDispose]: () => sim.close(),
  }
}

/** A program on the official SDK that resends its full message list until the proxy has compacted. */
async function proxied({ dir, summaries }: EntryContext): Promise<MixedEntry> {
  const responder = new ScriptedResponder(summaries)
  const models = { [MODEL]: { window: WINDOW } }
  const sim = await startSimulator({ responder, clock: frozenClock(), models, bindThinking: "error" })
  const plans = new Conversations({
    ...{ upstream: sim.url, cwd: dir, env: { STRATA_NOTES: "off" }, dir },
    clock: { now: () => new Date(sim.clock.now()) } as never,
    settings: { models, planner: "off" },
  })
  const proxy = await startProxy({ upstream: sim.url, plans, secret: newSecret() })
  const client = clientOf(proxy.url)
  const messages: Anthropic.MessageParam[] = []
  let done = 0
  const compactions = async () =>
    (await plans.status())
      .flatMap(({ decisions }) => decisions)
      .reduce((sum, line) => sum + Number(/^compaction: (\d+)/.exec(line)?.[1] ?? 0), 0)

  async function play(exchange: Exchange): Promise<void> {
    responder.script = scriptOf(exchange)
    const [asks, ...results] = messagesOf(exchange).filter(({ role }) => role === "user")
    for (const text of [asks!, ...results]) {
      messages.push(text as Anthropic.MessageParam)
      const { content } = await client.messages.create({
        ...{ model: MODEL, max_tokens: 1_000, system: "You work on a gate.", tools: TOOLS as never, messages },
      })
      messages.push({ role: "assistant", content })
    }
  }

  return {
    async range(exchanges) {
      for (const exchange of exchanges) await play(exchange)
      done++
      for (let round = 0; (await compactions()) < done; round++) {
        if (round > MAX_REQUESTS) throw new Error(`the proxy did not compact a ${done}th time`)
        await play(EMPTY_WORK)
      }
      return responder.sent
    },
    async [Symbol.asyncDispose]() {
      await proxy.close()
      await plans.close()
      await sim.close()
    },
  }
}

/**
 * An exchange that fills the window with an answer. It contains no names. Large results would be cleared, which makes room without a
 * compaction.
 */
const EMPTY_WORK: Exchange = {
  asks: [{ type: "text", text: "Go on." }],
  answers: [],
  ends: "There is nothing to be done in this part, and all is as it was before.\n".repeat(300),
}

/** Plays the agent's part. Writes summaries, or fails to if the case has none. */
class ScriptedResponder implements Responder {
  readonly name = "mixed"
  script: (readonly object[])[] = []
  /** Messages of the newest request of the conversation. */
  sent: readonly SentMessage[] = []
  readonly #summaries: Summaries

  constructor(summaries: Summaries) {
    this.#summaries = summaries
  }

  answer(turn: ResponderTurn) {
    const about = extractiveAnswer(turn)
    if (about) return this.#summaries === "model" ? about : NO_SUMMARY
    this.sent = turn.request.messages
    return { content: (this.script.shift() ?? [{ type: "text", text: "Done." }]) as never }
  }
}

const NO_SUMMARY = { content: [] }

const simulator = (summaries: Summaries): Promise<Simulator> =>
  startSimulator({ responder: new ScriptedResponder(summaries), clock: frozenClock(), bindThinking: "off" })

const clientOf = (baseURL: string) =>
  new Anthropic({ baseURL, apiKey: "none", maxRetries: 0, openTelemetry: false } as ConstructorParameters<
    typeof Anthropic
  >[0])

const CLIENT_PROMPT =
  "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools. Your task is to create a detailed summary of the conversation so far. Write an <analysis> block followed by a <summary> block."

async function summaryOf(sim: Simulator, messages: readonly PlainMessage[], prompt = CLIENT_PROMPT): Promise<string> {
  const { content } = await clientOf(sim.url).messages.create({
    ...{ model: MODEL, max_tokens: 20_000 },
    messages: [...messages, { role: "user", content: prompt }] as Anthropic.MessageParam[],
  })
  return content.map((block) => (block.type === "text" ? block.text : "")).join("")
}
