/**
 * Layer 3: notes are kept while the work goes on, by a fork in the background, so that at a compaction the summary is there already. One
 * update at a time; one that becomes due meanwhile waits for its end and starts with the newest state (L3-4).
 */
import { StrataError } from "../../base/errors.ts"
import type { Flags } from "../../base/flags.ts"
import type { DecisionDraft, Draft } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import { type BudgetAnswer, backgroundBudget } from "../background-budget.ts"
import type { Layer, Turn } from "../layer.ts"
import { type Position, positionOf } from "../position.ts"
import { keptName, notesOfBranch } from "./branch-notes.ts"
import { canEdit, type Extraction, type Extractor, extractNotes } from "./extraction.ts"
import type { NotesLimits } from "./limits.ts"
import { cutSections, isBareTemplate } from "./notes.ts"
import { loadTexts } from "./prompt.ts"
import { isTimeForNotes, type NotesFigures } from "./triggers.ts"
import { workSince } from "./work-since.ts"

export interface SessionMemory extends Layer {
  /** The update under way, until what it decided is in the journal, or cannot be written there. */
  running(): RunningExtraction | undefined
  /** The notes, each section cut to its limit; `undefined` where there is no more than the bare template (L4-5, L4-8). */
  summary(turn: Turn): Promise<string | undefined>
}

export interface RunningExtraction {
  readonly startedAt: Date
  /** Never rejects. */
  readonly done: Promise<void>
}

/** Notes are on, but no tool could write them. */
export class NoEditToolError extends StrataError {
  override readonly name = "NoEditToolError"

  constructor() {
    super(
      "No notes are taken in this conversation: its tools have no Edit to write them with. Everything else works as before. Add the tool, or switch the notes off.",
    )
  }
}

interface Figures extends NotesFigures {
  /** Of the conversation's spend, in percent (L5-9). */
  readonly share: number
  readonly limits: NotesLimits
}

export function sessionMemory(options: Extractor): SessionMemory {
  let running: RunningExtraction | undefined
  /** Whom to tell when these drafts are in the journal, or cannot be. */
  const untold = new WeakMap<readonly Draft[], () => void>()
  /** Where the last update began, however it ended: one that failed is tried again when the context has grown, not at once. */
  let last: { readonly size: number; readonly throughUuid: Uuid | undefined } | undefined
  /** An update that became due during another one waits; of several the newest is carried out. */
  let waiting: Turn | undefined
  let isOff = false
  let isWaitTold = false

  function isDue(turn: Turn, figures: Figures): boolean {
    const size = turn.size.tokens
    if (last && size < last.size) last = { ...last, size } // the context has shrunk: growth is measured from here
    const { throughUuid, size: sizeAtLast } = last ?? { ...turn.views.notes, size: turn.views.notes.contextTokens }
    const work = () => workSince(turn.views.context.storedMessages(), throughUuid)
    return isTimeForNotes({ size, sizeAtLast, figures, work })
  }

  function isAffordable(turn: Turn, { share }: Figures): boolean {
    const budget = backgroundBudget(turn.views.ledger, share)
    if (!budget.allowed && !isWaitTold) {
      turn.progress({ phase: "message", message: waitsFor(budget) })
      isWaitTold = true
    }
    return budget.allowed
  }

  /** Begins at once: nothing may come between looking whether another one runs and starting. */
  function start(turn: Turn, figures: Figures): Promise<readonly Draft[]> {
    const position = positionOf(turn.views.context.storedMessages())
    last = { size: turn.size.tokens, throughUuid: position.throughUuid }
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const own = { startedAt: options.toolContext.clock.now(), done }
    const end = () => {
      if (running === own) running = undefined
      resolve()
    }
    running = own
    const work = update(options, { turn, position, limits: figures.limits })
    work.then((drafts) => {
      if (drafts.length > 0) untold.set(drafts, end)
      else end()
    }, end)
    return work
  }

  return {
    name: "session-memory",
    running: () => running,
    summary: (turn) => notesAsSummary(turn, options.configDirectory),

    async afterResponse(turn) {
      if (isOff || turn.journal.notesPath === undefined || !(await turn.flags.isOn("notes"))) return []
      const figures = await figuresFrom(turn.flags)
      if (!isDue(turn, figures) && !waiting) return []
      if (!isAffordable(turn, figures)) return []
      if (!canEdit(options.tools)) {
        if (isOff) return []
        isOff = true
        throw new NoEditToolError()
      }
      if (running) waiting = turn
      while (running && !turn.signal.aborted) await unlessInterrupted(turn.signal, running.done)
      if (waiting && waiting !== turn) return []
      waiting = undefined
      // what the one before has cost is known only now
      return turn.signal.aborted || !isAffordable(turn, figures) ? [] : start(turn, figures)
    },

    async acted(drafts) {
      untold.get(drafts)?.()
    },

    lost(drafts) {
      untold.get(drafts)?.()
    },

    describe(drafts) {
      const updated = drafts.find((draft) => draft.type === "strata" && draft.subtype === "notes-updated")
      if (updated?.type !== "strata" || updated.subtype !== "notes-updated") return undefined
      return `The notes were updated: ${updated.tokens.toLocaleString("en-US")} tokens in ${updated.path}.`
    },
  }
}

async function notesAsSummary(turn: Turn, configDirectory: string | undefined): Promise<string | undefined> {
  const { journal, flags, views } = turn
  const path = journal.notesPath
  const notes = await notesOfBranch(turn)
  const text = notes.state === "in-file" || notes.state === "kept" ? notes.text : undefined
  if (path === undefined || text === undefined) return undefined
  const texts = await loadTexts(configDirectory).catch(() => undefined) // one that cannot be read is told when notes are taken
  if (isBareTemplate(text, texts?.template)) return undefined
  const limit = await flags.figure("notes-section-limit")
  return cutSections(text, { limit, path, estimate: (part) => views.estimator.text(part) })
}

const waitsFor = ({ taken, limit }: Extract<BudgetAnswer, { allowed: false }>) =>
  `The notes wait: they have taken ${Math.round(taken)}% of what the conversation cost so far, and may take ${limit}% (background-share).`

async function figuresFrom(flags: Flags): Promise<Figures> {
  return {
    first: await flags.figure("notes-first"),
    growth: await flags.figure("notes-growth"),
    toolCalls: await flags.figure("notes-tool-calls"),
    share: await flags.figure("background-share"),
    limits: { section: await flags.figure("notes-section-limit"), total: await flags.figure("notes-limit") },
  }
}

interface Update {
  readonly turn: Turn
  readonly position: Position
  readonly limits: NotesLimits
}

async function update(options: Extractor, { turn, position, limits }: Update): Promise<readonly Draft[]> {
  const { views, journal, thresholds, signal } = turn
  const path = journal.notesPath!
  const { throughUuid, openCalls } = position
  const contextTokens = turn.size.tokens
  const estimate = (text: string) => Math.ceil(views.estimator.text(text))
  // of the same moment as the position: the messages are taken before anything is waited for
  const [request, standing] = await Promise.all([turn.request(), notesOfBranch(turn)])
  const extraction = await extractNotes(options, {
    path,
    instead: standing.state === "kept" ? (standing.text ?? "") : undefined,
    request,
    openCalls,
    limits,
    estimate,
    room: thresholds.effective - contextTokens,
    now: turn.now,
    signal,
  })
  if (extraction.state === "no-room") return []
  const spent = spentOn(extraction)
  if (extraction.state === "noted" && throughUuid !== undefined) {
    const kept = await keep(extraction.text, journal)
    const facts = { throughUuid, path, tokens: estimate(extraction.text), contextTokens }
    return [...spent, { type: "strata", subtype: "notes-updated", ...facts, ...kept }]
  }
  const { ended, error } = extraction.outcome
  if (spent.length === 0 && ended === "failed") throw error
  return spent
}

/** Without it nothing is lost but the way back to them. */
async function keep(text: string, journal: Turn["journal"]): Promise<{ readonly kept?: string }> {
  const kept = keptName(text)
  return journal.writeBlob(kept, text).then(
    () => ({ kept }),
    () => ({}),
  )
}

const spentOn = ({ outcome }: Exclude<Extraction, { state: "no-room" }>): readonly DecisionDraft[] =>
  outcome.responses.map(({ id, model, usage }) => ({
    type: "strata",
    subtype: "spent",
    purpose: "notes",
    model,
    responseId: id,
    usage,
  }))
