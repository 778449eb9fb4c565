/**
 * Runs extractions, one at a time. One that becomes due during another waits for it and then looks at the newest state. A failure is
 * reported once and recorded; what was not looked at is looked at next time.
 */
import { dayOf } from "../../../base/clock.ts"
import { messageOf, reasonOf } from "../../../base/errors.ts"
import type { DecisionDraft } from "../../../journal/entries.ts"
import { MissingKeyError } from "../../../model/errors.ts"
import { limitsFrom } from "../../../model/stream-limits.ts"
import { unlessInterrupted } from "../../../tools/interruption.ts"
import type { Word } from "../../../views/record/words.ts"
import { spendingOf } from "../../background-budget.ts"
import { type ShareOfDay, settled } from "../../daily-limit.ts"
import { dollarsFor } from "../../dollars-for.ts"
import type { LayerContext, Outcome } from "../../layer.ts"
import { positionOf } from "../../position.ts"
import { type Keeper, type Kept, keepProposals, reportOf } from "../keep/keep.ts"
import { outsideIn } from "../keep/provenance.ts"
import { isAffordable, isWorthExtracting, type Purses } from "./due.ts"
import type { Extraction, ExtractionTask, ExtractMemories } from "./extraction.ts"
import { asWaiting, isNoted, saidEarlier, type Waiting, type WaitingConversation } from "./waiting.ts"

export interface Extractor extends Keeper, Purses {
  readonly extract: ExtractMemories
  /** The memory directory with its links followed, if there is one. */
  readonly directory?: string
  /** Conversations that were too short for an extraction. */
  readonly waiting?: Waiting
}

interface ExtractionOrder {
  readonly others: readonly WaitingConversation[]
  /** Whether this conversation waits too. */
  readonly isNoted: boolean
  readonly share: ShareOfDay
}

export class ExtractionQueue {
  readonly #options: Extractor
  #running: Promise<void> | undefined
  /** One that became due during another. Of several, only the newest runs: the one before it need not wait any longer. */
  #waiting: { readonly context: LayerContext; readonly giveUp: () => void } | undefined
  /** This conversation, as it was noted last. */
  #noted: WaitingConversation | undefined
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
    if (this.#running) await this.#itsTurn(context)
    if (this.#waiting && this.#waiting.context !== context) return undefined
    this.#waiting = undefined
    if (context.signal.aborted || !this.#isDue(context)) return undefined
    return this.#start(context)
  }

  /** Resolves when nothing runs any more, when a newer one waits, or when the conversation closes. */
  async #itsTurn(context: LayerContext): Promise<void> {
    const { promise, resolve: giveUp } = Promise.withResolvers<void>()
    this.#waiting?.giveUp()
    this.#waiting = { context, giveUp }
    const isNewest = () => this.#waiting?.context === context
    while (this.#running && isNewest() && !context.signal.aborted)
      await unlessInterrupted(context.signal, Promise.race([promise, this.#running]))
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
    const all = (await waiting?.all()) ?? []
    const others = all.filter(({ id }) => id !== context.conversation)
    const affordable = await isAffordable(context, { ...this.#options, besides: others.map(({ spent }) => spent) })
    if (affordable.state === "taken")
      return this.#extract(context, { others, isNoted: others.length < all.length, share: affordable })
    const own = asWaiting(context)
    if (own && !isNoted(own, this.#noted)) {
      await waiting?.note(own)
      this.#noted = own
    }
    if (affordable.message !== undefined) this.#report(context, affordable.message)
    return undefined
  }

  /** Each sentence once per conversation. */
  #report(context: LayerContext, message: string): void {
    const kind = message.slice(0, message.indexOf(":"))
    if (this.#reported.has(kind)) return
    this.#reported.add(kind)
    context.progress({ phase: "message", message })
  }

  async #extract(
    context: LayerContext,
    { others, isNoted: isWaiting, share }: ExtractionOrder,
  ): Promise<Outcome | undefined> {
    const { bank, waiting } = this.#options
    const look = lookAt(context)
    this.#tried = look.seen.said
    const { extraction, earlier, isPersonsTurn } = await settled(share, {
      work: async () => {
        const [isCommand, request] = await Promise.all([bank.isCommandRunning(), context.request()])
        const task = await this.#taskFor(context, { ...look, request })
        const said = await saidEarlier(others, { waiting, estimate: look.estimate })
        const done = await this.#options.extract({ ...task, earlier: said.shown })
        return { extraction: done, earlier: said, isPersonsTurn: !isCommand }
      },
      cost: (done) => dollarsFor(done.extraction.responses, context.facts),
    })
    const spent = spendingOf(extraction.responses, "memory")
    const { throughUuid } = look
    if (extraction.ended !== "done" || throughUuid === undefined) return this.#unfinished(extraction, spent, context)
    const evidence = {
      conversation: context.conversation,
      words: isPersonsTurn ? [...earlier.words, ...look.everything] : [],
      outside: outsideIn(look.stored),
    }
    try {
      const { now, signal } = context
      const kept = await keepProposals(extraction, { ...this.#options, evidence, now, signal })
      const own = isWaiting ? asWaiting(context) : undefined
      const looked = [...earlier.taken, ...(own ? [{ ...own, said: look.seen.said }] : [])]
      if (looked.length > 0) await waiting?.looked(looked)
      this.#lastProblem = undefined
      return finished(kept, spent, { throughUuid, ...look.seen })
    } catch (error) {
      const failed = this.#failed(error, context)
      return { ...failed, drafts: [...spent, ...(failed?.drafts ?? [])] }
    }
  }

  async #taskFor(
    context: LayerContext,
    { words, openCalls, estimate, room, request }: Look & Pick<ExtractionTask, "request">,
  ): Promise<Omit<ExtractionTask, "earlier">> {
    const { bank, directory } = this.#options
    const [memories, index] = await Promise.all([bank.all(), bank.index()])
    return {
      ...{ words, memories, request, openCalls, estimate, room, directory },
      isContinued: context.views.memories.throughUuid !== undefined,
      index: index.text,
      textOf: (file) => bank.text(file),
      location: directory ?? bank.location,
      today: dayOf(context.now),
      maxTurns: context.flags.figures["memory-turns"],
      patience: limitsFrom(context.flags),
      signal: context.signal,
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

/** The conversation at one moment: it goes on while the extraction runs. */
/** As it is now, and not when it became due: it may have gone on meanwhile. The request is taken at the same moment. */
function lookAt(context: LayerContext) {
  const { context: view, words, memories, estimator } = context.views
  const stored = view.storedMessages()
  return {
    ...{ stored, ...positionOf(stored) },
    room: context.thresholds.effective - view.size().tokens,
    seen: { said: words.messages.length, agentWrites: memories.agentWrites },
    words: newWords(context),
    everything: [...words.messages],
    estimate: (text: string) => Math.ceil(estimator.text(text)),
  }
}

type Look = ReturnType<typeof lookAt>

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
