/**
 * Step 3, summarize. A route is one way to obtain a summary. Routes are tried in order. A route that does not apply, or fails, leaves the
 * conversation unchanged.
 */
import { maskSecrets } from "../../../base/secrets/find-secrets.ts"
import type { CompactionFailureReason } from "../../../base/telemetry.ts"
import { runCooperatively } from "../../../base/work.ts"
import { type Block, isToolResult } from "../../../messages/blocks.ts"
import { contentOf, isRequest, type Message, type SignedSummary, sentBlocks } from "../../../messages/messages.ts"
import type { ModelResponse } from "../../../model/model.ts"
import type { ReadMessage } from "../../../model/offline/read-message.ts"
import type { ModelFacts } from "../../../tokens/models.ts"
import type { DraftHolder } from "../../3-session-memory/draft.ts"
import type { CompactionRoute, LayerContext } from "../../layer.ts"
import type { CompactionContext } from "../compaction-context.ts"
import { type Cut, cutAfter, cutAfterNotes } from "../cut.ts"
import { factSteps } from "../restore/facts.ts"

export interface RouteInput extends CompactionContext {
  /** Instructions of the user, then those of hooks. */
  readonly instructions: readonly string[]
  /** Reports the number of characters written so far. */
  readonly onProgress: (characters: number) => void
}

export type RouteResult =
  | {
      readonly kind: "summary"
      readonly text: string
      readonly cut: Cut
      /** Set if the API signed the summary. */
      readonly signed?: SignedRouteSummary
      /** Set if the summary consists of quotations from the conversation. */
      readonly isQuoted?: true
      /** The answers that were billed. */
      readonly responses: readonly ModelResponse[]
    }
  /** The route does not apply here. This is not a failure. */
  | { readonly kind: "passed"; readonly message: string }
  | {
      readonly kind: "failed"
      readonly reason: CompactionFailureReason
      readonly message: string
      readonly responses: readonly ModelResponse[]
    }

/** A summary that the API signed. It can be sent as long as it is unchanged. */
export interface SignedRouteSummary extends Pick<SignedSummary, "model" | "block"> {
  /** Text of the signed summary, to detect changes. */
  readonly summaryText: string
  /** Findings of the check, because a signed summary cannot be corrected. */
  readonly notes?: string
}

export interface Route {
  readonly name: CompactionRoute
  /** Reject the summary if the context would stay at the threshold, because the summary may be old. */
  readonly mustReachThreshold?: boolean
  /** The cut that the route would make, for a plan; `undefined` if it does not apply. */
  cut(input: RouteInput): Promise<Cut | undefined>
  summarise(input: RouteInput): Promise<RouteResult>
  /** Size and model of a separate request. Absent if the route reads the conversation's request. */
  ownRequest?(input: RouteInput): { readonly facts: ModelFacts; readonly tokens: number }
}

// Step 3, summarize. The notes serve as the summary, without a model call. Messages that they do not cover yet are preserved.

/** Provides the notes of the session memory. */
export interface NotesSource {
  readonly draft: DraftHolder
  readonly asksModel: boolean
  /** The notes with every section cut to the limit; `undefined` if there is only the bare template. */
  summary(context: LayerContext): Promise<string | undefined>
}

interface NotesRouteOptions {
  readonly source: Pick<NotesSource, "summary"> & { readonly draft: Pick<DraftHolder, "runningUpdate"> }
  /** Resolves after this time, or when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export function fromNotes({ source, wait }: NotesRouteOptions): Route {
  return {
    name: "notes",
    mustReachThreshold: true,

    async cut(input) {
      return areNotesEnabled(input.context) && (await source.summary(input.context)) ? cutFor(input) : undefined
    },

    async summarise(input) {
      const { context } = input
      if (!areNotesEnabled(context)) return { kind: "passed", message: "notes are switched off" }
      if (mayWait(input)) await waitForUpdate(context)
      const notes = await source.summary(context)
      if (notes === undefined) return { kind: "passed", message: "there are no notes" }
      const cut = cutFor(input)
      if (!cut) return { kind: "passed", message: "the notes do not say how far they go" }
      return { kind: "summary", text: `Summary:\n${notes}`, cut, responses: [] }
    },
  }

  async function waitForUpdate({ flags, now, signal }: LayerContext): Promise<void> {
    const update = source.draft.runningUpdate
    if (!update || now.getTime() - update.startedAt.getTime() > flags.figures["notes-wait-age"] * 1_000) return
    const enough = new AbortController()
    const limit = wait(flags.figures["notes-wait"] * 1_000, AbortSignal.any([signal, enough.signal]))
    await Promise.race([update.done, limit])
    enough.abort()
  }
}

/**
 * Whether to wait for a running update: only if the user asked for the compaction, a request does not fit, or nothing is written in the
 * background.
 */
const mayWait = ({ order, context: { fill, flags } }: RouteInput): boolean =>
  order.trigger === "manual" || order.overflowed === true || fill.state === "blocked" || !flags.on["compact-ahead"]

const areNotesEnabled = ({ flags: { on } }: LayerContext) => on.notes && on["compact-from-notes"]

/**
 * Cuts only if the notes would summarize a round. The planner preserves as little as after a summary; a manual compaction, or one without
 * the planner, preserves a working context.
 */
function cutFor({ context, order, cutInput }: RouteInput): Cut | undefined {
  const through = context.views.notes.throughUuid
  const isPlanned = order.trigger === "auto" && context.flags.planner !== "off" && through !== undefined
  const cut = isPlanned ? cutAfter(cutInput, through) : cutAfterNotes(cutInput, through)
  return cut?.summarised.some(({ type }) => type === "assistant") ? cut : undefined
}

// Step 3, summarize. The last route: a summary without a model, quoted from the conversation, so that a conversation never ends because of
// its length. It reads cleared results from the journal, needs no network, and takes time proportional to the range.

const MAX_OF_THRESHOLD = 0.15 // a summary that is right for a large window would fill a small one
export function offline(): Route {
  return {
    name: "offline",
    cut: async ({ context, cut }) => (isOfflineEnabled(context) ? cut : undefined),
    async summarise({ context, order, cut, onProgress }) {
      if (!isOfflineEnabled(context)) return { kind: "passed", message: "summaries without a model are switched off" }
      const { summarizeAbout } = await import("../../../model/offline/summary.ts") // rarely needed
      const { estimator } = context.views
      const threshold = (order.target ?? context.thresholds).autoCompact
      const tokens = Math.min(context.flags.figures["offline-summary-limit"], Math.floor(threshold * MAX_OF_THRESHOLD))
      const messages = await readMessages(cut.summarised, context)
      const budget = { tokens, tokensOf: (part: string) => estimator.text(part) }
      const preserved = new Set(cut.preserved.map(({ uuid }) => uuid))
      const facts = context.flags.on["compact-facts"]
        ? await runCooperatively(
            factSteps(context.views, {
              estimate: budget.tokensOf,
              preserved,
              budget: context.flags.figures["record-limit"],
            }),
          )
        : ""
      const shown = [facts, ...context.views.statements.replaced.keys()].join("\n")
      const quotations = summarizeAbout(messages, { topic: order.instructions ?? "", budget, shown })
      const text = maskSecrets(await runCooperatively(quotations))
      onProgress(text.length)
      return { kind: "summary", text: `Summary:\n${text}`, cut, isQuoted: true, responses: [] }
    },
  }
}

const isOfflineEnabled = ({ flags }: LayerContext): boolean => flags.on["compact-offline"]

async function readMessages(messages: readonly Message[], context: LayerContext): Promise<readonly ReadMessage[]> {
  const read: ReadMessage[] = []
  for (const message of messages) read.push(asRead(message, await blocksOf(message, context)))
  return read
}

/** The blocks of a message, with cleared results read from the journal. */
async function blocksOf(message: Message, { views, journal }: LayerContext): Promise<readonly Block[]> {
  const blocks = sentBlocks(message)
  const isCleared = (block: Block) => isToolResult(block) && views.context.isCleared(block.tool_use_id)
  if (message.type !== "user" || !blocks.some(isCleared)) return blocks
  const entry = await journal.find(message.uuid)
  return entry?.type === "user" ? contentOf(entry) : blocks
}

/**
 * Converts a message for the offline summary. Text that the user did not write gets the role `system`, so that it is never quoted as the
 * user's wish.
 */
export function asRead(message: Message, blocks: readonly Block[]): ReadMessage {
  const content = blocks as readonly object[] as ReadMessage["content"]
  if (message.type === "assistant") return { role: "assistant", content }
  if (message.type === "user" && message.isCompactSummary) return { role: "summary", content }
  const isTheirs = message.type === "user" && (blocks.some(isToolResult) || isRequest(message))
  return { role: isTheirs ? "user" : "system", content }
}
