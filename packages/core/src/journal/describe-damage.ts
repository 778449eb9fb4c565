/** Sentences about damage found when a conversation was opened. Strata never repairs a journal silently. */
import { formatNumber, pluralize } from "../base/text.ts"
import type { DamagedLine } from "./line.ts"
import type { OpeningReport } from "./store.ts"

const MAX_PLACES = 3 // listed in a sentence; the report has more

/** Describes for the user what opening a conversation found. Empty if nothing is wrong. */
export function describeOpeningReport(report: OpeningReport): readonly string[] {
  const { tornBytes, checkpoint, quarantineFile } = report
  const copy = quarantineFile === undefined ? "" : ` A copy is in ${quarantineFile}.`
  return [
    ...describeJournalDamage(report).map((sentence, at) =>
      at === 0 ? `${sentence}${report.damagedCount > 0 ? copy : ""}` : sentence,
    ),
    ...(checkpoint === "damaged"
      ? ["The checkpoint was damaged. It was rebuilt from the journal, and nothing is missing."]
      : []),
    ...(tornBytes === 0
      ? []
      : [`The journal's last line is incomplete (${formatNumber(tornBytes)} bytes) and was left out.${copy}`]),
  ]
}

export interface JournalDamage extends Pick<OpeningReport, "damagedLines" | "damagedCount" | "bridged" | "restored"> {
  readonly repeatedLines: number
}

export function describeJournalDamage({
  damagedLines,
  damagedCount,
  bridged,
  restored,
  repeatedLines,
}: JournalDamage): readonly string[] {
  const whole = damagedLines.filter(({ isLost }) => !isLost)
  const lost = damagedCount - whole.length
  const joined = bridged > 0 ? " What comes after it was joined to what comes before it." : ""
  return [
    ...(lost === 0
      ? []
      : [
          `The journal is damaged: ${pluralize(lost, "line does", "lines do")} not match the checksum and will be skipped. Everything else was read.${joined} ${describeLines(damagedLines, lost)}`,
        ]),
    ...(whole.length === 0
      ? []
      : [`${pluralize(whole.length, "line end", "line ends")} in the journal changed. Every line was read.`]),
    ...(restored === 0
      ? []
      : [
          "The record of a compaction was damaged. It was rebuilt from the lines around it, so the summary still counts.",
        ]),
    ...(repeatedLines === 0
      ? []
      : [`${pluralize(repeatedLines, "line is", "lines are")} in the journal twice. Each was read once.`]),
  ]
}

function describeLines(damaged: readonly DamagedLine[], lost: number): string {
  const named = damaged.filter(({ isLost }) => isLost).slice(0, MAX_PLACES)
  const list = named.map(
    ({ line, offset, bytes }) => `line ${line} (${formatNumber(bytes)} bytes at offset ${formatNumber(offset)})`,
  )
  const more = lost - named.length
  return `Damaged: ${[...list, ...(more > 0 ? [`${formatNumber(more)} more`] : [])].join(", ")}.`
}
