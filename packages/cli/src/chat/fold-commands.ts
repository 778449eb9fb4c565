/** `/fold`, `/unfold` and `/snip`: hide old messages from the model, and restore them. */
import { handleOf } from "@strata/core"
import { RangeRefusedError } from "@strata/core/base"
import { internalsOf } from "@strata/core/conversation"
import type { PlannedRange, RangePlan } from "@strata/core/policy"
import { formatCompact, formatDollars, formatNumber, pluralize } from "../display/numbers.ts"
import { firstLine } from "../display/text.ts"
import { readSlashOptions } from "../slash-options.ts"
import type { CommandTarget } from "./command-target.ts"

const LABEL = 60 // characters of a message in a list
const HALF = 0.5

/** `/fold 60000` folds down to a size, `/fold FROM TO` folds a range. Without an argument, it folds to half of the current size. */
export async function fold(target: CommandTarget, argument: string): Promise<void> {
  const { dryRun, words } = read("/fold", argument)
  const { conversation: chat } = target.agent
  const [first, to] = words
  const tokens = first === undefined ? Math.floor(chat.windowUsage().used * HALF) : parseTokens(first)
  const order = tokens !== undefined && to === undefined ? { downTo: tokens } : { from: first!, ...(to ? { to } : {}) }
  await show(target, dryRun, () => chat.fold({ ...order, dryRun }))
}

export async function unfold(target: CommandTarget, argument: string): Promise<void> {
  const { dryRun, words } = read("/unfold", argument)
  const { conversation: chat } = target.agent
  const handle = words[0] ?? (await chooseHidden(target))
  if (handle !== undefined) await show(target, dryRun, () => chat.unfold(handle, { dryRun }))
}

export async function snip(target: CommandTarget, argument: string): Promise<void> {
  const { dryRun, words } = read("/snip", argument)
  const { conversation: chat } = target.agent
  const [from, to] = words
  const range = from === undefined ? await chooseExchange(target) : { from, ...(to === undefined ? {} : { to }) }
  if (range) await show(target, dryRun, () => chat.snip({ ...range, dryRun }))
}

async function chooseExchange(target: CommandTarget): Promise<{ from: string; to: string } | undefined> {
  const exchanges = internalsOf(target.agent.conversation).exchanges()
  if (exchanges.length === 0) {
    target.notice("There is no finished exchange to cut out.")
    return undefined
  }
  const options = exchanges.map((range) => ({ label: firstLine(range.preview, LABEL), hint: formatSizes(range) }))
  const answer = await target.ask({ title: "Cut which exchange out of the view?", options })
  if (answer.type !== "chosen") return undefined
  const { from, to } = exchanges[answer.index]!
  return { from, to }
}

async function chooseHidden(target: CommandTarget): Promise<string | undefined> {
  const hidden = internalsOf(target.agent.conversation).views.context.hiddenRanges
  if (hidden.length === 0) {
    target.notice("Nothing is folded or cut out.")
    return undefined
  }
  const options = hidden.map(({ decision, messages }) => ({
    label: firstLine(decision.subtype === "folded" ? decision.line : `Cut out: ${decision.why || "by you"}`, LABEL),
    hint: `${handleOf(decision.from)}, ${pluralize(messages.length, "message")}`,
  }))
  const answer = await target.ask({ title: "Open which range?", options })
  return answer.type === "chosen" ? hidden[answer.index]!.decision.uuid : undefined
}

/** Shows a refusal as a notice, because it is not a failure of the program. */
async function show(target: CommandTarget, dryRun: boolean, act: () => Promise<RangePlan>): Promise<void> {
  try {
    const plan = await act()
    if (dryRun) target.print("What it would do (nothing was changed)", rangeLines(plan))
    else target.notice(describeDone(plan))
  } catch (error) {
    if (!(error instanceof RangeRefusedError)) throw error
    target.notice(error.message)
  }
}

const PAST = { fold: "Folded", snip: "Cut out", open: "Opened" } as const

/** `Folded 3 ranges (42 messages): 81.2K to 40.1K tokens. /unfold 3f09c1a2b4 opens the first one.` */
export function describeDone({ action, ranges, tokensBefore, tokensAfter }: RangePlan): string {
  const messages = ranges.reduce((sum, range) => sum + range.messages, 0)
  const done = `${PAST[action]} ${pluralize(ranges.length, "range")} (${pluralize(messages, "message")}): ${formatCompact(tokensBefore)} to ${formatCompact(tokensAfter)} tokens.`
  const [first] = ranges
  if (action === "open" || !first) return done
  const which = ranges.length === 1 ? "brings it back" : "opens the first one again"
  return `${done} The journal keeps everything: /unfold ${first.handles.from} ${which}.`
}

/** The affected ranges, the size afterwards, and the tokens that are written to the cache again. */
export function rangeLines({
  action,
  ranges,
  tokensBefore,
  tokensAfter,
  rewrites,
  dollars: cost,
}: RangePlan): string[] {
  return [
    ...ranges.map(
      (range) =>
        `${range.handles.from} to ${range.handles.to}  ${formatSizes(range)}  ${firstLine(range.preview, LABEL)}`,
    ),
    ...describeLeftLines({ action, ranges, tokensBefore, tokensAfter }),
    `Context: ${formatNumber(tokensBefore)} tokens now, ${formatNumber(tokensAfter)} after.`,
    rewrites === 0
      ? "The server's cache loses nothing."
      : `The server writes ${formatNumber(rewrites)} tokens to its cache again${cost === undefined ? "" : `, about ${formatDollars(cost)}`}.`,
  ]
}

/** `21,000 tokens go. The lines in their place take 50.` Together with the sizes of the context, the numbers add up. */
function describeLeftLines({
  action,
  ranges,
  tokensBefore,
  tokensAfter,
}: Pick<RangePlan, "action" | "ranges" | "tokensBefore" | "tokensAfter">): string[] {
  const gone = ranges.reduce((sum, { tokens }) => sum + tokens, 0)
  const left = tokensAfter - (tokensBefore - gone)
  return action === "fold" && left > 0
    ? [
        `${formatNumber(gone)} tokens go. ${ranges.length === 1 ? "The line in its place takes" : "The lines in their place take"} ${formatNumber(left)}.`,
      ]
    : []
}

const formatSizes = ({ messages, tokens }: PlannedRange): string =>
  `${pluralize(messages, "message")}, ${formatCompact(tokens)} tokens`

interface RangeArguments {
  readonly dryRun: boolean
  readonly words: readonly string[]
}

function read(command: string, argument: string): RangeArguments {
  const { given, text } = readSlashOptions(argument, { command, flags: ["dry-run"] })
  return { dryRun: given["dry-run"] !== undefined, words: text.split(/\s+/).filter((word) => word !== "") }
}

/** Parses `60000`, `60,000` or `60K`. A handle has ten digits, so it cannot be mistaken for a size. */
function parseTokens(word: string): number | undefined {
  const match = /^(\d{1,3}(?:,\d{3})+|\d{1,9})(k?)$/i.exec(word)
  return match ? Number(match[1]!.replaceAll(",", "")) * (match[2] ? 1_000 : 1) : undefined
}
