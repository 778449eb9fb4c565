/**
 * Runs extractions, one at a time. One that becomes due during another waits for it and then looks at the newest state. A failure is
 * reported once and recorded; what was not looked at is looked at next time.
 */
import { messageOf, reasonOf } from "../../base/errors.ts"
import type { MemoryMode } from "../../base/vocabulary.ts"
import type { DecisionDraft } from "../../journal/entries.ts"
import type { MemoryBank } from "../../memory/bank.ts"
import { MissingKeyError } from "../../model/errors.ts"
import type { ModelResponse } from "../../model/model.ts"
import { limitsFrom } from "../../model/stream-limits.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import type { Word } from "../../views/record/words.ts"
import { type BudgetAnswer, backgroundBudget, type Spent, spentOn } from "../background-budget.ts"
import { type DailySpend, dollarsFor } from "../daily-limit.ts"
import type { LayerContext, Outcome } from "../layer.ts"
import { positionOf } from "../position.ts"
import type { Quota } from "../quota.ts"
import { dayOf, type Extraction, type ExtractMemories } from "./extraction.ts"
import { type ConfirmMemory, type Kept, keepProposals } from "./keep.ts"
import { isTyped, outsideIn, type SaidWord } from "./provenance.ts"
import { reportOf } from "./report.ts"
import type { Waiting, WaitingConversation } from "./waiting.ts"
import { isWorthExtracting } from "./worth.ts"

export interface Extractor {
  readonly bank: MemoryBank
  readonly mode: Exclude<MemoryMode, "off">
  readonly extract: ExtractMemories
  readonly daily: DailySpend
  readonly quota?: Quota
  /** The memory directory with its links followed, if there is one. */
  readonly directory?: string
  /** Shows a write and asks, where the mode is `ask`. Missing where no one can be asked. */
  readonly confirm?: ConfirmMemory
  /** What an extraction will cost, for the first one. Missing where it costs nothing. */
  readonly expected?: (context: LayerContext) => Spent
  /** Conversations that were too short for an extraction. */
  readonly waiting?: Waiting
  /** Texts that the person did not want to keep. */
  readonly refused?: string[]
}

const MOST_EARLIER_TOKENS = 4_000 // of what was said in other conversations
const MOST_EARLIER_CHARACTERS = 1_500 // of one message

export class ExtractionQueue {
  readonly #options: Extractor
  #running: Promise<void> | undefined
  /** One that became due during another. Of several, only the newest runs. */
  #waiting: LayerContext | undefined
  /** How many of the person's messages the last attempt saw. A failed one is repeated when there are more. */
  #tried = 0
  /** No model can be asked: further attempts would fail like the first. */
  #isOff = false
  #lastProblem: string | undefined
  readonly #reported = new Set<string>()

  constructor(options: Extractor) {
    this.#options = options
  }

  /** The extraction under way, until it is in the journal. It never rejects. */
  get running(): Promise<void> | undefined {
    return this.#running
  }

  async afterQuery(context: LayerContext): Promise<Outcome | undefined> {
    if (this.#isOff || this.#options.mode === "read-only") return undefined
    if (context.views.memories.agentWrites > context.views.memories.seenWrites) return skipped(context)
    if (context.views.context.queued.length > 0) return undefined // the person waits; the end of that query sees these messages too
    if (!this.#isDue(context) && !this.#waiting) return undefined
    if (this.#running) this.#waiting = context
    while (this.#running && !context.signal.aborted) await unlessInterrupted(context.signal, this.#running)
    if (this.#waiting && this.#waiting !== context) return undefined
    this.#waiting = undefined
    if (context.signal.aborted || !this.#isDue(context)) return undefined
    return this.#start(context)
  }

  #isDue(context: LayerContext): boolean {
    const { words } = context.views
    const isNew = words.messages.length > this.#tried
    return isNew && isWorthExtracting(newWords(context), context.flags.figures["memory-messages"])
  }

  /** Sets `#running` before the first await: nothing may come between the check and the start. */
  async #start(context: LayerContext): Promise<Outcome | undefined> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => {
      if (this.#running === promise) this.#running = undefined
      resolve()
    }
    this.#running = promise
    let outcome: Outcome | undefined
    try {
      outcome = await this.#extractOrWait(context)
    } catch (error) {
      outcome = this.#failed(error, context)
    } finally {
      if (!outcome) end()
    }
    return outcome && { ...outcome, journaled: async () => end(), lost: end }
  }

  /** Until it has been looked at, the conversation waits: then one that follows can do it, if this one ends before. */
  async #extractOrWait(context: LayerContext): Promise<Outcome | undefined> {
    const { waiting } = this.#options
    const others = ((await waiting?.all()) ?? []).filter(({ id }) => id !== context.conversation)
    const own = asWaiting(context)
    if (own) await waiting?.note(own)
    return (await this.#isAffordable(context, others)) ? this.#extract(context, others) : undefined
  }

  async #isAffordable(context: LayerContext, others: readonly WaitingConversation[]): Promise<boolean> {
    const { figures } = context.flags
    const first = this.#options.expected?.(context)
    const budget = backgroundBudget(context.views.ledger, {
      ...{ purpose: "memory", limit: figures["background-share"], besides: others.map(({ spent }) => spent) },
      ...(first ? { first } : {}),
    })
    if (!budget.allowed) {
      if (budget.taken > 0) this.#report(context, waitsForShare(budget)) // a short conversation just waits
      return false
    }
    const shortage = this.#options.quota?.shortage(context.now)
    if (shortage !== undefined) {
      this.#report(context, `Memories wait for a while: ${shortage}. They are written after a later query.`)
      return false
    }
    const limit = figures["memory-daily-limit"]
    const spent = await this.#options.daily.today(context.now)
    if (spent < limit) return true
    this.#report(context, waitsForTomorrow(spent, limit))
    return false
  }

  /** Each sentence once per conversation. */
  #report(context: LayerContext, message: string): void {
    const kind = message.slice(0, message.indexOf(":"))
    if (this.#reported.has(kind)) return
    this.#reported.add(kind)
    context.progress({ phase: "message", message })
  }

  async #extract(context: LayerContext, others: readonly WaitingConversation[]): Promise<Outcome | undefined> {
    const { bank, mode, confirm, daily, waiting, refused } = this.#options
    const { views, now } = context
    // taken at the same moment, before anything is awaited
    const stored = views.context.storedMessages()
    const { throughUuid, openCalls } = positionOf(stored)
    const seen = { said: views.words.messages.length, agentWrites: views.memories.agentWrites }
    const words = newWords(context)
    const everything = [...views.words.messages]
    this.#tried = seen.said
    const isPersonsTurn = !(await bank.isCommandRunning())
    const [request, memories, index] = await Promise.all([context.request(), bank.all(), bank.index()])
    const today = dayOf(now)
    const estimate = (text: string) => Math.ceil(views.estimator.text(text))
    const earlier = await saidEarlier(others, { waiting, estimate })
    const extraction = await this.#options.extract({
      ...{ words, memories, request, openCalls, today, directory: this.#options.directory },
      earlier: earlier.words.map(({ text }) => text.slice(0, MOST_EARLIER_CHARACTERS).toWellFormed()),
      isContinued: views.memories.throughUuid !== undefined,
      index: index.text,
      textOf: (file) => bank.text(file),
      location: this.#options.directory ?? bank.location,
      estimate,
      room: context.thresholds.effective - context.size.tokens,
      maxTurns: context.flags.figures["memory-turns"],
      patience: limitsFrom(context.flags),
      signal: context.signal,
    })
    if (extraction.responses.length > 0) await daily.add(dollarsFor(extraction.responses, context.facts), now)
    const spent = extraction.responses.map(asSpent)
    if (extraction.ended !== "done" || throughUuid === undefined) return this.#unfinished(extraction, spent, context)
    const evidence = {
      conversation: context.conversation,
      words: isPersonsTurn ? [...earlier.words, ...everything] : [],
      outside: outsideIn(stored),
    }
    try {
      const kept = await keepProposals(extraction, {
        ...{ bank, mode, evidence, today, signal: context.signal },
        ...(confirm ? { confirm } : {}),
        ...(refused ? { refused } : {}),
      })
      const own = asWaiting(context)
      await waiting?.looked([...earlier.taken, ...(own ? [{ ...own, said: seen.said }] : [])])
      this.#lastProblem = undefined
      return finished(kept, [...spent], { throughUuid, ...seen })
    } catch (error) {
      const failed = this.#failed(error, context)
      return { ...failed, drafts: [...spent, ...(failed?.drafts ?? [])] }
    }
  }

  /** Nothing is recorded where nothing was spent and nothing is news. */
  #unfinished({ problem }: Extraction, spent: readonly DecisionDraft[], context: LayerContext): Outcome | undefined {
    const failed = problem === undefined ? undefined : this.#failed(problem, context)
    const drafts = [...spent, ...(failed?.drafts ?? [])]
    return drafts.length + (failed?.failures?.length ?? 0) > 0 ? { ...failed, drafts } : undefined
  }

  /** The same problem again is not reported again. A conversation that was closed has no problem. */
  #failed(error: unknown, { signal, flags }: LayerContext): Outcome | undefined {
    if (signal.aborted) return undefined
    if (error instanceof MissingKeyError) {
      this.#isOff = true
      if (flags.on.notes) return undefined // the notes say so already
    }
    const reason = reasonOf(error)
    const isNews = reason !== this.#lastProblem
    this.#lastProblem = reason
    if (!isNews) return undefined
    const message = messageOf(error)
    return { drafts: [{ type: "strata", subtype: "memory-extraction-failed", message }], failures: [error] }
  }
}

/** What the person said since the last extraction. */
const newWords = ({ views }: LayerContext): readonly Word[] => views.words.messages.slice(views.memories.said)

/** The agent wrote memories itself: what was said until now counts as looked at. */
function skipped({ views }: LayerContext): Outcome | undefined {
  const { throughUuid } = positionOf(views.context.storedMessages())
  if (throughUuid === undefined) return undefined
  const seen = { said: views.words.messages.length, agentWrites: views.memories.agentWrites }
  const facts = { throughUuid, written: [], skipped: "agent-wrote" as const, ...seen }
  return { drafts: [{ type: "strata", subtype: "memory-extracted", ...facts }] }
}

interface Seen {
  readonly throughUuid: string
  readonly said: number
  readonly agentWrites: number
}

function finished(kept: Kept, spent: readonly DecisionDraft[], seen: Seen): Outcome {
  const written = kept.memories.map(({ file }) => file!)
  const facts = { written, ...seen, ...(kept.change ? { change: kept.change.id } : {}) }
  return { drafts: [...spent, { type: "strata", subtype: "memory-extracted", ...facts }], ...reportOf(kept) }
}

/** The conversation as one that waits. Sub-agents do not: what they heard is the agent's words. */
function asWaiting({ journal, views }: LayerContext): WaitingConversation | undefined {
  const { project, id, under } = journal.address
  if (under !== undefined) return undefined
  const spent = spentOn(views.ledger.lines.values())
  return { project, id, from: views.memories.said, said: views.words.messages.length, spent }
}

/** What was said in conversations that wait, as far as there is room. Those that do not fit go on waiting. */
async function saidEarlier(
  others: readonly WaitingConversation[],
  { waiting, estimate }: { readonly waiting: Waiting | undefined; readonly estimate: (text: string) => number },
): Promise<{ readonly words: readonly SaidWord[]; readonly taken: readonly WaitingConversation[] }> {
  const words: SaidWord[] = []
  const taken: WaitingConversation[] = []
  let room = MOST_EARLIER_TOKENS
  for (const one of others) {
    const said = ((await waiting?.wordsOf(one)) ?? []).filter(isTyped)
    room -= said.reduce((sum, { text }) => sum + estimate(text.slice(0, MOST_EARLIER_CHARACTERS)), 0)
    if (room < 0) break
    words.push(...said.map((word) => ({ ...word, conversation: one.id })))
    taken.push(one)
  }
  return { words, taken }
}

const asSpent = ({ id, model, usage }: ModelResponse): DecisionDraft => ({
  type: "strata",
  subtype: "spent",
  purpose: "memory",
  model,
  responseId: id,
  usage,
})

const waitsForShare = ({ taken, next, limit }: Extract<BudgetAnswer, { allowed: false }>) =>
  `Memories wait: background work has taken ${Math.round(taken)}% of the conversation's cost so far. Another extraction would make it ${Math.round(next)}%, and the limit is ${limit}% (background-share).`

const waitsForTomorrow = (spent: number, limit: number) =>
  `No more memories today: memory work of this project has cost $${spent.toFixed(2)}, and the limit is $${limit} a day (memory-daily-limit).`
