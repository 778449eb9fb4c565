/** Describes the plan and the outcome of restoring files for all screens. Pure. */

import type { RestorePlan, RestoreReport } from "@strata/core"
import type { PlannedFile } from "@strata/core/conversation"
import { escapeInvisible } from "./escaped.ts"
import { formatNumber, pluralize } from "./numbers.ts"

const MAX_NAMED = 5

/** One line for each file: the planned action, or why nothing is done. */
export function restoreLines({ files, more }: RestorePlan): readonly string[] {
  const rest =
    more > 0 ? [`leave    ${formatNumber(more)} more that commands changed: the journal does not name them`] : []
  return [...files.map(fileLine), ...rest]
}

function fileLine({ name: given, action, why, needsConsent }: PlannedFile): string {
  const name = escapeInvisible(given)
  if (action === "leave") return `leave    ${name}: ${why}`
  const what = action === "restore" ? "restore  " : "remove   "
  const reason = needsConsent ? `: ${why}` : action === "remove" ? ": the agent created it" : ""
  return `${what}${name}${reason}${needsConsent ? ", so you are asked first" : ""}`
}

/** `Restored 2 files. Removed 1 file that the agent created. Left 1 file as it is: out.txt (a command changed it).` */
export function describeRestore({ restored, removed, skipped }: RestoreReport): string {
  const sentences = [
    ...(restored.length > 0 ? [`Restored ${pluralize(restored.length, "file")}.`] : []),
    ...(removed.length > 0 ? [`Removed ${pluralize(removed.length, "file")} that the agent created.`] : []),
    ...(skipped.length > 0 ? [describeLeftFiles(skipped)] : []),
  ]
  return sentences.length === 0 ? "No file was changed." : sentences.join(" ")
}

function describeLeftFiles(left: RestoreReport["skipped"]): string {
  const named = left.slice(0, MAX_NAMED).map(({ name, why }) => `${escapeInvisible(name)} (${why})`)
  const more = left.length - named.length
  const list = [...named, ...(more > 0 ? [`${formatNumber(more)} more`] : [])].join(", ")
  return `Left ${pluralize(left.length, "file")} unchanged: ${list}.`
}
