/**
 * Brings a conversation up to date with the list of a caller that sends all its messages again each time. What is new is journaled as it
 * was sent; a list that goes another way is a branch; a list that begins with the caller's own summary is a boundary. Then `prepare` and
 * `record` work as always.
 */
import type { Draft, Entry, MessageDraft } from "../../journal/entries.ts"
import { type Block, isToolUse, type ToolResult, type ToolUse } from "../../messages/blocks.ts"
import { type CallerMessage, isTelling, remindersIn } from "../../messages/caller-key.ts"
import { contentOf } from "../../messages/messages.ts"
import type { SystemPrompt, ToolDefinition } from "../../messages/request.ts"
import { rewind } from "../branch.ts"
import type { Engine } from "../engine.ts"
import { unaskedResults } from "../open-calls.ts"
import { withPersonsWords } from "../persons-words.ts"
import { callerBoundary } from "./caller-boundary.ts"
import { callerDrafts, callerMessages } from "./caller-drafts.ts"
import { isCallersSummary, orderIn } from "./caller-order.ts"
import { type GivenMessage, givenMessages, type Matched, matched, type Reader } from "./match.ts"
import { branchInTail } from "./tail-branch.ts"

/** What the caller sends besides its messages. */
export interface FollowOptions {
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
export interface FollowReport {
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

export function follow(engine: Engine, sent: readonly unknown[], options: FollowOptions = {}): Promise<FollowReport> {
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

async function usePrompt(engine: Engine, prompt: FollowOptions): Promise<void> {
  if (Object.keys(prompt).length > 0) await engine.prompt.follow(prompt)
}

interface Update {
  readonly given: readonly GivenMessage[]
  readonly match: Matched
  readonly answers: Answers | undefined
}

async function update(engine: Engine, { given: all, match, answers }: Update): Promise<FollowReport> {
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
  const drafts = withPersonsWords(callerDrafts(given, { from, isElsewhere: restarts || branches }), engine.views)
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

const append = (engine: Engine, drafts: readonly Draft[]): Promise<readonly Entry[]> =>
  drafts.length === 0 ? Promise.resolve([]) : engine.record.append(drafts)

async function branchAt(engine: Engine, uuid: string): Promise<void> {
  if (!(await branchInTail(engine, uuid))) await rewind(engine, uuid)
}

/** The caller's summary is what we answered its order with. One that only claims to go on learns nothing of what was before. */
function isOurs({ summaries }: Engine, [first]: readonly CallerMessage[]): boolean {
  if (!first || !isCallersSummary(first)) return false
  const text = JSON.stringify(first.content)
  return summaries.some((line) => text.includes(line))
}

/** A list with another beginning that still has some of what we know was summarised, and not cleared. */
function keepsKnown(known: Engine["views"]["followed"]["messages"], given: readonly CallerMessage[]): boolean {
  const keys = new Set(known.map(({ key }) => key).filter((key) => key !== ""))
  return givenMessages(given).some(({ message, trace }) => isTelling(message) && keys.has(trace.key))
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
