/**
 * Progress lines of background agents: every 30 seconds a few words about an agent's activity, for lists that the user watches. A line
 * never enters a prompt. To save cost, an agent without new activity gets none, and the cheaper of two methods is used.
 */
import type { Agent } from "../agent/agent.ts"
import { type Clock, callAfter } from "../base/clock.ts"
import { errorMessage } from "../base/errors.ts"
import { NO_TOKENS, promptText } from "../base/text.ts"
import { engineOf } from "../conversation/conversation.ts"
import { cloneToolState, forkMessages, runTurns, type TurnsOutcome, withoutTools } from "../forks/fork.ts"
import type { DecisionDraft } from "../journal/entries.ts"
import { positionOf } from "../layers/layer.ts"
import { type Block, isText, isToolResult, isToolUse, resultBlocks, textOf, toBlocks } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { Model, ModelResponse } from "../model/model.ts"
import type { Flags } from "../settings/flags.ts"
import { createEstimator } from "../tokens/estimate.ts"
import { costOf, requestModelName } from "../tokens/models.ts"

const MAX_CHARACTERS = 60 // per line
const NEWEST_MESSAGES = 6
const MAX_OF_A_BLOCK = 400 // characters of each text, call and result
const LINE_TOKENS = 20
const THINKING_TOKENS = 300 // approximate extra tokens of a model that always thinks
const READER_MAX_TOKENS = 2_000 // leaves room for thinking
const CACHE_LIVES_MS = 5 * 60_000
const MAX_FAILURES = 3 // consecutive failures after which a method is no longer used

/** The state of an agent that progress lines are written from. */
export interface ObservedAgent {
  readonly id: string
  readonly status: string
  /** Number of responses and tool calls so far. */
  readonly steps: number
  readonly agent: Agent | undefined
  line: string | undefined
}

export interface ProgressLinesDependencies {
  readonly clock: Clock
  readonly figures: () => Flags["figures"]
  /** The model for side tasks of an agent that uses the given model. */
  readonly cheapestModel: (model: Model) => Promise<Model>
  /** Records the cost in the lead's journal. */
  readonly onSpent: (decision: DecisionDraft) => void
  /** Reports the first failure to the user. */
  readonly onProblem: (problem: string) => void
}

type LineMethod = "fork" | "newest"

export class ProgressLines {
  readonly #parts: ProgressLinesDependencies
  readonly #failures: Record<LineMethod, number> = { fork: 0, newest: 0 }
  #isReported = false

  constructor(parts: ProgressLinesDependencies) {
    this.#parts = parts
  }

  /** Writes lines about an agent until the returned function is called, which resolves when no request is in flight. */
  follow(agent: ObservedAgent): () => Promise<void> {
    const { clock, figures } = this.#parts
    const ended = new AbortController()
    let writing: Promise<void> = Promise.resolve()
    let cancel: () => void = () => undefined
    let reported = agent.steps
    const wait = () => {
      const seconds = figures()["agent-progress"]
      if (seconds === 0 || ended.signal.aborted) return
      cancel = callAfter(clock, 1000 * seconds, () => {
        writing = next().finally(wait) // scheduled after this one ends, so that requests never overlap
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

  /** Writes one line. Never rejects. */
  async #write(id: string, agent: Agent, signal: AbortSignal): Promise<string | undefined> {
    let method: LineMethod | undefined
    try {
      const requests = await lineRequests(agent, this.#parts)
      method = this.#choose(requests)
      if (method === undefined) return undefined
      const { ended, text, responses, error } = await requests[method].ask(signal)
      for (const response of responses) this.#parts.onSpent(spentDecision(response, id))
      if (ended === "failed") throw error
      if (ended === "answer") this.#failures[method] = 0
      return ended === "answer" ? oneLine(text) : undefined
    } catch (error) {
      if (method) this.#failures[method]++
      if (!this.#isReported && !signal.aborted)
        this.#parts.onProblem(
          `The progress line of ${id} could not be written: ${errorMessage(error)} The work goes on.`,
        )
      this.#isReported = true
      return undefined
    }
  }

  /** Chooses the cheaper method that has not failed too often. If a price is unknown, prefers the smaller request. */
  #choose({ fork, newest }: LineRequests): LineMethod | undefined {
    const isCheaper = fork.dollars !== undefined && newest.dollars !== undefined && fork.dollars < newest.dollars
    const order: readonly LineMethod[] = isCheaper ? ["fork", "newest"] : ["newest", "fork"]
    return order.find((method) => this.#failures[method] < MAX_FAILURES)
  }
}

interface LineRequest {
  /** Estimated cost. */
  readonly dollars: number | undefined
  ask(signal: AbortSignal): Promise<TurnsOutcome>
}

type LineRequests = Readonly<Record<LineMethod, LineRequest>>

const directive = () => promptText(new URL("./progress-line.md", import.meta.url)).trim()
const reader = () => promptText(new URL("./progress-reader.md", import.meta.url)).trim()

async function lineRequests(agent: Agent, { clock, cheapestModel }: ProgressLinesDependencies): Promise<LineRequests> {
  const request = await engineOf(agent.conversation).preparer.forkRequest()
  return {
    fork: forkRequestLine(agent, request, clock),
    newest: readerRequestLine(await cheapestModel(agent.model), request, clock),
  }
}

/** Appends the directive to the agent's own request, which the server has cached. Its tools are declared for that reason, and refused. */
function forkRequestLine(agent: Agent, request: ModelRequest, clock: Clock): LineRequest {
  const { model, shared, conversation } = agent
  const { context, estimator } = engineOf(conversation).views
  const { counted, estimated } = context.size()
  const answeredAt = Date.parse(context.lastResponse?.timestamp ?? "")
  const isCached = counted >= model.facts.minCacheable && clock.now().getTime() - answeredAt < CACHE_LIVES_MS
  const directiveTokens = estimator.text(directive()) + estimated
  return {
    dollars: dollarsFor(
      model,
      isCached ? { read: counted, input: directiveTokens } : { read: 0, input: counted + directiveTokens },
    ),
    ask(signal) {
      const { openCalls } = positionOf(context.storedMessages())
      const { messages, shared: sharedMessages } = forkMessages({ ...request, openCalls, directive: directive() })
      return runTurns({
        model,
        request: { ...request, messages },
        tools: shared.toolset.tools,
        context: cloneToolState(shared.state.toolContext, shared.state.toolContext.reads),
        allows: "No tools are available for a progress line.",
        maxTurns: 1,
        signal,
        stream: { purpose: "progress", writesCache: false, sharedMessages },
      })
    },
  }
}

/** Sends a separate small request with the newest messages, shortened. */
function readerRequestLine(model: Model, { messages }: ModelRequest, clock: Clock): LineRequest {
  const text = `${newestMessagesText(messages)}\n\n${directive()}`
  const input = createEstimator(model.facts.family).text(`${reader()}\n${text}`)
  const { toolContext, reads, tools } = withoutTools(clock)
  return {
    dollars: dollarsFor(model, { read: 0, input }),
    ask: (signal) =>
      runTurns({
        model,
        request: {
          model: requestModelName(model.name),
          max_tokens: Math.min(READER_MAX_TOKENS, model.facts.maxOutput),
          system: reader(),
          messages: [{ role: "user", content: text }],
        },
        tools,
        context: cloneToolState(toolContext, reads),
        allows: "There are no tools.",
        maxTurns: 1,
        signal,
        stream: { purpose: "progress", writesCache: false },
      }),
  }
}

interface PromptTokens {
  /** Tokens read from the server's cache. */
  readonly read: number
  readonly input: number
}

function dollarsFor({ facts }: Model, { read, input }: PromptTokens): number | undefined {
  const output = LINE_TOKENS + (facts.accepts.thinkingOff ? 0 : THINKING_TOKENS)
  const cost = costOf(facts, { ...NO_TOKENS, cacheRead: read, input, output })
  return cost.known ? cost.dollars : undefined
}

const newestMessagesText = (messages: ModelRequest["messages"]): string =>
  messages
    .slice(-NEWEST_MESSAGES)
    .flatMap(({ role, content }) => toBlocks(content as string | Block[]).map((block) => renderBlock(role, block)))
    .filter((line) => line !== undefined)
    .join("\n")

function renderBlock(role: string, block: Block): string | undefined {
  const cut = (text: string) => text.slice(0, MAX_OF_A_BLOCK).toWellFormed()
  if (isText(block)) return JSON.stringify({ role, text: cut(block.text) })
  if (isToolUse(block)) return JSON.stringify({ role, calls: block.name, with: cut(JSON.stringify(block.input)) })
  if (isToolResult(block)) return JSON.stringify({ result: cut(textOf(resultBlocks(block))) })
  return undefined
}

function spentDecision({ id, model, usage }: ModelResponse, agent: string): DecisionDraft {
  return { type: "strata", subtype: "spent", purpose: "progress", agent, model, responseId: id, usage }
}

/** The first line, without control characters, quotes and the final full stop. `undefined` if nothing remains. */
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
