/**
 * Step 6, install. The person reviews the summary, hooks speak, and the drafts of the entries are made: boundary, summary, and what follows
 * it. Nothing has changed until they are journaled.
 */
import { inSlices, unlessInterrupted } from "../../base/work.ts"
import type { CompactionFacts, DecisionDraft, EntryDraft, MessageDraft } from "../../journal/entries.ts"
import type { Attachment } from "../../messages/attachments.ts"
import { isThinking, referencesIn } from "../../messages/blocks.ts"
import { BOUNDARY_LINE, contentOf, type Message, type SignedSummary, type Uuid } from "../../messages/messages.ts"
import type { ModelResponse } from "../../model/model.ts"
import type { Accounting } from "../../tokens/accounting.ts"
import { wholeTokens } from "../../tokens/context-size.ts"
import { WHY_THINKING_GOES } from "../../views/compaction-parts.ts"
import { accountSentSteps } from "../../views/context/context.ts"
import { spendingOf } from "../budget.ts"
import { type CompactionOrder, type LayerContext, type LayerResult, spendingFacts } from "../layer.ts"
import { type Choice, type Chosen, type Failure, maxAfter, type Weighed, weigh } from "./choose.ts"
import { type Cut, cutText, type Estimate, type Shortened } from "./cut.ts"
import type { CompactedMessages } from "./restore/carried.ts"
import { sizeOf } from "./restore/files.ts"
import { type Begun, isWithoutModel, purposeOf, type Situation, type Surroundings } from "./situation.ts"

// What the person and hooks want of a summary before it is written, and what hooks say to the model after it.

interface Wishes {
  /** The user's first, then those of hooks. */
  readonly instructions: readonly string[]
  /** The same in one text, where hooks have changed it. */
  readonly wishes: string | undefined
  /** Why a hook does not allow it. */
  readonly blocked: string | undefined
}

export async function askHooks({ context, order, around: { hooks, guidance } }: Begun): Promise<Wishes> {
  const { trigger, instructions = "" } = order
  const own = [instructions, ...(guidance?.() ?? [])].filter((text) => text.trim() !== "")
  if (!hooks) return { instructions: own, wishes: undefined, blocked: undefined }
  const { signal, progress } = context
  const about = { trigger, instructions: own.join("\n\n"), signal, progress }
  const asked = await unlessInterrupted(signal, hooks.before(about))
  if (asked.state === "interrupted") throw context.signal.reason
  const answer = asked.value
  for (const message of answer.messages) context.progress({ phase: "message", message })
  return {
    instructions: [answer.instructions].filter((text) => text !== ""),
    wishes: answer.instructions.trim() === about.instructions.trim() ? undefined : answer.instructions,
    blocked: answer.blocked,
  }
}

interface HookWords {
  readonly hook: string
  readonly text: string
}

interface HookRoom {
  /** Tokens for all together. */
  readonly room: number
  readonly estimate: Estimate
}

interface HookOutput {
  readonly attachments: readonly Attachment[]
  readonly tokens: number
}

const CUT = "\n[Cut here: the hook said more than there is room for.]"

/**
 * What hooks say to the model after a compaction, within the room that is left: a hook that prints a whole file must not fill the context
 * that was just emptied. In the order they spoke. What does not fit is cut; it is left out where not even its beginning fits.
 */
export function hookOutput(said: readonly HookWords[], { room, estimate }: HookRoom): HookOutput {
  const attachments: Attachment[] = []
  let tokens = 0
  for (const { hook, text } of said) {
    const attachment = (content: string): Attachment => ({ type: "hook_output", hook, content })
    const size = (content: string) => sizeOf(attachment(content), estimate)
    const left = room - tokens
    const content = size(text) <= left ? text : beginning(text, { room: left - size(CUT), estimate })
    if (content === "") continue
    attachments.push(attachment(content))
    tokens += size(content)
  }
  return { attachments, tokens }
}

function beginning(text: string, { room, estimate }: HookRoom): string {
  const kept = room > 0 ? cutText({ text, limit: room, estimate }) : ""
  return kept.trim() === "" ? "" : `${kept}${CUT}`
}

interface HowToInstall {
  /** Requests for a text that was written before, and for telemetry, why the notes are not the summary. */
  readonly paidBefore?: readonly EntryDraft[]
  readonly notes?: NotesUse
  /** It was written in the background. */
  readonly isPrepared?: boolean
}

/** Why notes are the summary, or are not. */
export type NotesUse = "used" | "off" | "none" | "empty-template" | "position-unknown" | "too-large"

export async function install(situation: Situation, choice: Choice, how: HowToInstall): Promise<LayerResult> {
  if (choice.kind !== "weighed") return notInstalled(situation, choice)
  const { paid } = choice
  const { signal, progress } = situation.context
  const reviewed = await review(situation, choice)
  if (signal.aborted) return notInstalled(situation, { kind: "given-up", paid })
  if (reviewed.kind !== "weighed") return notInstalled(situation, { ...reviewed, paid })
  if (reviewed.route.name === "offline")
    progress({ phase: "message", message: quotedSentence(situation.order, paid.length > 0) })
  const said = await hooksSay(situation, reviewed)
  if (said === "interrupted") return notInstalled(situation, { kind: "given-up", paid })
  return installed(situation, { ...reviewed, paid, said }, how)
}

/** Only the bill has changed, and what is known about a failure. */
function notInstalled({ context, order }: Situation, choice: Exclude<Choice, Chosen>): LayerResult {
  const bill = spent(choice.paid, order.trigger)
  if (choice.kind === "given-up") return { drafts: bill }
  const instead = order.trigger === "manual" ? "Try again later" : "Try /compact"
  const message = `The conversation could not be compacted: ${choice.message}. Nothing was changed and everything is kept. ${instead}, go back to an earlier message, or use a model with a larger window.`
  context.progress({ phase: "failed", message })
  return {
    drafts: [
      ...bill,
      { type: "strata", subtype: "compaction-failed", trigger: order.trigger, reason: choice.why, message },
    ],
  }
}

/** What a person makes of the summary. It must still be worth it. */
async function review(
  situation: Situation,
  written: Weighed,
): Promise<Weighed | Failure | { readonly kind: "given-up" }> {
  const { order } = situation
  const { route, cut, summary } = written
  if (!order.review) return written
  const text = (await order.review({ text: summary, route: route.name }))?.trim()
  if (!text) return { kind: "given-up" }
  if (text === summary.trim()) return written
  return weigh(situation, { route, outcome: { kind: "summary", text, cut, responses: [] } })
}

function quotedSentence(order: CompactionOrder, wasAnswered: boolean): string {
  const why = wasAnswered
    ? "No summary that a model wrote could be used"
    : isWithoutModel(order)
      ? "No model was asked for the summary"
      : "No model could write the summary"
  return `${why}, so it is quoted from the conversation. The journal has everything. A model writes the next one.`
}

type Said = ReturnType<typeof hookOutput>

/** What hooks say after the boundary, within the room that is left. */
async function hooksSay(situation: Situation, { route, after }: Weighed): Promise<Said | "interrupted"> {
  const { context, around, figures } = situation
  const { signal, progress } = context
  const started = await unlessInterrupted(
    signal,
    around.hooks?.started({ signal, progress }) ?? Promise.resolve(undefined),
  )
  if (started.state === "interrupted" || signal.aborted) return "interrupted"
  for (const message of started.value?.messages ?? []) progress({ phase: "message", message })
  return hookOutput(started.value?.contexts ?? [], {
    room: Math.min(figures.hooks, maxAfter(situation, route) - after.tokens),
    estimate: (words) => context.views.estimator.text(words),
  })
}

type ToInstall = Chosen & { readonly said: Said }

async function installed(
  situation: Situation,
  toInstall: ToInstall,
  { isPrepared = false, paidBefore = [], notes }: HowToInstall,
): Promise<LayerResult> {
  const { context, order, limits } = situation
  const { route, paid, cut, text, after, audit, signed, said } = toInstall
  const { last, responses } = context.views.compactions
  const figures = {
    route: route.name,
    tokensBefore: context.size.tokens,
    tokensAfter: wholeTokens(after.tokens + said.tokens),
    ...(audit ? { audit } : {}),
  }
  const drafts = installation({
    context,
    cut,
    text,
    ...(signed ? { signed } : {}),
    attachments: [...after.attachments, ...said.attachments],
    shortened: after.shortened,
    facts: {
      trigger: order.trigger,
      ...figures,
      threshold: limits.autoCompact,
      ...(isPrepared ? { prepared: true } : {}),
      ...(order.planned === undefined ? {} : { planned: order.planned }),
      ...(last ? { previous: { boundary: last.boundary, responses } } : {}),
    },
  })
  const content = await inSlices(accountSentSteps(context.views))
  return {
    drafts: [...spent(paid, order.trigger), ...drafts],
    facts: {
      ...compositionOf(content),
      ...spendingFacts("strata.prepared", paidBefore),
      ...(notes ? { "strata.compaction.notes": notes } : {}),
    },
    counts: { "files.restored": after.files.restored, "files.failed": after.files.failed },
    async journaled(now) {
      readsFollow(situation.around, after)
      now.progress({ phase: "done", ...figures, content })
      await hooksLearn({ ...situation, context: now }, toInstall)
    },
  }
}

/** What was compacted: tokens by class, and the share of files that were read again. */
function compositionOf(content: Accounting): NonNullable<LayerResult["facts"]> {
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

/** Forgets what the tools knew of the old view, and remembers what the new one shows. */
function readsFollow({ reads }: Surroundings, after: CompactedMessages): void {
  for (const [path] of [...(reads?.entries() ?? [])]) reads?.forget(path)
  for (const [path, read] of after.reads) reads?.set(path, read)
}

async function hooksLearn({ context, order, around }: Situation, { summary }: Weighed): Promise<void> {
  const said = await around.hooks?.after({ trigger: order.trigger, summary, signal: context.signal })
  for (const message of said?.messages ?? []) context.progress({ phase: "message", message })
}

interface Installation {
  readonly context: LayerContext
  readonly cut: Cut
  /** The summary with the text around it. */
  readonly text: string
  /** The same as the API signed it. */
  readonly signed?: SignedSummary
  readonly attachments: readonly Attachment[]
  readonly shortened?: readonly Shortened[]
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
  const kept = cut.kept.map(({ uuid }) => uuid)
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

export const spent = (
  responses: readonly ModelResponse[],
  trigger: CompactionFacts["trigger"],
): readonly DecisionDraft[] => spendingOf(responses, purposeOf(trigger))

interface BoundaryParts {
  readonly boundary: Uuid
  readonly summary: Uuid
  readonly cut: Cut
  readonly kept: readonly Uuid[]
  readonly facts: CompactionFacts
}

function boundaryDraft({ boundary, summary, cut, kept, facts }: BoundaryParts): MessageDraft {
  const anchorUuid = cut.kind === "from" ? boundary : summary // what the kept messages follow
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
      toolsDiscovered: discoveredTools([...cut.summarised, ...cut.kept]),
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
    if (message.type === "user") for (const name of contentOf(message).flatMap(referencesIn)) names.add(name)
    if (message.type !== "attachment" || message.attachment.type !== "tool_delta") continue
    for (const { name } of message.attachment.added) names.add(name)
    for (const name of message.attachment.removed) names.delete(name)
  }
  return [...names]
}

/** Kept thinking was bound to the messages before it, and those are a summary now. With `from`, messages stay in place and keep their thinking. */
function thinkingDropped({ facts }: LayerContext, { kind, kept }: Cut): DecisionDraft[] {
  const thinks = kept.some((message) => message.type === "assistant" && contentOf(message).some(isThinking))
  if (!facts.accepts.boundThinking || kind === "from" || !thinks) return []
  return [{ type: "strata", subtype: "thinking-dropped", why: WHY_THINKING_GOES.compacted }]
}
