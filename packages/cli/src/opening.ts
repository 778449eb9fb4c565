/** Sentences about damage found when a conversation was opened. Strata never repairs a journal silently. */
import type { OpeningReport } from "@strata/core/internal"
import { counted, grouped } from "./display/numbers.ts"

export function openingProblems({ damagedLines, tornBytes, setAside }: OpeningReport): readonly string[] {
  const where = setAside === undefined ? "" : ` A copy is in ${setAside}.`
  const lines = counted(damagedLines.length, "line does", "lines do")
  return [
    ...(damagedLines.length === 0
      ? []
      : [
          `The journal is damaged: ${lines} not match the checksum and will be skipped. Everything else was read.${where}`,
        ]),
    ...(tornBytes === 0
      ? []
      : [`The journal's last line is incomplete (${grouped(tornBytes)} bytes) and was left out.${where}`]),
  ]
}
