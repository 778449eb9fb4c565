/** What a parent gets of a sub-agent's result: a bounded text, where the rest is, and one line of figures. */
import type { InboundMessage } from "../agent/loop/companions.ts"
import { reasonOf } from "../base/errors.ts"
import { dollars } from "../base/text.ts"
import { type Conversation, engineOf } from "../conversation/conversation.ts"
import { type AgentEnding, isDecision, isMessage } from "../journal/entries.ts"
import { newestFirst } from "../journal/newest-first.ts"
import type { Journal } from "../journal/store.ts"
import { textOf } from "../messages/blocks.ts"
import { contentOf, isSyntheticError } from "../messages/messages.ts"
import { RECALL_TOOL } from "../tools/session/recall-source.ts"
import type { AgentRecord } from "../views/record/open-work.ts"
import type { AgentView } from "./order.ts"

export interface ResultBounds {
  readonly text: string
  /** Tokens. */
  readonly limit: number
  readonly estimate: (text: string) => number
  /** Keeps the whole text and resolves with where it is. */
  readonly keep: (text: string) => Promise<string | undefined>
  /** How the model finds all of it without a file, as a sentence. */
  readonly elsewhere: string
}

export interface BoundedResult {
  readonly content: string
  readonly handle?: string
}

const NO_TEXT = "It wrote no result."

/** The beginning and the end, if it is too long: a result often ends with what matters. */
export async function boundedResult({ text, limit, estimate, keep, elsewhere }: ResultBounds): Promise<BoundedResult> {
  if (text.trim() === "") return { content: NO_TEXT }
  if (estimate(text) <= limit) return { content: text }
  const content = cutMiddle(text, { limit, estimate })
  try {
    const handle = await keep(text)
    return handle === undefined ? { content: `${content}\n[${elsewhere}]` } : { content, handle }
  } catch (error) {
    return {
      content: `${content}\n[The whole text could not be saved (${reasonOf(error)}). The agent's journal has it.]`,
    }
  }
}

/** The same for a lead: within its limit, the whole text kept with its conversation. */
export const boundedFor = (
  lead: Conversation,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<BoundedResult> =>
  boundedResult({
    text,
    limit: lead.flags.figures["agent-result-limit"],
    estimate: (part) => lead.views.estimator.text(part),
    keep: (whole) => engineOf(lead).keepText(`${name}.md`, whole),
    elsewhere: `The agent's journal has all of it.${lead.views.context.toolNames.includes(RECALL_TOOL) ? ` ${RECALL_TOOL} finds it by its words.` : ""}`,
  })

/** The result of an agent that ended, as it reaches its lead. `known`: its text, if it worked in this process. */
export async function arrivalOf(
  lead: Conversation,
  { id, name, status, summary = "" }: AgentRecord,
  known: string | undefined,
): Promise<InboundMessage> {
  const text = known ?? (await textFromJournal(lead, id, summary))
  const { content, handle } = await boundedFor(lead, { name: `${id}-result`, text })
  const result = { type: "agent_result", id, name, status: status as AgentEnding, content } as const
  return { attachment: handle === undefined ? result : { ...result, handle } }
}

/** The result of an agent of an earlier process. */
async function textFromJournal(lead: Conversation, id: string, summary: string): Promise<string> {
  const journal = await lead.openAgentJournal(id).catch(() => undefined)
  if (!journal) return summary
  try {
    const text = await lastTextIn(journal)
    if (summaryOf(text) === summary) return text
    return text === "" ? summary : `${summary} The last thing it wrote:\n\n${text}`
  } finally {
    await journal.close()
  }
}

const HEAD_SHARE = 0.75 // of what is shown: a result is written to be read from its beginning

function cutMiddle(text: string, { limit, estimate }: Pick<ResultBounds, "limit" | "estimate">): string {
  const shown = (characters: number) => {
    const head = Math.floor(characters * HEAD_SHARE)
    const tail = characters - head
    const left = text.length - characters
    return `${text.slice(0, head)}\n[… ${left} characters are left out here …]\n${tail > 0 ? text.slice(-tail) : ""}`.toWellFormed()
  }
  let [min, max] = [0, text.length]
  while (min < max) {
    const middle = Math.ceil((min + max) / 2)
    if (estimate(shown(middle)) <= limit) min = middle
    else max = middle - 1
  }
  return shown(min)
}

const plural = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`

/** One line: `agent-1: 3 requests, 5 tool calls, $0.12`. */
export function figuresLine({ id, turns, toolUses, dollars: spent }: AgentView): string {
  const cost = spent === undefined ? "" : `, ${dollars(spent)}`
  return `${id}: ${plural(turns, "request")}, ${plural(toolUses, "tool call")}${cost}`
}

const SUMMARY_CHARACTERS = 200

/** The first line, for lists and for the status after a compaction. */
export function summaryOf(text: string): string {
  const line = text.trim().split("\n", 1)[0]!.trim()
  return line.length > SUMMARY_CHARACTERS ? `${line.slice(0, SUMMARY_CHARACTERS).toWellFormed()}…` : line
}

/** The last text that an agent wrote, from its journal. Empty where it wrote nothing. */
export async function lastTextIn(journal: Journal): Promise<string> {
  for await (const entry of newestFirst(journal)) {
    if (isDecision(entry) && entry.subtype === "branched") return "" // what comes before is its parent's
    if (!isMessage(entry) || entry.type !== "assistant" || entry.isSidechain || isSyntheticError(entry)) continue
    const text = textOf(contentOf(entry))
    if (text.trim() !== "") return text
  }
  return ""
}
