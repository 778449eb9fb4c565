/** The table of the command `clients`. */
import type { Row } from "./try-client.ts"

const HEADINGS = ["client", "version", "what was run", "requests", "refused", "result"]

export function clientsTable(rows: readonly Row[]): string {
  const cells = rows.map(({ client, version, task, requests, refused, result }) => [
    ...[client, version, task, `${requests ?? ""}`, `${refused ?? ""}`, result],
  ])
  const widths = HEADINGS.map((heading, column) => Math.max(heading.length, ...cells.map((row) => row[column]!.length)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd()
  const works = rows.filter((row) => row.works).length
  return [
    line(HEADINGS),
    line(widths.map((width) => "-".repeat(width))),
    ...cells.map(line),
    "",
    `${works} of ${rows.length} rows work.`,
  ].join("\n")
}
