/**
 * Step 6, install. The user reviews the summary, hooks run, and the entries are drafted: boundary, summary, and what follows it. Nothing
 * has changed until they are journaled.
 */
import { runCooperatively, unlessInterrupted } from "../../base/work.ts"
import type { CompactionFacts, DecisionDraft, EntryDraft, MessageDraft } from "../../journal/entries.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { findToolReferences, isThinking } from "../../messages/blocks.ts"
import { BOUNDARY_LINE, contentOf, type Message, type SignedSummary, type Uuid } from "../../messages/messages.ts"
import type { ModelResponse } from "../../model/model.ts"
import type { ContextBreakdown } from "../../tokens/context-breakdown.ts"
import { toWholeTokens } from "../../tokens/context-size.ts"
import { THINKING_DROP_REASONS } from "../../views/compaction-entries.ts"
import { accountContextTask } from "../../views/context/context.ts"
import { spendingOf } from "../budget.ts"
import { type LayerContext, type LayerResult, type ResolvedCompactionRequest, spendingFacts } from "../layer.ts"
import {
  type AcceptedSummary,
  type ChosenSummary,
  evaluateSummary,
  maxAfter,
  type SummaryChoice,
  type SummaryFailure,
} from "./choose.ts"
import {
  type CompactionContext,
  type CompactionDependencies,
  type CompactionInput,
  isWithoutModel,
  purposeOf,
} from "./compaction-context.ts"
import { type Cut, cutText, type Estimate, type ResultShortening } from "./cut.ts"
import { sizeOf } from "./restore/files.ts"
import type { PostCompactionContext } from "./restore/post-compaction-context.ts"

// Instructions of the user and of hooks before the summary is written, and the output of hooks after it.

interface SummaryInstructions {
  /** Instructions of the user, then those of hooks. */
  readonly instructions: readonly string[]
  /** The instructions as one text, if hooks changed them. */
  readonly wishes: string | undefined
  /** Reason why a hook blocks the compaction. */
  readonly blocked: string | undefined
}

export async function askHooks({
  context,
  order,
  dependencies: { hooks, guidance },
}: CompactionInput): Promise<SummaryInstructions> {
  const { trigger, instructions = "" } = order
  const own = [instructions, ...(guidance?.() ?? [])].filter((text) => text.trim() !== "")
  if (!hooks) return { instructions: own, wishes: undefined, blocked: undefined }
  const { signal, progress } = context
  const input = { trigger, instructions: own.join("\n\n"), signal, progress }
  const outcome = await unlessInterrupted(signal, hooks.before(input))
  if (outcome.state === "interrupted") throw context.signal.reason
  const answer = outcome.value
  for (const message of answer.messages) context.progress({ phase: "message", message })
  return {
    instructions: [answer.instructions].filter((text) => text !== ""),
    wishes: answer.instructions.trim() === input.instructions.trim() ? undefined : answer.instructions,
    blocked: answer.blocked,
  }
}

interface HookText {
  readonly hook: string
  readonly text: string
}

interface HookBudget {
  /** Maximum tokens of all hook output. */
  readonly room: number
  readonly estimate: Estimate
}

interface HookOutput {
  readonly attachments: readonly Attachment[]
  readonly tokens: number
}

const CUT_NOTE = "\n[Cut here: the hook said more than there is room for.]"

/**
 * Limits the output of hooks after a compaction: a hook that prints a complete file must not fill the context that was just emptied. The
 * order of the hooks is preserved. Output that does not fit is cut, or omitted if not even its beginning fits.
 */
export function hookOutput(texts: readonly HookText[], { room, estimate }: HookBudget): HookOutput {
  const attachments: Attachment[] = []
  let tokens = 0
  for (const { hook, text } of texts) {
    const attachment = (content: string): Attachment => ({ type: "hook_output", hook, content })
    const size = (content: string) => sizeOf(attachment(content), estimate)
    const left = room - tokens
    const content = size(text) <= left ? text : beginning(text, { room: left - size(CUT_NOTE), estimate })
    if (content === "") continue
    attachments.push(attachment(content))
    tokens += size(content)
  }
  return { attachments, tokens }
}

function beginning(text: string, { room, estimate }: HookBudget): string {
  const fitting = room > 0 ? cutText({ text, limit: room, estimate }) : ""
  return fitting.trim() === "" ? "" : `${fitting}${CUT_NOTE}`
}

interface InstallOptions {
  /** Cost entries of a summary that was prepared earlier, and the telemetry value for the use of notes. */
  readonly paidBefore?: readonly EntryDraft[]
  readonly notes?: NotesUse
  /** Whether the summary was written in the background. */
  readonly isPrepared?: boolean
}

/** Telemetry value: whether the notes became the summary, or why not. */
export type NotesUse = "used" | "off" | "none" | "empty-template" | "position-unknown" | "too-large"

export async function install(
  situation: CompactionContext,
  choice: SummaryChoice,
  how: InstallOptions,
): Promise<LayerResult> {
  if (choice.kind !== "accepted") return notInstalled(situation, choice)
  const { paid } = choice
  const { signal, progress } = situation.context
  const reviewed = await reviewSummary(situation, choice)
  if (signal.aborted) return notInstalled(situation, { kind: "given-up", paid })
  if (reviewed.kind !== "accepted") return notInstalled(situation, { ...reviewed, paid })
  if (reviewed.route.name === "offline")
    progress({ phase: "message", message: describeQuotedSummary(situation.order, paid.length > 0) })
  const hooks = await collectHookOutput(situation, reviewed)
  if (hooks === "interrupted") return notInstalled(situation, { kind: "given-up", paid })
  return installResult(situation, { ...reviewed, paid, hooks }, how)
}

/** Records only the cost and the failure. */
function notInstalled(
  { context, order }: CompactionContext,
  choice: Exclude<SummaryChoice, ChosenSummary>,
): LayerResult {
  const bill = costDrafts(choice.paid, order.trigger)
  if (choice.kind === "given-up") return { drafts: bill }
  const instead = order.trigger === "manual" ? "Try again later" : "Try /compact"
  const message = `The conversation could not be compacted: ${choice.message}. Nothing was changed and everything is kept. ${instead}, go back to an earlier message, or use a model with a larger window.`
  context.progress({ phase: "failed", message })
  return {
    drafts: [
      ...bill,
      { type: "strata", subtype: "compaction-failed", trigger: order.trigger, reason: choice.reason, message },
    ],
  }
}

/** Lets the user review the summary. An edited summary is evaluated again. */
async function reviewSummary(
  situation: CompactionContext,
  written: AcceptedSummary,
): Promise<AcceptedSummary | SummaryFailure | { readonly kind: "given-up" }> {
  const { order } = situation
  const { route, cut, summary } = written
  if (!order.review) return written
  const text = (await order.review({ text: summary, route: route.name }))?.trim()
  if (!text) return { kind: "given-up" }
  if (text === summary.trim()) return written
  return evaluateSummary(situation, { route, outcome: { kind: "summary", text, cut, responses: [] } })
}

function describeQuotedSummary(order: ResolvedCompactionRequest, wasAnswered: boolean): string {
  const why = wasAnswered
    ? "No summary that a model wrote could be used"
    : isWithoutModel(order)
      ? "No model was asked for the summary"
      : "No model could write the summary"
  return `${why}, so it is quoted from the conversation. The journal has everything. A model writes the next one.`
}

type HookAttachments = ReturnType<typeof hookOutput>

/** Runs hooks after the boundary and limits their output. */
async function collectHookOutput(
  situation: CompactionContext,
  { route, after }: AcceptedSummary,
): Promise<HookAttachments | "interrupted"> {
  const { context, dependencies, budgets } = situation
  const { signal, progress } = context
  const started = await unlessInterrupted(
    signal,
    dependencies.hooks?.started({ signal, progress }) ?? Promise.resolve(undefined),
  )
  if (started.state === "interrupted" || signal.aborted) return "interrupted"
  for (const message of started.value?.messages ?? []) progress({ phase: "message", message })
  return hookOutput(started.value?.contexts ?? [], {
    room: Math.min(budgets.hooks, maxAfter(situation, route) - after.tokens),
    estimate: (words) => context.views.estimator.text(words),
  })
}

type InstallInput = ChosenSummary & { readonly hooks: HookAttachments }

async function installResult(
  situation: CompactionContext,
  toInstall: InstallInput,
  { isPrepared = false, paidBefore = [], notes }: InstallOptions,
): Promise<LayerResult> {
  const { context, order, limits } = situation
  const { route, paid, cut, text, after, audit, signed, hooks } = toInstall
  const { last, responses } = context.views.compactions
  const figures = {
    route: route.name,
    tokensBefore: context.size.tokens,
    tokensAfter: toWholeTokens(after.tokens + hooks.tokens),
    ...(audit ? { audit } : {}),
  }
  const drafts = installation({
    context,
    cut,
    text,
    ...(signed ? { signed } : {}),
    attachments: [...after.attachments, ...hooks.attachments],
    shortened: after.shortened,
    facts: {
      trigger: order.trigger,
      ...figures,
      threshold: limits.autoCompact,
      ...(isPrepared ? { prepared: true } : {}),
      ...(order.planned === undefined ? {} : { planned: order.planned }),
      ...(order.instructions?.trim() ? { instructions: order.instructions.trim() } : {}),
      ...(last ? { previous: { boundary: last.boundary, responses } } : {}),
    },
  })
  const content = await runCooperatively(accountContextTask(context.views))
  return {
    drafts: [...costDrafts(paid, order.trigger), ...drafts],
    facts: {
      ...describeComposition(content),
      ...spendingFacts("strata.prepared", paidBefore),
      ...(notes ? { "strata.compaction.notes": notes } : {}),
    },
    counts: { "files.restored": after.files.restored, "files.failed": after.files.failed },
    async journaled(now) {
      updateReads(situation.dependencies, after)
      now.progress({ phase: "done", ...figures, content })
      await runAfterHooks({ ...situation, context: now }, toInstall)
    },
  }
}

/** Telemetry values of the compacted content: tokens by class, and the share of repeated file reads. */
function describeComposition(content: ContextBreakdown): NonNullable<LayerResult["facts"]> {
  const { total, human, assistant, thinking, commandOutput, toolRequests, toolResults, attachments, other } = content
  const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
  const classes = {
    ...{ human, assistant, thinking, command_output: commandOutput, other },
    tool_requests: sum(Object.values(toolRequests)),
    tool_results: sum(Object.values(toolResults)),
    attachments: sum(Object.values(attachments).map(({ tokens }) => tokens)),
  }
  const repeated = sum(content.duplicateReads.map(({ wasted }) => wasted))
  return {
    ...Object.fromEntries(Object.entries(classes).map(([name, tokens]) => [`strata.compacted.tokens.${name}`, tokens])),
    "strata.compacted.repeated_reads": total > 0 ? repeated / total : 0,
  }
}

/** Replaces the reads of the old view by those of the new one. */
function updateReads({ reads }: CompactionDependencies, after: PostCompactionContext): void {
  for (const [path] of [...(reads?.entries() ?? [])]) reads?.forget(path)
  for (const [path, read] of after.reads) reads?.set(path, read)
}

async function runAfterHooks(
  { context, order, dependencies }: CompactionContext,
  { summary }: AcceptedSummary,
): Promise<void> {
  const output = await dependencies.hooks?.after({ trigger: order.trigger, summary, signal: context.signal })
  for (const message of output?.messages ?? []) context.progress({ phase: "message", message })
}

interface Installation {
  readonly context: LayerContext
  readonly cut: Cut
  /** The summary including the text around it. */
  readonly text: string
  /** The summary block that the API signed. */
  readonly signed?: SignedSummary
  readonly attachments: readonly Attachment[]
  readonly shortened?: readonly ResultShortening[]
  readonly facts: CompactionFacts
}

export function installation({
  context,
  cut,
  text,
  signed,
  attachments,
  shortened = [],
  facts,
}: Installation): readonly EntryDraft[] {
  const boundary = context.newUuid()
  const summary = context.newUuid()
  const kept = cut.preserved.map(({ uuid }) => uuid)
  return [
    boundaryDraft({ boundary, summary, cut, kept, facts }),
    {
      type: "user",
      uuid: summary,
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
      ...(signed ? { signed: { model: signed.model, block: signed.block, text: signed.text } } : {}),
      message: { role: "user", content: [{ type: "text", text }] },
    },
    // directly after the summary, so that it also holds after going back to one of the attachments
    ...(signed && shortened.length === 0 ? [] : thinkingDropped(context, cut)),
    ...(shortened.length > 0
      ? [{ type: "strata", subtype: "tool-results-shortened", results: shortened } as const]
      : []),
    ...attachments.map((attachment): MessageDraft => ({ type: "attachment", attachment })),
    { type: "strata", subtype: "compacted", boundary, kept, ...facts },
  ]
}

export const costDrafts = (
  responses: readonly ModelResponse[],
  trigger: CompactionFacts["trigger"],
): readonly DecisionDraft[] => spendingOf(responses, purposeOf(trigger))

interface BoundaryInput {
  readonly boundary: Uuid
  readonly summary: Uuid
  readonly cut: Cut
  readonly kept: readonly Uuid[]
  readonly facts: CompactionFacts
}

function boundaryDraft({ boundary, summary, cut, kept, facts }: BoundaryInput): MessageDraft {
  const anchorUuid = cut.kind === "from" ? boundary : summary // the message before the preserved ones
  const last = cut.summarised.at(-1)
  return {
    ...BOUNDARY_LINE,
    uuid: boundary,
    compactMetadata: {
      trigger: facts.trigger,
      preTokens: facts.tokensBefore,
      postTokens: facts.tokensAfter,
      messagesSummarized: cut.summarised.length,
      ...(last ? { lastUuid: last.uuid } : {}),
      toolsDiscovered: discoveredTools([...cut.summarised, ...cut.preserved]),
      ...(kept.length > 0
        ? {
            preservedMessages: { anchorUuid, uuids: kept },
            ...(cut.head?.length ? { headMessages: cut.head.map(({ uuid }) => uuid) } : {}),
            preservedSegment: { headUuid: kept[0], anchorUuid, tailUuid: kept.at(-1) },
          }
        : {}),
    },
  }
}

function discoveredTools(messages: readonly Message[]): readonly string[] {
  const names = new Set<string>()
  for (const message of messages) {
    if (message.type === "user") for (const name of contentOf(message).flatMap(findToolReferences)) names.add(name)
    if (message.type !== "attachment" || message.attachment.type !== "tool_delta") continue
    for (const { name } of message.attachment.added) names.add(name)
    for (const name of message.attachment.removed) names.delete(name)
  }
  return [...names]
}

/**
 * Drops preserved thinking: it was bound to messages that are a summary now. With `from`, messages stay in place and keep their thinking.
 */
function thinkingDropped({ facts }: LayerContext, { kind, preserved }: Cut): DecisionDraft[] {
  const thinks = preserved.some((message) => message.type === "assistant" && contentOf(message).some(isThinking))
  if (!facts.accepts.boundThinking || kind === "from" || !thinks) return []
  return [{ type: "strata", subtype: "thinking-dropped", why: THINKING_DROP_REASONS.compacted }]
}
