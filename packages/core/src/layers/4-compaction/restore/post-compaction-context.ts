/** Step 5, restore. The content that follows the summary, and the resulting size of the context. */
import { runCooperatively } from "../../../base/work.ts"
import { renderAttachment } from "../../../messages/attachment-texts.ts"
import type { Attachment } from "../../../messages/attachments.ts"
import type { Message } from "../../../messages/messages.ts"
import type { FileRead } from "../../../tools/tool.ts"
import { type CompactionContext, restoreWithin } from "../compaction-context.ts"
import { applyShortening, type Cut, type ResultShortening, shortenResults } from "../cut.ts"
import { factSteps } from "./facts.ts"
import { withEarlierReads } from "./files.ts"
import { type RestoredContext, restoreAttachments } from "./restore.ts"

export interface PostCompactionContext {
  readonly attachments: readonly Attachment[]
  /** Long results of preserved messages that are shortened. */
  readonly shortened: readonly ResultShortening[]
  /** Reads that the tools should remember. */
  readonly reads: readonly (readonly [string, FileRead])[]
  readonly files: RestoredContext["files"]
  /** Size of the complete context, not rounded: the view rounds once, so a sum of rounded parts would differ from it. */
  readonly tokens: number
  readonly summary: number
  /** Tokens of everything except the summary and the preserved messages. */
  readonly others: number
  /** Tokens of the preserved messages. */
  readonly preserved: number
}

interface PostCompactionInput {
  readonly situation: CompactionContext
  readonly cut: Cut
  /** The summary including the text around it, or an estimate of its size. */
  readonly summary: string | number
}

export async function buildPostCompactionContext({
  situation,
  cut,
  summary,
}: PostCompactionInput): Promise<PostCompactionContext> {
  const { context, budgets, cutInput, dependencies } = situation
  const { views } = context
  const estimate = (text: string) => views.estimator.text(text)
  const exact = typeof summary === "number" ? summary : views.estimator.block({ type: "text", text: summary })
  const size = Math.ceil(exact)
  // room for a usual summary is left in any case, so that a plan knows what follows it before the summary is written
  const forSummary = Math.max(size, roomForSummary(situation, cut))
  const kept = preservedMessages(situation, cut)
  const unchanged = views.context.promptTokens + kept.tokens
  const facts = await renderRecord(situation, cut, {
    used: unchanged + forSummary,
    ...(typeof summary === "string" ? { summary } : {}),
  })
  const record: readonly Attachment[] = facts === "" ? [] : [{ type: "carried_facts", content: facts }]
  const used = unchanged + tokensOfAll(record, situation)
  const reads = dependencies.reads?.entries() ?? []
  const isShortened = new Set(kept.shortened.map(({ toolUseId }) => toolUseId))
  const restored = await restoreAttachments({
    messages: cutInput.messages,
    preserved: cut.preserved,
    isComplete: (toolUseId) => views.context.isWhole(toolUseId) && !isShortened.has(toolUseId),
    frontier: views.frontier,
    agents: views.agents,
    reads: withEarlierReads({
      artifacts: views.artifacts,
      cwd: views.context.session?.cwd ?? "/",
      reads,
      preserved: new Set(cut.preserved.map(({ uuid }) => uuid)),
      mayRead: dependencies.mayRead ?? (() => false),
    }),
    excluded: dependencies.excluded?.() ?? { files: [], directories: [] },
    limits: restoreWithin(budgets.restore, { max: budgets.restored, used: used + forSummary }),
    estimate,
    now: context.now,
    signal: context.signal,
    ...(dependencies.readFile ? { readFile: dependencies.readFile } : {}),
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
    preserved: kept.tokens,
  }
}

const USUAL_SUMMARY = 3_000 // tokens of a model's summary, judging by recorded ones
const LARGEST_SHARE = 0.3 // of what it summarises, where that is short

/** Tokens reserved for a summary. */
export function roomForSummary(situation: CompactionContext, { summarised }: Cut): number {
  return Math.min(USUAL_SUMMARY, situation.budgets.summary, Math.ceil(tokensIn(summarised, situation) * LARGEST_SHARE))
}

export const tokensIn = (messages: readonly Message[], { cutInput }: Pick<CompactionContext, "cutInput">): number =>
  messages.reduce((sum, message) => sum + cutInput.tokensOf(message), 0)

/**
 * The preserved messages and their size. Long results are shortened only if the summary covers their messages. Notes do not: newer results
 * must stay complete.
 */
function preservedMessages(situation: CompactionContext, { preserved, shortens }: Cut) {
  const { context, budgets } = situation
  const limit = budgets.newest.result
  const shortened = shortens ? shortenResults(preserved, { context: context.views.context, limit }) : []
  return { tokens: tokensIn(applyShortening(preserved, shortened), situation), shortened }
}

const MIN_FACTS = 0.3 // of the usual size of the record, however little room there is

interface RecordSurroundings {
  /** Tokens of everything else in the context. */
  readonly used?: number
  /** The summary, if it is already written. */
  readonly summary?: string
}

/** Renders the record that follows the summary, smaller if the complete record would make the context too large. */
export async function renderRecord(
  { context, budgets }: CompactionContext,
  { preserved }: Cut,
  { used = 0, summary = "" }: RecordSurroundings = {},
): Promise<string> {
  const { views, flags } = context
  if (!flags.on["compact-facts"]) return ""
  return runCooperatively(
    factSteps(views, {
      estimate: (text) => views.estimator.text(text),
      budget: Math.floor(Math.max(budgets.facts * MIN_FACTS, Math.min(budgets.facts, budgets.target - used))),
      summary,
      // messages typed in the meantime are delivered at their own position
      preserved: new Set([...preserved, ...views.context.queued].map(({ uuid }) => uuid)),
    }),
  )
}

const tokensOfAll = (attachments: readonly Attachment[], { context }: CompactionContext): number =>
  attachments.reduce((sum, attachment) => sum + context.views.estimator.blocks(renderAttachment(attachment)), 0)
