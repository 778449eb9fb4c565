/** What follows the summary, and how large the context will be with it. */
import { type Attachment, renderAttachment } from "../../messages/attachments.ts"
import type { FileRead, ReadState } from "../../tools/tool.ts"
import type { Cut } from "./cut.ts"
import { renderFacts } from "./facts/facts.ts"
import { restoreWithin } from "./figures.ts"
import type { ExcludedPaths } from "./restore/candidates.ts"
import { restoreAttachments } from "./restore/restore.ts"
import { withSeenBefore } from "./restore/seen-before.ts"
import type { Situation } from "./situation.ts"

export interface Surroundings {
  /** What the tools have read. */
  readonly reads?: ReadState
  /** Paths that are not read again: instruction files, and our own files. */
  readonly excluded?: () => ExcludedPaths
  /** Whether a file known only from the journal may be read again without asking. Default: no. */
  readonly mayRead?: (path: string) => boolean
}

export interface Aftermath {
  readonly attachments: readonly Attachment[]
  /** What counts as read from now on. */
  readonly reads: readonly (readonly [string, FileRead])[]
  /** Size of the whole context, and of the summary in it. */
  readonly tokens: number
  readonly summary: number
}

export interface AftermathInput {
  readonly situation: Situation
  readonly cut: Cut
  /** The summary with the text around it, or an estimate of its size. */
  readonly summary: string | number
}

export async function aftermath({ situation, cut, summary }: AftermathInput, around: Surroundings): Promise<Aftermath> {
  const { context, figures, limits, cutInput } = situation
  const { views } = context
  const estimate = (text: string) => views.estimator.text(text)
  const facts = carriedFacts(situation, cut)
  const carried: readonly Attachment[] = facts === "" ? [] : [{ type: "carried_facts", content: facts }]
  const size = Math.ceil(typeof summary === "number" ? summary : views.estimator.block({ type: "text", text: summary }))
  const used =
    views.context.promptTokens +
    cut.kept.reduce((sum, message) => sum + cutInput.tokensOf(message), 0) +
    tokensOfAll(carried, situation)
  const reads = around.reads?.entries() ?? []
  const restored = await restoreAttachments({
    messages: cutInput.messages,
    kept: cut.kept,
    isWhole: (toolUseId) => views.context.isWhole(toolUseId),
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
    limits: restoreWithin(figures.restore, {
      threshold: limits.autoCompact,
      // room for a usual summary is left in any case, so that a plan knows what is restored before the summary is written
      used: used + Math.max(size, expectedSummary(situation, cut)),
    }),
    estimate,
    now: context.now,
    signal: context.signal,
  })
  return {
    attachments: [...carried, ...restored.attachments],
    reads: restored.reads,
    tokens: Math.ceil(used + tokensOfAll(restored.attachments, situation)) + size,
    summary: size,
  }
}

/** The record that follows the summary; empty where there is nothing to say. */
export const carriedFacts = ({ context: { views }, figures }: Situation, cut: Cut): string =>
  renderFacts(views, {
    estimate: (text) => views.estimator.text(text),
    limits: figures.facts,
    // messages typed in the meantime are delivered in their own place
    kept: new Set([...cut.kept, ...views.context.queued].map(({ uuid }) => uuid)),
  })
const USUAL_SUMMARY = 3_000 // tokens of a model's summary, judging by recorded ones
const LARGEST_SHARE = 0.3 // of what it summarises, where that is short

/** Tokens that are left for a summary. */
export function expectedSummary({ cutInput }: Situation, { summarised }: Cut): number {
  const tokens = summarised.reduce((sum, message) => sum + cutInput.tokensOf(message), 0)
  return Math.min(USUAL_SUMMARY, Math.ceil(tokens * LARGEST_SHARE))
}

const tokensOfAll = (attachments: readonly Attachment[], { context }: Situation): number =>
  attachments.reduce((sum, attachment) => sum + context.views.estimator.blocks(renderAttachment(attachment)), 0)
