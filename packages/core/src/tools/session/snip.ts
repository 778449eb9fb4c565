/**
 * Snip: the agent proposes to remove a range of messages from its view. The user sees the range and decides, in every permission mode. If
 * nobody can be asked, nothing is removed.
 */
import * as z from "zod/v4"
import { errorReason } from "../../base/errors.ts"
import { formatNumber } from "../../base/text.ts"
import { unlessInterrupted } from "../../base/work.ts"
import type { Tool, ToolOutput } from "../tool.ts"

/** A range of messages that can be removed. */
export interface SnippableRange {
  readonly handles: { readonly from: string; readonly to: string }
  readonly messages: number
  readonly tokens: number
  /** Beginning of its first request. */
  readonly preview: string
}

/** The conversation from which ranges are removed. */
export interface SnipSource {
  exchanges(): readonly SnippableRange[]
  snip(range: {
    readonly from: string
    readonly to?: string
    readonly why: string
    readonly by: "agent"
    readonly dryRun?: boolean
  }): Promise<{
    readonly ranges: readonly SnippableRange[]
    readonly tokensBefore: number
    readonly tokensAfter: number
  }>
}

const inputSchema = z.object({
  from: z.string().optional().describe("Handle of the first message. Leave it out to list what can be cut."),
  to: z.string().optional().describe("Handle of the last message. Default: the end of that exchange."),
  why: z.string().optional().describe("One sentence for the person: why it is no longer needed."),
})
type SnipInput = z.infer<typeof inputSchema>

const YES = "Cut it out"
const NO = "Keep it"
const MAX_REASON = 200 // characters

export function snipTool(source: SnipSource): Tool<SnipInput> {
  return {
    name: "Snip",
    description:
      "Proposes to cut an old range of messages out of your view, such as a dead end or a finished side task. Without `from` it lists the finished exchanges with their handles. The person decides. Nothing is deleted: the range stays recallable, and what the person said in it still counts.",
    inputSchema,
    limitsItself: true,
    readOnly: true, // it changes no file, and the user is asked in every mode
    question: ({ why }) => ({ kind: "ask", summary: `cut a range out of the view${why ? `: ${quoted(why)}` : ""}` }),
    async execute({ from, to, why = "" }, { promptUser, signal }) {
      if (from === undefined) return { content: listing(source.exchanges()) }
      if (!promptUser) return failed("There is no one to ask, so nothing was cut.")
      const range = { from, ...(to === undefined ? {} : { to }), why: oneLine(why), by: "agent" as const }
      const planned = await source.snip({ ...range, dryRun: true }).catch((error: unknown) => errorReason(error))
      if (typeof planned === "string") return failed(planned)
      const answer = await unlessInterrupted(
        signal,
        promptUser({ text: question(planned.ranges[0]!, why), options: [YES, NO] }),
      )
      if (answer.state === "interrupted") return failed("Interrupted before an answer came. Nothing was cut.")
      if (answer.value !== YES) return failed(refusal(answer.value))
      const { tokensBefore, tokensAfter } = await source.snip(range)
      return {
        content: `The range is out of your view: about ${formatNumber(tokensBefore - tokensAfter)} tokens fewer.`,
      }
    },
  }
}

function question({ messages, tokens, preview, handles }: SnippableRange, why: string): string {
  const reason = why.trim() === "" ? "" : ` Its reason: ${quoted(why)}.`
  return `The agent proposes to cut ${formatNumber(messages)} messages (about ${formatNumber(tokens)} tokens, ${handles.from} to ${handles.to}) out of its view. They begin with "${preview}".${reason} Nothing is deleted, and /unfold ${handles.from} brings them back. Cut them out?`
}

function listing(exchanges: readonly SnippableRange[]): string {
  if (exchanges.length === 0) return "There is no finished exchange that could be cut."
  return exchanges
    .map(
      ({ handles, messages, tokens, preview }) =>
        `${handles.from}: ${formatNumber(messages)} messages, about ${formatNumber(tokens)} tokens: ${preview}`,
    )
    .join("\n")
}

const refusal = (remark: string | undefined): string =>
  remark === undefined || remark === NO || remark.trim() === ""
    ? "The person keeps the range in view. Nothing was cut."
    : `Nothing was cut. The person says: ${remark}`

const failed = (content: string): ToolOutput => ({ content, isError: true })

/** Quotes the agent's reason, so that it cannot be mistaken for the program's own text. */
const quoted = (why: string): string => `"${oneLine(why).replace(/\.$/, "").replaceAll('"', "'")}"`

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_REASON).toWellFormed()
