/** A sub-agent's result as its parent receives it: a bounded text, a handle of the full text, and one line of usage. */
import type { InboundMessage } from "../agent/loop/agent-links.ts"
import { errorReason } from "../base/errors.ts"
import { formatDollars } from "../base/text.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import { type AgentEnding, isDecision, isMessage } from "../journal/entries.ts"
import { newestFirst } from "../journal/newest-first.ts"
import type { Journal } from "../journal/store.ts"
import { textOf } from "../messages/blocks.ts"
import { contentOf, isSyntheticError } from "../messages/messages.ts"
import { RECALL_TOOL } from "../tools/session/recall-source.ts"
import type { AgentRecord } from "../views/record/open-work.ts"
import type { AgentView } from "./agent-task.ts"

export interface ResultBounds {
  readonly text: string
  /** Maximum tokens of the result. */
  readonly limit: number
  readonly estimate: (text: string) => number
  /** Saves the full text and resolves with its location. */
  readonly keep: (text: string) => Promise<string | undefined>
  /** A sentence that explains how the model finds the full text if no file was written. */
  readonly fallbackHint: string
}

export interface BoundedResult {
  readonly content: string
  readonly handle?: string
}

const NO_TEXT = "It wrote no result."

/** Shortens a text that is too long to its beginning and end, because a result often ends with what matters. */
export async function boundResult({ text, limit, estimate, keep, fallbackHint }: ResultBounds): Promise<BoundedResult> {
  if (text.trim() === "") return { content: NO_TEXT }
  if (estimate(text) <= limit) return { content: text }
  const content = cutMiddle(text, { limit, estimate })
  try {
    const handle = await keep(text)
    return handle === undefined ? { content: `${content}\n[${fallbackHint}]` } : { content, handle }
  } catch (error) {
    return {
      content: `${content}\n[The whole text could not be saved (${errorReason(error)}). The agent's journal has it.]`,
    }
  }
}

/** Bounds a result by the lead's limit and saves the full text with its conversation. */
export const boundForLead = (
  lead: Conversation,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<BoundedResult> => {
  const engine = engineOf(lead)
  return boundResult({
    text,
    limit: engine.flags.figures["agent-result-limit"],
    estimate: (part) => engine.views.estimator.text(part),
    keep: (whole) => keepText(engine.record.journal, { name: `${name}.md`, text: whole }),
    fallbackHint: `The agent's journal has all of it.${engine.views.context.toolNames.includes(RECALL_TOOL) ? ` ${RECALL_TOOL} finds it by its words.` : ""}`,
  })
}

/** Nothing if the store keeps no files: no tool could read it. */
async function keepText(journal: Journal, { name, text }: { readonly name: string; readonly text: string }) {
  return journal.file === undefined ? undefined : (await journal.writeBlob(name, text)).path
}

/** Builds the message that brings an ended agent's result to its lead. `known`: its text, if it worked in this process. */
export async function inboundResult(
  lead: Conversation,
  { id, name, status, summary = "" }: AgentRecord,
  known: string | undefined,
): Promise<InboundMessage> {
  const text = known ?? (await textFromJournal(lead, id, summary))
  const { content, handle } = await boundForLead(lead, { name: `${id}-result`, text })
  const result = { type: "agent_result", id, name, status: status as AgentEnding, content } as const
  return { attachment: handle === undefined ? result : { ...result, handle } }
}

/** Reads the result of an agent of an earlier process from its journal. */
async function textFromJournal(lead: Conversation, id: string, summary: string): Promise<string> {
  const journal = await engineOf(lead)
    .openAgentJournal(id)
    .catch(() => undefined)
  if (!journal) return summary
  try {
    const text = await lastTextIn(journal)
    if (summaryOf(text) === summary) return text
    return text === "" ? summary : `${summary} The last thing it wrote:\n\n${text}`
  } finally {
    await journal.close()
  }
}

const HEAD_SHARE = 0.75 // share of the beginning, because a result is written to be read from there

function cutMiddle(text: string, { limit, estimate }: Pick<ResultBounds, "limit" | "estimate">): string {
  const cutTo = (characters: number) => {
    const head = Math.floor(characters * HEAD_SHARE)
    const tail = characters - head
    const omitted = text.length - characters
    return `${text.slice(0, head)}\n[… ${omitted} characters are left out here …]\n${tail > 0 ? text.slice(-tail) : ""}`.toWellFormed()
  }
  let [min, max] = [0, text.length]
  while (min < max) {
    const middle = Math.ceil((min + max) / 2)
    if (estimate(cutTo(middle)) <= limit) min = middle
    else max = middle - 1
  }
  return cutTo(min)
}

const pluralize = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`

/** Formats the usage in one line: `agent-1: 3 requests, 5 tool calls, $0.12`. */
export function usageLine({ id, turns, toolUses, dollars: spent }: AgentView): string {
  const cost = spent === undefined ? "" : `, ${formatDollars(spent)}`
  return `${id}: ${pluralize(turns, "request")}, ${pluralize(toolUses, "tool call")}${cost}`
}

const SUMMARY_CHARACTERS = 200

/** The first line, shortened. Used in lists and in the status after a compaction. */
export function summaryOf(text: string): string {
  const line = text.trim().split("\n", 1)[0]!.trim()
  return line.length > SUMMARY_CHARACTERS ? `${line.slice(0, SUMMARY_CHARACTERS).toWellFormed()}…` : line
}

/** Finds the last text that an agent wrote. Empty if it wrote none. */
export async function lastTextIn(journal: Journal): Promise<string> {
  for await (const entry of newestFirst(journal)) {
    if (isDecision(entry) && entry.subtype === "branched") return "" // older entries belong to its parent
    if (!isMessage(entry) || entry.type !== "assistant" || entry.isSidechain || isSyntheticError(entry)) continue
    const text = textOf(contentOf(entry))
    if (text.trim() !== "") return text
  }
  return ""
}
