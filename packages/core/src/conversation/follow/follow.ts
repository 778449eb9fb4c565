/**
 * Updates a conversation with the complete list of a client that resends all messages each time. New messages are recorded as they were
 * sent; a list that diverges is a branch; a list that begins with the client's own summary is a boundary. `prepare` and `record` then work
 * as usual.
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
import { asPlainJson, toApiMessageAsSent, withUserText } from "../incoming.ts"
import { findUnmatchedResults } from "../open-calls.ts"
import { findSummaryRequest, isClientSummary } from "./client-compaction.ts"
import { type IdentifiedMessage, identifyMessages, type ListMatch, type MessageReader, matchLists } from "./match.ts"

// A boundary made by the client, which sends a list that begins with its own summary. Facts from the journal follow that summary once.

const FACTS_SHARE = 0.5 // of the facts that follow Strata's summaries, because the client wrote its own summary and pays for both

/** The entries of the boundary. `isSummary`: the list continues the same work. Otherwise it is unrelated to earlier messages. */
export async function clientBoundary(
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
  // without Recall, no handles are listed and the client's own summary must suffice
  const options = { budget: Math.floor(facts * FACTS_SHARE), hasRecall: canRecall }
  await views.catchUp()
  return runCooperatively(factSteps(views, { estimate: (text) => views.estimator.text(text), ...options }))
}

// A client's messages are recorded as they were sent, and validated only for what no journal can store.

/** Validates that the input is a list of messages. */
export function validateClientMessages(given: unknown): readonly ClientMessage[] {
  if (!Array.isArray(given)) throw new InvalidContentError("follow() takes the list of messages of a request")
  return given.map((item, at) => {
    const message = toApiMessageAsSent(item, `messages[${at}]`)
    const role: unknown = isRecord(message) ? message.role : undefined
    if (role !== "user" && role !== "assistant" && role !== "system")
      throw new InvalidContentError(`messages[${at}] has the role ${JSON.stringify(role)}`)
    const { content } = message as ClientMessage
    const isContent = typeof content === "string" || Array.isArray(content) || (role === "system" && content == null)
    if (!isContent) throw new InvalidContentError(`the content of messages[${at}] must be a text or a list of blocks`)
    return message as ClientMessage
  })
}

/** Messages that were found readable. A client's messages never change. */
const readable = new WeakSet<object>()

/** Whether a list can be synchronised. Content that cannot be interpreted is left for the server to refuse. */
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

/** Whether a value is nested too deeply. Iterative, because recursion could overflow the stack. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level = [value]
  for (let left = levels; left > 0; left--) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []))
    if (level.length === 0) return false
  }
  return level.some((each) => typeof each === "object" && each !== null)
}

interface DraftOptions {
  /** Index of the first message in the client's list. */
  readonly from: number
  /** Whether different messages precede them than when the model thought, so that the API would refuse the thinking. */
  readonly isElsewhere: boolean
}

export function clientDrafts(
  messages: readonly ClientMessage[],
  { from, isElsewhere }: DraftOptions,
): readonly MessageDraft[] {
  return messages.map((given, at): MessageDraft => {
    const message = asPlainJson(given, `messages[${from + at}]`)
    if (message.role === "system") {
      const attachment = { type: "system_message", message: message as ClientSystemMessage["message"] } as const
      return { type: "attachment", attachment }
    }
    const content = message.content as Content
    if (message.role === "assistant") {
      const sentContent = isElsewhere ? toBlocks(content).filter((block) => !isThinking(block)) : content
      return { type: "assistant", asSent: true, message: { role: "assistant", content: sentContent } }
    }
    return { type: "user", asSent: true, message: { ...message, role: "user", content } }
  })
}

// A branch at a message in the last compaction's tail. A rewind to it alone would bring back everything that was summarised, so the
// compaction is written again for the remaining part of the tail. Everything before that message keeps its bytes.

/** Branches within the tail. Resolves with whether the message was in the tail. */
export async function branchInTail(engine: Engine, uuid: Uuid): Promise<boolean> {
  const { record, views } = engine
  if (views.compactions.ends.has(uuid)) return false // the last message of the tail: an ordinary rewind preserves the boundary
  const { entries } = await record.journal.tail()
  const written = compactionIn(entries)
  const [boundary] = written
  const { preservedMessages, headMessages = [] } =
    (boundary && isBoundaryEntry(boundary) && boundary.compactMetadata) || {}
  const kept = preservedMessages?.uuids
  const at = kept?.indexOf(uuid) ?? -1
  if (!kept || at < headMessages.length || views.compactions.last?.boundary !== boundary!.uuid) return false
  await record.rewind(uuid)
  await record.append(copyEntries(written, { kept: kept.slice(0, at + 1), newUuid: () => record.ids.uuid() }))
  engine.prompt.compareAgain()
  engine.preparer.forgetUndecided()
  await record.recordSession()
  return true
}

/** The entries of a compaction, from the boundary to the decision that ends it. */
function compactionIn(entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex((entry) => isDecision(entry) && entry.subtype === "compacted")
  return end < 0 || !isBoundaryEntry(entries[0]!) ? [] : entries.slice(0, end + 1)
}

interface CopyOptions {
  readonly kept: readonly Uuid[]
  readonly newUuid: () => Uuid
}

/** Copies the entries with new ids, for a shorter tail. */
function copyEntries(entries: readonly Entry[], { kept, newUuid }: CopyOptions): readonly EntryDraft[] {
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

/** Options in addition to the client's messages. */
export interface SyncMessagesOptions {
  readonly system?: SystemPrompt
  readonly tools?: readonly ToolDefinition[]
  /** @internal Reader for a client whose messages never change. */
  readonly read?: MessageReader
  /** @internal Answers calls that are hidden from the client. */
  readonly answers?: Answers
  /** @internal Whether the model gets the Recall tool as soon as content has left the context. */
  readonly willRecall?: boolean
}

type Answers = (calls: readonly ToolUse[]) => Promise<readonly ToolResult[]>

/** Result of synchronising a client's list. */
export interface SyncMessagesReport {
  /**
   * `added`: the list continues the conversation. `branched`: it diverges at an earlier message. `restarted`: it begins with other
   * messages, as after a summary of the client. `aside`: it requests such a summary, which is not a message: the next `prepare` and
   * `record` are only about it.
   */
  readonly how: "added" | "branched" | "restarted" | "aside"
  /** Number of new messages. */
  readonly added: number
  /** Ids of new results without an open call. They are in the journal, and omitted from requests: the repair `orphan-tool-result`. */
  readonly unasked?: readonly string[]
}

const THINKING_STRIPPED = "the caller no longer sends it"

export function syncMessages(
  engine: Engine,
  sent: readonly unknown[],
  options: SyncMessagesOptions = {},
): Promise<SyncMessagesReport> {
  const { system, tools, read, answers, willRecall = false } = options // not in the signature, because declarations omit internal members
  const messages = validateClientMessages(sent)
  const asked = findSummaryRequest(messages)
  const list = [...(asked?.before ?? messages)]
  const given = identifyMessages(list, read)
  return engine.inOrder(async () => {
    engine.aside = undefined
    engine.willRecall = willRecall
    const { messages: known } = engine.views.followed
    const match = matchLists(known, given)
    const isNew = known.length === 0
    if (asked && (match.leaves || match.given === 0) && !isNew) {
      engine.aside = { order: asked.order as readonly Block[] }
      return { how: "aside", added: 0 } // the view already contains everything in the client's list
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

interface UpdateInput {
  readonly given: readonly IdentifiedMessage[]
  readonly match: ListMatch
  readonly answers: Answers | undefined
}

async function update(engine: Engine, { given: all, match, answers }: UpdateInput): Promise<SyncMessagesReport> {
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
  const drafts = withUserText(clientDrafts(given, { from, isElsewhere: restarts || branches }), engine.views)
  const again = restarts ? [] : changedReminders(all.slice(0, from), seen)
  const placed = restarts
    ? await clientBoundary(engine, { drafts, isSummary: isOwnSummary(engine, given) || containsKnown(known, given) })
    : drafts
  const { unasked } = findUnmatchedResults(restarts ? [] : engine.views.context.journaledMessages(), drafts)
  const held = drafts.length > 0 && !restarts ? await heldResults(engine, answers) : []
  const entries = await append(engine, [...held, ...placed, ...again])
  await engine.decideResults(entries)
  return {
    how: restarts ? "restarted" : branches ? "branched" : "added",
    added: drafts.length,
    ...(unasked.length > 0 ? { unasked } : {}),
  }
}

/** Results of hidden calls in the newest response, sent together with the client's results. */
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

/**
 * Whether the client's summary is the response to its request here. A list that only claims to continue gets no facts of earlier messages.
 */
function isOwnSummary({ summaries }: Engine, [first]: readonly ClientMessage[]): boolean {
  if (!first || !isClientSummary(first)) return false
  const text = JSON.stringify(first.content)
  return summaries.some((line) => text.includes(line))
}

/** Whether a list with another beginning still contains known messages: then it was summarised, and not cleared. */
function containsKnown(known: Engine["views"]["followed"]["messages"], given: readonly ClientMessage[]): boolean {
  const keys = new Set(known.map(({ key }) => key).filter((key) => key !== ""))
  return identifyMessages(given).some(({ message, trace }) => isDistinctive(message) && keys.has(trace.key))
}

/** Reminders that the client has changed in messages that were already sent: the newest version is sent once more, at the end. */
function changedReminders(sent: readonly IdentifiedMessage[], seen: ReadonlySet<string>): readonly MessageDraft[] {
  const changed = sent
    .filter(({ trace: { reminders = [] } }) => reminders.some((digest) => !seen.has(digest)))
    .flatMap(({ message }) => [...remindersIn(message)])
    .filter(([digest]) => !seen.has(digest))
  if (changed.length === 0) return []
  const content = [...new Map(changed).values()].map((text): Block => ({ type: "text", text }))
  return [{ type: "user", isMeta: true, asSent: true, message: { role: "user", content } }]
}
