/**
 * Runs extractions one at a time. One that becomes due during another waits and then uses the newest state. A failure is reported once and
 * recorded; unexamined messages are examined next time.
 */
import { utcDay } from "../../../base/clock.ts"
import { errorMessage, errorReason } from "../../../base/errors.ts"
import { unlessInterrupted } from "../../../base/work.ts"
import type { DecisionDraft } from "../../../journal/entries.ts"
import { MissingKeyError } from "../../../model/errors.ts"
import { streamLimits } from "../../../model/stream.ts"
import { dollarsFor, spendingOf } from "../../budget.ts"
import { type LayerContext, type LayerResult, positionOf } from "../../layer.ts"
import type { ExaminedConversation, MemoryWorkReservation } from "../../memory-budget.ts"
import { describeSave, type MemoryWriter, outsideIn, type SaveResult, saveProposals } from "../save/save.ts"
import {
  conversationCounts,
  type ExtractionBudgets,
  earlierMessages,
  type ReadUserMessages,
  reserveExtraction,
} from "./due.ts"
import {
  type ExtractionResult,
  type ExtractMemories,
  MAX_SHOWN_TOKENS,
  type MemoryExtractionTask,
} from "./extraction.ts"

const INSTRUCTIONS = 1_000 // tokens of the prompt without memories

export interface MemoryExtractor extends MemoryWriter, ExtractionBudgets {
  readonly extract: ExtractMemories
  /** The memory directory with links followed, if there is one. */
  readonly directory?: string
  /** Reads the user's messages of waiting conversations. */
  readonly readUserMessages: ReadUserMessages
}

export class ExtractionQueue {
  readonly #options: MemoryExtractor
  #running: Promise<void> | undefined
  /** An extraction that became due during another one. Of several, only the newest runs, and the one before it gives up. */
  #waiting: { readonly context: LayerContext; readonly giveUp: () => void } | undefined
  /** Number of user messages that the last attempt saw. A failed attempt is repeated when there are more. */
  #tried = 0
  /** Set if no model can be asked, because further attempts would fail too. */
  #isOff = false
  #lastProblem: string | undefined
  readonly #reported = new Set<string>()

  constructor(options: MemoryExtractor) {
    this.#options = options
  }

  /** The running extraction, until it is in the journal. Never rejects. */
  get running(): Promise<void> | undefined {
    return this.#running
  }

  async afterQuery(context: LayerContext): Promise<LayerResult | undefined> {
    if (this.#isOff || this.#options.mode === "read-only") return undefined
    if (context.views.memories.agentWrites > context.views.memories.seenWrites) return this.#skipped(context)
    if (context.views.context.queued.length > 0) return undefined // the user is waiting; the end of that query sees these messages too
    if (!this.#hasNews(context) && !this.#waiting) return undefined
    if (this.#running) await this.#itsTurn(context)
    if (this.#waiting && this.#waiting.context !== context) return undefined
    this.#waiting = undefined
    if (!this.#hasNews(context)) return undefined
    if (!context.signal.aborted) return this.#start(context)
    await this.#options.budget.note(conversationCounts(context)) // the conversation is closing: a later one examines them
    return undefined
  }

  /** Resolves when no extraction runs, when a newer one waits, or when the conversation closes. */
  async #itsTurn(context: LayerContext): Promise<void> {
    const { promise, resolve: giveUp } = Promise.withResolvers<void>()
    this.#waiting?.giveUp()
    this.#waiting = { context, giveUp }
    const isNewest = () => this.#waiting?.context === context
    while (this.#running && isNewest() && !context.signal.aborted)
      await unlessInterrupted(context.signal, Promise.race([promise, this.#running]))
  }

  #hasNews({ views }: LayerContext): boolean {
    return views.words.messages.length > this.#tried
  }

  /** Sets `#running` before the first await: nothing may come between the check and the start. */
  async #start(context: LayerContext): Promise<LayerResult | undefined> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => {
      if (this.#running === promise) this.#running = undefined
      resolve()
    }
    this.#running = promise
    let outcome: LayerResult | undefined
    try {
      outcome = await this.#extractOrWait(context)
    } catch (error) {
      outcome = this.#failed(error, context)
    } finally {
      if (!outcome) end()
    }
    return outcome && { ...outcome, journaled: async () => end(), lost: end }
  }

  /** Extracts now, or leaves the messages to a later extraction of this or another conversation. */
  async #extractOrWait(context: LayerContext): Promise<LayerResult | undefined> {
    const { bank } = this.#options
    const prompt = async () => {
      const [memories, index] = await Promise.all([bank.all(), bank.index()])
      return promptTokens({ memories, index: index.text, estimate: estimateIn(context) })
    }
    const share = await reserveExtraction(context, { ...this.#options, prompt })
    if (share.state === "taken") return this.#extract(context, share)
    if (share.message !== undefined) this.#report(context, share.message)
    return undefined
  }

  /** Reports each sentence once per conversation. */
  #report(context: LayerContext, message: string): void {
    const kind = message.slice(0, message.indexOf(":"))
    if (this.#reported.has(kind)) return
    this.#reported.add(kind)
    context.progress({ phase: "message", message })
  }

  async #extract(context: LayerContext, share: MemoryWorkReservation): Promise<LayerResult | undefined> {
    const { bank, readUserMessages } = this.#options
    const state = captureState(context, share.from)
    this.#tried = state.seen.said
    let [spent, dollars, looked]: [readonly DecisionDraft[], number, readonly ExaminedConversation[]] = [[], 0, []]
    try {
      const [isCommand, request] = await Promise.all([bank.isCommandRunning(), context.request()])
      const task = await this.#taskFor(context, { ...state, request })
      const earlier = await earlierMessages(share.waiting, { readUserMessages, estimate: state.estimate })
      const extraction = await this.#options.extract({ ...task, earlier: earlier.shown })
      spent = spendingOf(extraction.responses, "memory")
      dollars = dollarsFor(extraction.responses, context.facts)
      const { throughUuid, seen } = state
      if (extraction.ended !== "done" || throughUuid === undefined) return this.#unfinished(extraction, spent, context)
      const evidence = {
        conversation: context.conversation,
        words: isCommand ? [] : [...earlier.words, ...state.everything],
        outside: outsideIn(state.stored),
      }
      const { now, signal } = context
      const saved = await saveProposals(extraction, { ...this.#options, evidence, now, signal })
      looked = [...earlier.looked, { id: context.journal.address.id, messageCount: seen.said, remainingTokens: 0 }]
      this.#lastProblem = undefined
      return extractionResult(saved, spent, { throughUuid, ...seen })
    } catch (error) {
      const failed = this.#failed(error, context)
      return spent.length === 0 ? failed : { ...failed, drafts: [...spent, ...(failed?.drafts ?? [])] }
    } finally {
      await share.settle(dollars, looked)
    }
  }

  async #taskFor(
    context: LayerContext,
    { words, isContinued, openCalls, estimate, room, request }: ExtractionState & Pick<MemoryExtractionTask, "request">,
  ): Promise<Omit<MemoryExtractionTask, "earlier">> {
    const { bank, directory } = this.#options
    const [memories, index] = await Promise.all([bank.all(), bank.index()])
    return {
      ...{ words, isContinued, memories, request, openCalls, estimate, room, directory },
      index: index.text,
      textOf: (file) => bank.text(file),
      location: directory ?? bank.location,
      today: utcDay(context.now),
      maxTurns: context.flags.figures["memory-turns"],
      timeLimits: streamLimits(context.flags),
      signal: context.signal,
    }
  }

  /** Result of an unsuccessful extraction. Nothing is recorded if it cost nothing and the problem is not new. */
  #unfinished(
    { problem }: ExtractionResult,
    spent: readonly DecisionDraft[],
    context: LayerContext,
  ): LayerResult | undefined {
    const failed = problem === undefined ? undefined : this.#failed(problem, context)
    const drafts = [...spent, ...(failed?.drafts ?? [])]
    return drafts.length + (failed?.failures?.length ?? 0) > 0 ? { ...failed, drafts } : undefined
  }

  /** Skips an extraction because the agent wrote memories itself: all messages so far count as examined. */
  async #skipped(context: LayerContext): Promise<LayerResult | undefined> {
    const { views } = context
    const { throughUuid } = positionOf(views.context.storedMessages())
    if (throughUuid === undefined) return undefined
    const seen = { said: views.words.messages.length, agentWrites: views.memories.agentWrites }
    const facts = { throughUuid, written: [], skipped: "agent-wrote" as const, ...seen }
    await this.#options.budget.note({ ...conversationCounts(context), from: seen.said })
    return { drafts: [{ type: "strata", subtype: "memory-extracted", ...facts }] }
  }

  /** Records a failure. The same problem is not reported again. A closed conversation has no problem. */
  #failed(error: unknown, { signal, flags }: LayerContext): LayerResult | undefined {
    if (signal.aborted) return undefined
    if (error instanceof MissingKeyError) {
      this.#isOff = true
      if (flags.on.notes) return undefined // the notes already report it
    }
    const reason = errorReason(error)
    const isNews = reason !== this.#lastProblem
    this.#lastProblem = reason
    if (!isNews) return undefined
    const message = errorMessage(error)
    return { drafts: [{ type: "strata", subtype: "memory-extraction-failed", message }], failures: [error] }
  }
}

/** Maximum tokens of the prompt without messages of other conversations. A fork that can read files may read as much. */
function promptTokens({ memories, index, estimate }: Pick<MemoryExtractionTask, "memories" | "index" | "estimate">) {
  let shown = 0
  for (const { body } of memories) {
    shown += estimate(body)
    if (shown >= MAX_SHOWN_TOKENS) break
  }
  return INSTRUCTIONS + estimate(index) + Math.min(MAX_SHOWN_TOKENS, shown)
}

const estimateIn =
  ({ views }: LayerContext) =>
  (text: string) =>
    Math.ceil(views.estimator.text(text))

/** Captures the current conversation and its request together: it may have continued since the extraction became due. */
function captureState(context: LayerContext, from: number) {
  const { context: view, words, memories } = context.views
  const stored = view.storedMessages()
  return {
    ...{ stored, ...positionOf(stored) },
    room: context.thresholds.effective - view.size().tokens,
    seen: { said: words.messages.length, agentWrites: memories.agentWrites },
    isContinued: from > 0,
    words: words.messages.slice(from),
    everything: [...words.messages],
    estimate: estimateIn(context),
  }
}

type ExtractionState = ReturnType<typeof captureState>

interface ExtractionPosition {
  readonly throughUuid: string
  readonly said: number
  readonly agentWrites: number
}

function extractionResult(saved: SaveResult, spent: readonly DecisionDraft[], seen: ExtractionPosition): LayerResult {
  const written = saved.memories.map(({ file }) => file!)
  const facts = { written, ...seen, ...(saved.change ? { change: saved.change.id } : {}) }
  return { drafts: [...spent, { type: "strata", subtype: "memory-extracted", ...facts }], ...describeSave(saved) }
}
