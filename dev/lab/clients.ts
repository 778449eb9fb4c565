/**
 * Tries real clients against the simulator: installs each from the registry into a temporary directory, runs its steps, and prints a table.
 * A client that cannot be installed gets a row with the reason.
 *
 *     npm run clients -- [--only NAME[@VERSION]]… [--json] [--keep] [--in DIRECTORY]
 *     npm run clients -- --proxy [--only NAME[@VERSION]]… [--case TEXT] [--observe] [--keep] [--in DIRECTORY]
 *     npm run clients -- --adapters [--only NAME]… [--case TEXT] [--keep] [--in DIRECTORY]
 *
 * With `--proxy` each client does the same long work directly and through the proxy. `--observe` adds a proxy that only observes. The table
 * compares refusals, answers and cost.
 *
 * With `--adapters` the agents of each framework do the same work without Strata and with it.
 *
 * It needs a registry, about 3 GB on disk and half an hour. No key is used, and nothing outside the directory is written. A directory given
 * with `--in` is preserved, and its packages are reused.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { FRAMEWORKS } from "./clients/adapted/frameworks.ts"
import { tryAdapted } from "./clients/adapted/try-adapted.ts"
import { install } from "./clients/install.ts"
import { CLIENTS } from "./clients/list.ts"
import { CASES } from "./clients/proxied/cases.ts"
import { tryProxied } from "./clients/proxied/try-proxied.ts"
import { clientsTable } from "./clients/table.ts"
import { type BillRow, tryClient } from "./clients/try-client.ts"

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    json: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    in: { type: "string" },
    proxy: { type: "boolean", default: false },
    adapters: { type: "boolean", default: false },
    observe: { type: "boolean", default: false },
    case: { type: "string" },
  },
})
const keeps = values.keep || values.in !== undefined
const chosen = <T extends Named>(all: readonly T[]): readonly T[] => {
  const wanted = all.filter((each) => values.only?.some((only) => isMeant(only, each)) ?? true)
  if (wanted.length > 0) return wanted
  console.error(`No client has this name. The clients are: ${[...new Set(all.map(nameOf))].join(", ")}.`)
  process.exit(2)
}

const root = values.in ?? mkdtempSync(join(tmpdir(), "strata-clients-"))
mkdirSync(root, { recursive: true })
if (values.proxy) {
  const cases = chosen(CASES).filter(({ what }) => values.case === undefined || what === values.case)
  process.exitCode = (await tryProxied({ cases, root, observes: values.observe })) ? 0 : 1
} else if (values.adapters) {
  const frameworks = chosen(FRAMEWORKS)
  process.exitCode = (await tryAdapted({ frameworks, root, only: values.case })) ? 0 : 1
} else await tryAll()
if (keeps) console.error(`preserved: ${root}`)
else rmSync(root, { recursive: true, force: true })

async function tryAll(): Promise<void> {
  const rows: BillRow[] = []
  for (const client of chosen(CLIENTS)) {
    const { name, packages } = client
    console.error(`${name}: installing ${packages.join(" ")}`)
    const newest = await install(root, packages)
    const installed = typeof newest === "string" && client.otherwise ? await install(root, client.otherwise) : newest
    if (typeof installed === "string") {
      rows.push({
        client: name,
        version: /(?<=.)@([^/@]+)$/.exec(packages[0]!)?.[1] ?? "latest",
        task: "its installation",
        result: installed,
        works: false,
      })
      continue
    }
    const { directory, version } = installed
    console.error(`${name} ${version}: ${client.steps.map(({ what }) => what).join(", ")}`)
    rows.push(...(await tryClient({ client, version, installed: directory, root })))
    if (!keeps) rmSync(directory, { recursive: true, force: true })
  }
  console.log(values.json ? JSON.stringify(rows, null, 2) : clientsTable(rows))
  process.exitCode = rows.every(({ works }) => works) ? 0 : 1
}

interface Named {
  readonly name?: string
  readonly client?: string
  readonly packages: readonly string[]
}

/** Whether `--only` names this client: `pi`, or `claude-code@2.1.300` with a version. */
function isMeant(only: string, each: Named): boolean {
  const [wantedName = "", version] = only.split("@")
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, "")
  return (
    plain(wantedName) === plain(nameOf(each)) && (version === undefined || each.packages[0]!.endsWith(`@${version}`))
  )
}

function nameOf({ name, client }: Named): string {
  return name ?? client ?? ""
}
