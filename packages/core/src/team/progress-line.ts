/**
 * Progress lines of background agents: every 30 seconds a few words about what an agent does, for lists that a person watches. A line never
 * enters a prompt. It costs little: an agent that did nothing new gets none, and the cheaper of two ways is used.
 */
import type { Agent } from "../agent/agent.ts"
import { type Clock, callAfter } from "../base/clock.ts"
import { messageOf } from "../base/errors.ts"
import { NO_TOKENS, promptText } from "../base/text.ts"
import { engineOf } from "../conversation/conversation.ts"
import { cloneSurroundings, forkMessages, runTurns, type TurnsOutcome, withoutTools } from "../forks/fork.ts"
import type { DecisionDraft } from "../journal/entries.ts"
import { positionOf } from "../layers/layer.ts"
import { type Block, isText, isToolResult, isToolUse, resultBlocks, textOf, toBlocks } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { Model, ModelResponse } from "../model/model.ts"
import type { Flags } from "../settings/flags.ts"
import { createEstimator } from "../tokens/estimate.ts"
import { costOf, sentModelName } from "../tokens/models.ts"

const MAX_CHARACTERS = 60 // of a line
const NEWEST_MESSAGES = 6
const MAX_OF_A_BLOCK = 400 // characters of each text, call and result
const LINE_TOKENS = 20
const THINKING_TOKENS = 300 // what a model that always thinks needs on top, roughly
const READER_MAX_TOKENS = 2_000 // a model may think first
const CACHE_LIVES_MS = 5 * 60_000
const MAX_FAILURES = 3 // of one way in a row; then it is not tried again

/** The agent as its list sees it. */
export interface Watched {
  readonly id: string
  readonly status: string
  /** Grows with everything that it does. */
  readonly steps: number
  readonly agent: Agent | undefined
  line: string | undefined
}

export interface ProgressLineParts {
  readonly clock: Clock
  readonly figures: () => Flags["figures"]
  /** For small side tasks of an agent with this model. */
  readonly cheapestModel: (model: Model) => Promise<Model>
  /** For the lead's journal. */
  readonly onSpent: (decision: DecisionDraft) => void
  /** For the person, once. */
  readonly onProblem: (problem: string) => void
}

type Way = "fork" | "newest"

export class ProgressLines {
  readonly #parts: ProgressLineParts
  readonly #failures: Record<Way, number> = { fork: 0, newest: 0 }
  #isReported = false

  constructor(parts: ProgressLineParts) {
    this.#parts = parts
  }

  /** Writes lines about an agent until the result is called. That resolves when no request is under way. */
  follow(agent: Watched): () => Promise<void> {
    const { clock, figures } = this.#parts
    const ended = new AbortController()
    let writing: Promise<void> = Promise.resolve()
    let cancel: () => void = () => undefined
    let reported = agent.steps
    const wait = () => {
      const seconds = figures()["agent-progress"]
      if (seconds === 0 || ended.signal.aborted) return
      cancel = callAfter(clock, 1000 * seconds, () => {
        writing = next().finally(wait) // the next one waits for this one, so there are never two at once
      })
    }
    const next = async () => {
      const { steps, status, agent: open } = agent
      if (status !== "running" || steps === reported || !open) return
      reported = steps
      const line = await this.#write(agent.id, open, ended.signal)
      if (line !== undefined) agent.line = line
    }
    wait()
    return async () => {
      ended.abort()
      cancel()
      await writing
    }
  }

  /** Never rejects. */
  async #write(id: string, agent: Agent, signal: AbortSignal): Promise<string | undefined> {
    let way: Way | undefined
    try {
      const asked = await question(agent, this.#parts)
      way = this.#choose(asked)
      if (way === undefined) return undefined
      const { ended, text, responses, error } = await asked[way].ask(signal)
      for (const response of responses) this.#parts.onSpent(spentOn(response, id))
      if (ended === "failed") throw error
      if (ended === "answer") this.#failures[way] = 0
      return ended === "answer" ? oneLine(text) : undefined
    } catch (error) {
      if (way) this.#failures[way]++
      if (!this.#isReported && !signal.aborted)
        this.#parts.onProblem(`A progress line of ${id} could not be written: ${messageOf(error)} The work goes on.`)
      this.#isReported = true
      return undefined
    }
  }

  /** The cheaper one. If a price is unknown, the one that sends less. */
  #choose({ fork, newest }: Question): Way | undefined {
    const isCheaper = fork.dollars !== undefined && newest.dollars !== undefined && fork.dollars < newest.dollars
    const order: readonly Way[] = isCheaper ? ["fork", "newest"] : ["newest", "fork"]
    return order.find((way) => this.#failures[way] < MAX_FAILURES)
  }
}

interface Asking {
  /** An estimate. */
  readonly dollars: number | undefined
  ask(signal: AbortSignal): Promise<TurnsOutcome>
}

type Question = Readonly<Record<Way, Asking>>

const directive = () => promptText(new URL("./progress-line.md", import.meta.url)).trim()
const reader = () => promptText(new URL("./progress-reader.md", import.meta.url)).trim()

async function question(agent: Agent, { clock, cheapestModel }: ProgressLineParts): Promise<Question> {
  const request = await engineOf(agent.conversation).preparer.forkRequest()
  return { fork: byFork(agent, request, clock), newest: byReader(await cheapestModel(agent.model), request, clock) }
}

/** With the agent's own request, whose beginning is in the server's cache. Its tools are declared for that and refused. */
function byFork(agent: Agent, request: ModelRequest, clock: Clock): Asking {
  const { model, shared, conversation } = agent
  const { context } = conversation.views
  const { counted, estimated } = context.size()
  const answeredAt = Date.parse(context.lastResponse?.timestamp ?? "")
  const isCached = counted >= model.facts.minCacheable && clock.now().getTime() - answeredAt < CACHE_LIVES_MS
  const own = conversation.views.estimator.text(directive()) + estimated
  return {
    dollars: dollarsFor(model, isCached ? { read: counted, input: own } : { read: 0, input: counted + own }),
    ask(signal) {
      const { openCalls } = positionOf(context.storedMessages())
      const { messages, shared: sharedMessages } = forkMessages({ ...request, openCalls, directive: directive() })
      return runTurns({
        model,
        request: { ...request, messages },
        tools: shared.toolset.tools,
        context: cloneSurroundings(shared.state.toolContext, shared.state.toolContext.reads),
        allows: "No tools are available for a progress line.",
        maxTurns: 1,
        signal,
        stream: { purpose: "progress", writesCache: false, sharedMessages },
      })
    },
  }
}

/** With a small request of its own: the newest messages, cut. */
function byReader(model: Model, { messages }: ModelRequest, clock: Clock): Asking {
  const text = `${newestOf(messages)}\n\n${directive()}`
  const input = createEstimator(model.facts.family).text(`${reader()}\n${text}`)
  const { toolContext, reads, tools } = withoutTools(clock)
  return {
    dollars: dollarsFor(model, { read: 0, input }),
    ask: (signal) =>
      runTurns({
        model,
        request: {
          model: sentModelName(model.name),
          max_tokens: Math.min(READER_MAX_TOKENS, model.facts.maxOutput),
          system: reader(),
          messages: [{ role: "user", content: text }],
        },
        tools,
        context: cloneSurroundings(toolContext, reads),
        allows: "There are no tools.",
        maxTurns: 1,
        signal,
        stream: { purpose: "progress", writesCache: false },
      }),
  }
}

interface Sent {
  /** From the server's cache. */
  readonly read: number
  readonly input: number
}

function dollarsFor({ facts }: Model, { read, input }: Sent): number | undefined {
  const output = LINE_TOKENS + (facts.accepts.thinkingOff ? 0 : THINKING_TOKENS)
  const cost = costOf(facts, { ...NO_TOKENS, cacheRead: read, input, output })
  return cost.known ? cost.dollars : undefined
}

const newestOf = (messages: ModelRequest["messages"]): string =>
  messages
    .slice(-NEWEST_MESSAGES)
    .flatMap(({ role, content }) => toBlocks(content as string | Block[]).map((block) => shown(role, block)))
    .filter((line) => line !== undefined)
    .join("\n")

function shown(role: string, block: Block): string | undefined {
  const cut = (text: string) => text.slice(0, MAX_OF_A_BLOCK).toWellFormed()
  if (isText(block)) return JSON.stringify({ role, text: cut(block.text) })
  if (isToolUse(block)) return JSON.stringify({ role, calls: block.name, with: cut(JSON.stringify(block.input)) })
  if (isToolResult(block)) return JSON.stringify({ result: cut(textOf(resultBlocks(block))) })
  return undefined
}

function spentOn({ id, model, usage }: ModelResponse, agent: string): DecisionDraft {
  return { type: "strata", subtype: "spent", purpose: "progress", agent, model, responseId: id, usage }
}

/** The first line, without control characters, quotes and the full stop. `undefined` where nothing is left. */
export function oneLine(text: string): string | undefined {
  const line = text.trim().split(/[\n\r\u2028\u2029]/, 1)[0]!
  const plain = line
    .replace(/[\p{Cc}\p{Cf}]/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^["'`*]+|["'`*.]+$/g, "")
  if (plain === "") return undefined
  if (plain.length <= MAX_CHARACTERS) return plain
  return `${plain.slice(0, MAX_CHARACTERS - 1).toWellFormed()}…`
}
