/**
 * Brings a conversation up to date with the list of a caller that sends all its messages again each time. What is new is journaled as it
 * was sent; a list that goes another way is a branch; a list that begins with the caller's own summary is a boundary. Then `prepare` and
 * `record` work as always.
 */
import { InvalidContentError } from "../../base/errors.ts"
import { runCooperatively } from "../../base/work.ts"
import {
  type Entry,
  type EntryDraft,
  isBoundaryEntry,
  isDecision,
  isMessage,
  type MessageDraft,
} from "../../journal/entries.ts"
import { compactionBudgets } from "../../layers/4-compaction/compaction-context.ts"
import { factSteps } from "../../layers/4-compaction/restore/facts.ts"
import type { ClientSystemMessage } from "../../messages/attachments.ts"
import {
  type Block,
  type Content,
  isThinking,
  isToolUse,
  type ToolResult,
  type ToolUse,
  toBlocks,
} from "../../messages/blocks.ts"
import { type ClientMessage, isDistinctive, remindersIn } from "../../messages/message-identity.ts"
import { BOUNDARY_LINE, contentOf, type Uuid } from "../../messages/messages.ts"
import type { SystemPrompt, ToolDefinition } from "../../messages/request.ts"
import { isRecord, MAX_DEPTH } from "../../messages/shapes/shapes.ts"
import { rewind } from "../branch.ts"
import type { Engine } from "../engine.ts"
import { asPlainJson, ownShapeAsSent, withUsersWords } from "../incoming.ts"
import { unaskedResults } from "../open-calls.ts"
import { isCallersSummary, orderIn } from "./caller-order.ts"
import { type GivenMessage, givenMessages, type Matched, matched, type Reader } from "./match.ts"

// The boundary that a caller drew: it sends a list that begins with its own summary. Our record follows that summary, once.

const SHARE = 0.5 // of what follows a summary of ours: the caller has written one of its own, and pays for both

/** `isSummary`: the list goes on with the same work. Otherwise it has nothing to do with what was before. */
export async function callerBoundary(
  engine: Engine,
  { drafts, isSummary }: { readonly drafts: readonly MessageDraft[]; readonly isSummary: boolean },
): Promise<readonly EntryDraft[]> {
  const { context } = engine.views
  const facts = isSummary ? await factsOf(engine) : ""
  const [first, ...others] = drafts
  const boundary: MessageDraft = {
    ...BOUNDARY_LINE,
    compactMetadata: { trigger: "auto", preTokens: context.size().tokens, byCaller: true },
  }
  const record: readonly MessageDraft[] =
    facts === "" ? [] : [{ type: "attachment", attachment: { type: "carried_facts", content: facts } }]
  const summary = isSummary && first?.type === "user" ? { ...first, isCompactSummary: true } : first
  return [boundary, ...(summary ? [summary] : []), ...record, ...others]
}

async function factsOf({ views, window, parts, canRecall }: Engine): Promise<string> {
  const flags = parts.flags.current
  if (!flags.on["compact-facts"]) return ""
  const { facts } = compactionBudgets({ flags, thresholds: window.current })
  // results are listed by their handles: without a tool for those, the caller's own summary has to do
  const options = { budget: Math.floor(facts * SHARE), hasRecall: canRecall }
  return runCooperatively(factSteps(views, { estimate: (text) => views.estimator.text(text), ...options }))
}

// What is journaled of a caller's messages: each as it was sent, checked only for what no journal can hold.

/** Refuses what is no list of messages, before anything is done with it. */
export function callerMessages(given: unknown): readonly ClientMessage[] {
  if (!Array.isArray(given)) throw new InvalidContentError("follow() takes the list of messages of a request")
  return given.map((item, at) => {
    const message = ownShapeAsSent(item, `messages[${at}]`)
    const role: unknown = isRecord(message) ? message.role : undefined
    if (role !== "user" && role !== "assistant" && role !== "system")
      throw new InvalidContentError(`messages[${at}] has the role ${JSON.stringify(role)}`)
    const { content } = message as ClientMessage
    const isContent = typeof content === "string" || Array.isArray(content) || (role === "system" && content == null)
    if (!isContent) throw new InvalidContentError(`the content of messages[${at}] must be a text or a list of blocks`)
    return message as ClientMessage
  })
}

/** Messages that were found readable: a caller's never change. */
const readable = new WeakSet<object>()

/** Whether a list can be followed. What no one can make sense of is for the server to refuse. */
export const isReadableList = (given: readonly unknown[]): boolean => given.every(isReadable)

function isReadable(message: unknown): boolean {
  if (!isRecord(message)) return false
  if (readable.has(message)) return true
  const { role, content } = message
  const isKnown = role === "user" || role === "assistant" || role === "system"
  const isContent =
    typeof content === "string" ||
    (Array.isArray(content) && content.every(isTyped)) ||
    (role === "system" && content == null)
  if (!isKnown || !isContent || isDeeperThan(message, MAX_DEPTH - 1)) return false
  readable.add(message)
  return true
}

const isTyped = (block: unknown): boolean => isRecord(block) && typeof block.type === "string" && block.type !== ""

/** Level by level: a stack would end long before some values do. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level = [value]
  for (let left = levels; left > 0; left--) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []))
    if (level.length === 0) return false
  }
  return level.some((each) => typeof each === "object" && each !== null)
}

interface Drafting {
  /** The place of the first one in the caller's list. */
  readonly from: number
  /** Something else is before them than when the model thought: the API would refuse the thinking. */
  readonly isElsewhere: boolean
}

export function callerDrafts(
  messages: readonly ClientMessage[],
  { from, isElsewhere }: Drafting,
): readonly MessageDraft[] {
  return messages.map((given, at): MessageDraft => {
    const message = asPlainJson(given, `messages[${from + at}]`)
    if (message.role === "system") {
      const attachment = { type: "system_message", message: message as ClientSystemMessage["message"] } as const
      return { type: "attachment", attachment }
    }
    const content = message.content as Content
    if (message.role === "assistant") {
      const said = isElsewhere ? toBlocks(content).filter((block) => !isThinking(block)) : content
      return { type: "assistant", asSent: true, message: { role: "assistant", content: said } }
    }
    return { type: "user", asSent: true, message: { ...message, role: "user", content } }
  })
}

// A branch at a message that the last compaction kept. Going back to it alone would bring back everything that was summarised, so the
// compaction is written again for the part of the tail that stays. What is before that message keeps its bytes.

/** Resolves with whether it was such a message. */
export async function branchInTail(engine: Engine, uuid: Uuid): Promise<boolean> {
  const { record, views } = engine
  if (views.compactions.ends.has(uuid)) return false // the last one of the tail: an ordinary rewind keeps the boundary
  const { entries } = await record.journal.tail()
  const written = compactionIn(entries)
  const [boundary] = written
  const { preservedMessages, headMessages = [] } =
    (boundary && isBoundaryEntry(boundary) && boundary.compactMetadata) || {}
  const kept = preservedMessages?.uuids
  const at = kept?.indexOf(uuid) ?? -1
  if (!kept || at < headMessages.length || views.compactions.last?.boundary !== boundary!.uuid) return false
  await record.rewind(uuid)
  await record.append(copied(written, { kept: kept.slice(0, at + 1), newUuid: () => record.ids.uuid() }))
  engine.prompt.compareAgain()
  engine.preparer.forgetUndecided()
  await record.recordSession()
  return true
}

/** What a compaction wrote: from the boundary to the decision that ends it. */
function compactionIn(entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex((entry) => isDecision(entry) && entry.subtype === "compacted")
  return end < 0 || !isBoundaryEntry(entries[0]!) ? [] : entries.slice(0, end + 1)
}

interface Copying {
  readonly kept: readonly Uuid[]
  readonly newUuid: () => Uuid
}

/** The same with ids of their own, for fewer kept messages. */
function copied(entries: readonly Entry[], { kept, newUuid }: Copying): readonly EntryDraft[] {
  const ids = new Map(entries.filter(isMessage).map(({ uuid }) => [uuid, newUuid()]))
  const renamed = (uuid: Uuid | undefined) => ids.get(uuid ?? "") ?? uuid
  return entries
    .filter((entry) => !(isDecision(entry) && entry.subtype === "session"))
    .map((entry): EntryDraft => {
      const { uuid, parentUuid: _, timestamp: __, ...draft } = entry
      if (isDecision(entry))
        return (
          entry.subtype === "compacted" ? { ...draft, boundary: renamed(entry.boundary), kept } : draft
        ) as EntryDraft
      if (!isBoundaryEntry(entry)) return { ...draft, uuid: renamed(uuid) } as EntryDraft
      const { preservedMessages, headMessages = [], preservedSegment: ___, ...metadata } = entry.compactMetadata!
      const anchor = renamed(preservedMessages?.anchorUuid)
      return {
        ...draft,
        uuid: renamed(uuid),
        compactMetadata: {
          ...metadata,
          preservedMessages: { ...(anchor === undefined ? {} : { anchorUuid: anchor }), uuids: kept },
          headMessages: headMessages.filter((head) => kept.includes(head)),
        },
      } as EntryDraft
    })
}

/** What the caller sends besides its messages. */
export interface SyncMessagesOptions {
  readonly system?: SystemPrompt
  readonly tools?: readonly ToolDefinition[]
  /** @internal For a caller whose messages never change. */
  readonly read?: Reader
  /** @internal Answers calls that the caller does not see. */
  readonly answers?: Answers
  /** @internal The model gets the tool Recall as soon as something has left the context. */
  readonly willRecall?: boolean
}

type Answers = (calls: readonly ToolUse[]) => Promise<readonly ToolResult[]>

/** What became of a caller's list. */
export interface SyncMessagesReport {
  /**
   * `added`: it goes on from what was there. `branched`: it goes another way from an earlier message. `restarted`: it begins with other
   * messages, as after a summary of the caller's own. `aside`: it asks for such a summary. That is no message: the next `prepare` and
   * `record` are about it alone.
   */
  readonly how: "added" | "branched" | "restarted" | "aside"
  /** How many messages were new. */
  readonly added: number
  /** Ids of new results that no open call has. They are in the journal, and left out of requests: the repair `orphan-tool-result`. */
  readonly unasked?: readonly string[]
}

const THINKING_STRIPPED = "the caller no longer sends it"

export function follow(
  engine: Engine,
  sent: readonly unknown[],
  options: SyncMessagesOptions = {},
): Promise<SyncMessagesReport> {
  const { system, tools, read, answers, willRecall = false } = options // not in the signature: declarations leave out what is internal
  const messages = callerMessages(sent)
  const asked = orderIn(messages)
  const list = [...(asked?.before ?? messages)]
  const given = givenMessages(list, read)
  return engine.inOrder(async () => {
    engine.aside = undefined
    engine.willRecall = willRecall
    const { messages: known } = engine.views.followed
    const match = matched(known, given)
    const isNew = known.length === 0
    if (asked && (match.leaves || match.given === 0) && !isNew) {
      engine.aside = { order: asked.order as readonly Block[] }
      return { how: "aside", added: 0 } // the view has everything, and more than the caller's list
    }
    await usePrompt(engine, { ...(system === undefined ? {} : { system }), ...(tools ? { tools } : {}) })
    const report = await update(engine, { given, match, answers })
    if (asked) engine.aside = { order: asked.order as readonly Block[] }
    return asked ? { ...report, how: "aside" } : report
  })
}

async function usePrompt(engine: Engine, prompt: SyncMessagesOptions): Promise<void> {
  if (Object.keys(prompt).length > 0) await engine.prompt.follow(prompt)
}

interface Update {
  readonly given: readonly GivenMessage[]
  readonly match: Matched
  readonly answers: Answers | undefined
}

async function update(engine: Engine, { given: all, match, answers }: Update): Promise<SyncMessagesReport> {
  const { messages: known } = engine.views.followed
  const restarts = known.length > 0 && match.known === 0
  const branches = !restarts && match.leaves
  const seen = new Set(known.flatMap(({ reminders = [] }) => reminders))
  if (branches) await branchAt(engine, known[match.known - 1]!.uuid)
  if (match.stripped.length > 0 && !restarts)
    await engine.record.append([
      { type: "strata", subtype: "thinking-dropped", why: THINKING_STRIPPED, inMessages: match.stripped },
    ])
  const from = restarts ? 0 : match.given
  const given = all.slice(from).map(({ message }) => message)
  const drafts = withUsersWords(callerDrafts(given, { from, isElsewhere: restarts || branches }), engine.views)
  const again = restarts ? [] : changedReminders(all.slice(0, from), seen)
  const placed = restarts
    ? await callerBoundary(engine, { drafts, isSummary: isOurs(engine, given) || keepsKnown(known, given) })
    : drafts
  const { unasked } = unaskedResults(restarts ? [] : engine.views.context.journaledMessages(), drafts)
  const held = drafts.length > 0 && !restarts ? await heldResults(engine, answers) : []
  const entries = await append(engine, [...held, ...placed, ...again])
  await engine.decideResults(entries)
  return {
    how: restarts ? "restarted" : branches ? "branched" : "added",
    added: drafts.length,
    ...(unasked.length > 0 ? { unasked } : {}),
  }
}

/** The newest answer also asked us: what we say goes with the results of the caller. */
async function heldResults({ views }: Engine, answers: Answers | undefined): Promise<readonly MessageDraft[]> {
  const last = views.context.lastResponse
  const hidden = new Set(last?.hiddenCalls?.filter((id) => views.context.resultAddress(id) === undefined))
  if (!last || !answers || hidden.size === 0) return []
  const content = await answers(
    contentOf(last)
      .filter(isToolUse)
      .filter(({ id }) => hidden.has(id)),
  )
  return [{ type: "user", isMeta: true, message: { role: "user", content } }]
}

const append = (engine: Engine, drafts: readonly EntryDraft[]): Promise<readonly Entry[]> =>
  drafts.length === 0 ? Promise.resolve([]) : engine.record.append(drafts)

async function branchAt(engine: Engine, uuid: string): Promise<void> {
  if (!(await branchInTail(engine, uuid))) await rewind(engine, uuid)
}

/** The caller's summary is what we answered its order with. One that only claims to go on learns nothing of what was before. */
function isOurs({ summaries }: Engine, [first]: readonly ClientMessage[]): boolean {
  if (!first || !isCallersSummary(first)) return false
  const text = JSON.stringify(first.content)
  return summaries.some((line) => text.includes(line))
}

/** A list with another beginning that still has some of what we know was summarised, and not cleared. */
function keepsKnown(known: Engine["views"]["followed"]["messages"], given: readonly ClientMessage[]): boolean {
  const keys = new Set(known.map(({ key }) => key).filter((key) => key !== ""))
  return givenMessages(given).some(({ message, trace }) => isDistinctive(message) && keys.has(trace.key))
}

/** Reminders that the caller has changed in messages that were sent: the newest of them is said once more, at the end. */
function changedReminders(sent: readonly GivenMessage[], seen: ReadonlySet<string>): readonly MessageDraft[] {
  const changed = sent
    .filter(({ trace: { reminders = [] } }) => reminders.some((digest) => !seen.has(digest)))
    .flatMap(({ message }) => [...remindersIn(message)])
    .filter(([digest]) => !seen.has(digest))
  if (changed.length === 0) return []
  const content = [...new Map(changed).values()].map((text): Block => ({ type: "text", text }))
  return [{ type: "user", isMeta: true, asSent: true, message: { role: "user", content } }]
}
