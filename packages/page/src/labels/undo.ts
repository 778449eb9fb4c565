/** Describes an undo and a manual clearing. Pure. */
import type { ClearingReport, UndoReport } from "@strata/core"
import { formatDollars, formatNumber, pluralize } from "@strata/core/base"

const KIND_LABELS: Readonly<Record<UndoReport["kind"], string>> = {
  compaction: "compaction",
  clearing: "clearing of tool results",
  images: "clearing of images",
  fold: "fold",
  snip: "snip",
}

/** `The last compaction was undone: 12,000 to 140,000 tokens. 4 messages that came later are kept.` */
export function describeUndo(report: UndoReport, { isDryRun = false } = {}): string {
  const { kind, undone, tokensBefore, tokensAfter, later } = report
  const many = undone.length
  const subject = many > 1 ? `The last ${many} ${KIND_LABELS[kind]}s` : `The last ${KIND_LABELS[kind]}`
  const verb = isDryRun ? "would be" : many > 1 ? "were" : "was"
  const size = `${formatNumber(tokensBefore)} to ${formatNumber(tokensAfter)} tokens`
  return `${subject} ${verb} undone: ${size}.${describeLaterMessages(later, isDryRun)}${isDryRun ? " Nothing was changed." : ""}`
}

function describeLaterMessages({ messages, kept }: UndoReport["later"], isDryRun: boolean): string {
  if (messages === 0) return ""
  const came = `${pluralize(messages, "message")} that came later`
  if (kept) return ` ${came} ${isDryRun ? "would stay" : messages === 1 ? "stays" : "stay"}.`
  return ` ${came} ${isDryRun ? "would be" : messages === 1 ? "is" : "are"} left out; the journal keeps ${messages === 1 ? "it" : "them"}.`
}

export function describeClearing(report: ClearingReport, { isDryRun = false, undo = "/undo" } = {}): string {
  const { results, shortened, images, tokensBefore, tokensAfter, rewrites, dollars: price } = report
  const count = results + shortened + images
  if (count === 0) return "There is nothing to clear. What the model has not answered yet always stays."
  const what = [
    ...(results > 0 ? [pluralize(results, "old tool result")] : []),
    ...(shortened > 0 ? [`the middle of ${pluralize(shortened, "long result")}`] : []),
    ...(images > 0 ? [pluralize(images, "image or document", "images and documents")] : []),
  ].join(" and ")
  const subject = what.charAt(0).toUpperCase() + what.slice(1)
  const verb = isDryRun ? "would be" : count === 1 || results + images === 0 ? "was" : "were"
  const cost = price === undefined ? "" : `, for ${formatDollars(price)} more than reading them`
  const cache =
    rewrites === 0
      ? "The cache is cold, so this costs nothing."
      : `The next request writes ${formatNumber(rewrites)} tokens to the cache again${cost}.`
  const end = isDryRun ? " Nothing was changed." : ` ${undo} brings ${count === 1 ? "it" : "them"} back.`
  return `${subject} ${verb} cleared: ${formatNumber(tokensBefore)} to ${formatNumber(tokensAfter)} tokens. ${cache}${end}`
}
