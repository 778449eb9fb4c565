/** What opening a conversation had to set aside, as sentences for the person: nothing is mended silently. */
import type { OpeningReport } from "@strata/core"
import { counted, grouped } from "./display/wording.ts"

export function openingProblems({ damagedLines, tornBytes, setAside }: OpeningReport): readonly string[] {
  const where = setAside === undefined ? "" : ` What it held is kept in ${setAside}.`
  const lines = counted(damagedLines.length, "line is", "lines are")
  return [
    ...(damagedLines.length === 0
      ? []
      : [`The journal is damaged: ${lines} not what was written, and skipped. The rest is there.${where}`]),
    ...(tornBytes === 0
      ? []
      : [`The journal's last line was never finished (${grouped(tornBytes)} bytes), and is left out.${where}`]),
  ]
}
