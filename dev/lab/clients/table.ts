/** The table of the command `clients`. */
import { inColumns } from "./columns.ts"
import type { BillRow } from "./try-client.ts"

const HEADINGS = ["client", "version", "what was run", "requests", "refused", "result"]

export function clientsTable(rows: readonly BillRow[]): string {
  const cells = rows.map(({ client, version, task, requests, refused, result }) => [
    ...[client, version, task, `${requests ?? ""}`, `${refused ?? ""}`, result],
  ])
  const works = rows.filter((row) => row.works).length
  return [...inColumns(HEADINGS, cells), "", `${works} of ${rows.length} rows work.`].join("\n")
}
