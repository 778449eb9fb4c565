/** Step 5, restore. What follows the summary, and how large the context will be with it. */
import { inSlices } from "../../../base/work.ts"
import { renderAttachment } from "../../../messages/attachment-texts.ts"
import type { Attachment } from "../../../messages/attachments.ts"
import type { Message } from "../../../messages/messages.ts"
import type { FileRead } from "../../../tools/tool.ts"
import { type Cut, type Shortened, shortenedIn, withShortened } from "../cut.ts"
import { restoreWithin, type Situation } from "../situation.ts"
import { factSteps } from "./facts.ts"
import { withSeenBefore } from "./files.ts"
import { type Restored, restoreAttachments } from "./restore.ts"

export interface CompactedMessages {
  readonly attachments: readonly Attachment[]
  /** Long results of kept messages that are shortened. */
  readonly shortened: readonly Shortened[]
  /** What counts as read from now on. */
  readonly reads: readonly (readonly [string, FileRead])[]
  readonly files: Restored["files"]
  /** Size of the whole context, not rounded: the view rounds once, so a sum of rounded parts would differ from it. */
  readonly tokens: number
  readonly summary: number
  /** Of that, what is neither the summary nor a kept message. */
  readonly others: number
  /** Of that, the kept messages. */
  readonly kept: number
}

interface ToCarry {
  readonly situation: Situation
  readonly cut: Cut
  /** The summary with the text around it, or an estimate of its size. */
  readonly summary: string | number
}

export async function carried({ situation, cut, summary }: ToCarry): Promise<CompactedMessages> {
  const { context, figures, cutInput, around } = situation
  const { views } = context
  const estimate = (text: string) => views.estimator.text(text)
  const exact = typeof summary === "number" ? summary : views.estimator.block({ type: "text", text: summary })
  const size = Math.ceil(exact)
  // room for a usual summary is left in any case, so that a plan knows what follows it before the summary is written
  const forSummary = Math.max(size, roomForSummary(situation, cut))
  const kept = keptAfter(situation, cut)
  const unchanged = views.context.promptTokens + kept.tokens
  const facts = await carriedFacts(situation, cut, {
    used: unchanged + forSummary,
    ...(typeof summary === "string" ? { summary } : {}),
  })
  const record: readonly Attachment[] = facts === "" ? [] : [{ type: "carried_facts", content: facts }]
  const used = unchanged + tokensOfAll(record, situation)
  const reads = around.reads?.entries() ?? []
  const isShortened = new Set(kept.shortened.map(({ toolUseId }) => toolUseId))
  const restored = await restoreAttachments({
    messages: cutInput.messages,
    kept: cut.kept,
    isWhole: (toolUseId) => views.context.isWhole(toolUseId) && !isShortened.has(toolUseId),
    frontier: views.frontier,
    agents: views.agents,
    reads: withSeenBefore({
      artifacts: views.artifacts,
      cwd: views.context.session?.cwd ?? "/",
      reads,
      kept: new Set(cut.kept.map(({ uuid }) => uuid)),
      mayRead: around.mayRead ?? (() => false),
    }),
    excluded: around.excluded?.() ?? { files: [], directories: [] },
    limits: restoreWithin(figures.restore, { max: figures.restored, used: used + forSummary }),
    estimate,
    now: context.now,
    signal: context.signal,
    ...(around.readFile ? { readFile: around.readFile } : {}),
  })
  const others = used - kept.tokens + tokensOfAll(restored.attachments, situation)
  return {
    attachments: [...record, ...restored.attachments],
    shortened: kept.shortened,
    reads: restored.reads,
    files: restored.files,
    tokens: others + exact + kept.tokens,
    summary: size,
    others,
    kept: kept.tokens,
  }
}

const USUAL_SUMMARY = 3_000 // tokens of a model's summary, judging by recorded ones
const LARGEST_SHARE = 0.3 // of what it summarises, where that is short

/** Tokens that are left for a summary. */
export function roomForSummary(situation: Situation, { summarised }: Cut): number {
  return Math.min(USUAL_SUMMARY, situation.figures.summary, Math.ceil(tokensIn(summarised, situation) * LARGEST_SHARE))
}

export const tokensIn = (messages: readonly Message[], { cutInput }: Pick<Situation, "cutInput">): number =>
  messages.reduce((sum, message) => sum + cutInput.tokensOf(message), 0)

/** Long results are shortened only where the summary covers their messages. Notes do not: what they lack must be read whole. */
function keptAfter(situation: Situation, { kept, shortens }: Cut) {
  const { context, figures } = situation
  const limit = figures.newest.result
  const shortened = shortens ? shortenedIn(kept, { context: context.views.context, limit }) : []
  return { tokens: tokensIn(withShortened(kept, shortened), situation), shortened }
}

const MIN_FACTS = 0.3 // of the usual size of the record, however little room there is

interface Beside {
  /** Tokens of everything else. */
  readonly used?: number
  /** The summary, where it is written. */
  readonly summary?: string
}

/** The record that follows the summary, smaller where all of it would make the context too large. */
export async function carriedFacts(
  { context, figures }: Situation,
  { kept }: Cut,
  { used = 0, summary = "" }: Beside = {},
): Promise<string> {
  const { views, flags } = context
  if (!flags.on["compact-facts"]) return ""
  return inSlices(
    factSteps(views, {
      estimate: (text) => views.estimator.text(text),
      budget: Math.floor(Math.max(figures.facts * MIN_FACTS, Math.min(figures.facts, figures.target - used))),
      summary,
      // messages typed in the meantime are delivered in their own place
      kept: new Set([...kept, ...views.context.queued].map(({ uuid }) => uuid)),
    }),
  )
}

const tokensOfAll = (attachments: readonly Attachment[], { context }: Situation): number =>
  attachments.reduce((sum, attachment) => sum + context.views.estimator.blocks(renderAttachment(attachment)), 0)
