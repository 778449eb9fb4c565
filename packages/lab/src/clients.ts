/**
 * Tries real clients against the simulator: installs each from the registry into a temporary directory, gives it one small
 * task, and prints a table. A client that cannot be installed is a row that says so.
 *
 *     npm run clients -- [--only NAME]… [--json] [--keep]
 *
 * It needs a registry, about 3 GB on disk and ten minutes. No key is used, and nothing outside the directory is written.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { install } from "./clients/install.ts"
import { CLIENTS } from "./clients/list.ts"
import { clientsTable } from "./clients/table.ts"
import { type Row, tryClient } from "./clients/try-client.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    json: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
  },
})
const wanted = CLIENTS.filter(({ name }) => values.only?.some((only) => sameName(only, name)) ?? true)
if (wanted.length === 0) {
  const names = [...new Set(CLIENTS.map(({ name }) => name))]
  console.error(`No client has this name. The clients are: ${names.join(", ")}.`)
  process.exit(2)
}

const root = mkdtempSync(join(tmpdir(), "strata-clients-"))
const rows: Row[] = []
for (const client of wanted) {
  const { name, packages, task } = client
  console.error(`${name}: installing ${packages.join(" ")}`)
  const newest = await install(root, packages)
  const installed = typeof newest === "string" && client.otherwise ? await install(root, client.otherwise) : newest
  if (typeof installed === "string") {
    rows.push({
      client: name,
      version: /(?<=.)@([^/@]+)$/.exec(packages[0]!)?.[1] ?? "latest",
      task,
      result: installed,
      works: false,
    })
    continue
  }
  const { directory, version } = installed
  console.error(`${name} ${version}: ${task}`)
  rows.push(...(await tryClient({ client, version, installed: directory, root })))
  if (!values.keep) rmSync(directory, { recursive: true, force: true })
}
console.log(values.json ? JSON.stringify(rows, null, 2) : clientsTable(rows))
if (values.keep) console.error(`kept: ${root}`)
else rmSync(root, { recursive: true, force: true })
process.exitCode = rows.every(({ works }) => works) ? 0 : 1

function sameName(only: string, name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, "")
  return plain(only) === plain(name)
}
