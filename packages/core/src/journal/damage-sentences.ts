/** Sentences about damage found when a conversation was opened. Strata never repairs a journal silently. */
import { counted, grouped } from "../base/text.ts"
import type { DamagedLine } from "./line.ts"
import type { OpeningReport } from "./store.ts"

const MAX_PLACES = 3 // named in a sentence; the report has more

/** What opening a conversation found, as sentences for a person. Empty where nothing is wrong. */
export function describeOpeningReport(report: OpeningReport): readonly string[] {
  const { tornBytes, checkpoint, setAside } = report
  const copy = setAside === undefined ? "" : ` A copy is in ${setAside}.`
  return [
    ...damageSentences({ ...report, repeated: report.repeatedLines }).map((sentence, at) =>
      at === 0 ? `${sentence}${report.damagedCount > 0 ? copy : ""}` : sentence,
    ),
    ...(checkpoint === "damaged"
      ? ["The checkpoint was damaged. It was rebuilt from the journal, and nothing is missing."]
      : []),
    ...(tornBytes === 0
      ? []
      : [`The journal's last line is incomplete (${grouped(tornBytes)} bytes) and was left out.${copy}`]),
  ]
}

export interface Damage extends Pick<OpeningReport, "damagedLines" | "damagedCount" | "bridged" | "restored"> {
  readonly repeated: number
}

export function damageSentences({
  damagedLines,
  damagedCount,
  bridged,
  restored,
  repeated,
}: Damage): readonly string[] {
  const whole = damagedLines.filter(({ isLost }) => !isLost)
  const lost = damagedCount - whole.length
  const joined = bridged > 0 ? " What comes after it was joined to what comes before it." : ""
  return [
    ...(lost === 0
      ? []
      : [
          `The journal is damaged: ${counted(lost, "line does", "lines do")} not match the checksum and will be skipped. Everything else was read.${joined} ${places(damagedLines, lost)}`,
        ]),
    ...(whole.length === 0
      ? []
      : [`${counted(whole.length, "line end", "line ends")} in the journal changed. Every line was read.`]),
    ...(restored === 0
      ? []
      : [
          "The record of a compaction was damaged. It was rebuilt from the lines around it, so the summary still counts.",
        ]),
    ...(repeated === 0
      ? []
      : [`${counted(repeated, "line is", "lines are")} in the journal twice. Each was read once.`]),
  ]
}

function places(damaged: readonly DamagedLine[], lost: number): string {
  const named = damaged.filter(({ isLost }) => isLost).slice(0, MAX_PLACES)
  const list = named.map(
    ({ line, offset, bytes }) => `line ${line} (${grouped(bytes)} bytes at offset ${grouped(offset)})`,
  )
  const more = lost - named.length
  return `Damaged: ${[...list, ...(more > 0 ? [`${grouped(more)} more`] : [])].join(", ")}.`
}
