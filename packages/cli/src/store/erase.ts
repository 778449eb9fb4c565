/** `strata store erase`: shows what would be erased, asks, erases it for good, and reports the counts before and after. */
import { type EraseCounts, type EraseRequest, eraseFrom } from "@strata/core/memory"
import { storeFrom } from "@strata/core/store"
import type { TenantRows } from "@strata/postgres"
import { type CommandCall, UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import { formatNumber } from "../display/numbers.ts"
import { withProgress } from "../display/progress.ts"
import type { Terminal } from "../display/terminal.ts"
import { escapeForTerminal, jsonForTerminal } from "../display/visible.ts"
import { isPostgres, loadPostgres } from "../named-store.ts"

const DONE = 0
const NOT_DONE = 1

export interface EraseValues {
  readonly owner: string | undefined
  readonly subject: string | undefined
  readonly tenant: string | undefined
  readonly project: string | undefined
  readonly yes: boolean
  readonly json: boolean
}

const KINDS: Readonly<Record<keyof EraseCounts, string>> = {
  conversations: "conversations",
  subAgents: "sub-agents",
  memoryFiles: "memory files, with history",
  messages: "messages",
  logs: "logs",
  sums: "projects with sums",
}

export async function erase(call: CommandCall, values: EraseValues): Promise<number> {
  const { owner, subject, tenant, project } = values
  const given = [owner, subject, tenant].filter((one) => one !== undefined)
  if (given.length !== 1 || given[0]!.trim() === "")
    throw new UsageError("Say what to erase: --owner NAME, --subject TEXT or --tenant NAME, one of them.")
  if (tenant !== undefined) {
    if (project !== undefined)
      throw new UsageError("--tenant erases everything of a tenant. --project does not go with it.")
    return eraseTenant(call, { ...values, tenant })
  }
  const request: EraseRequest = {
    ...(owner === undefined ? {} : { owner }),
    ...(subject === undefined ? {} : { subject }),
    ...(project === undefined ? {} : { project }),
  }
  const { env, terminal } = call
  const store = storeFrom({ env })
  const wanted = await withProgress(terminal, "Looking for it", () => eraseFrom(store, { ...request, dryRun: true }))
  const total = Object.values(wanted.before).reduce((sum, count) => sum + count, 0)
  if (total === 0) {
    terminal.print(values.json ? `${jsonForTerminal(wanted, 2)}\n` : "Nothing of it is kept. Nothing was erased.\n")
    return DONE
  }
  if (!values.json)
    terminal.print(
      `In ${escapeForTerminal(store.description)} this would go:\n${countLines(wanted.before).join("\n")}\n`,
    )
  if (!values.yes && !(await confirmErasure(terminal))) return NOT_DONE
  const report = await withProgress(terminal, "Erasing", () => eraseFrom(store, request))
  const { before, after, erased, left } = report
  const lines = [
    "Erased. Before and after:",
    ...countLines(before, after),
    ...erased.map((name) => `  gone: ${name}`),
    ...(left.length === 0 ? [] : ["Left, because someone has it open:", ...left.map((why) => `  ${why}`)]),
    ...(left.length === 0 ? [] : ["Close it and erase again."]),
    "Backups of yours, and what other programs copied, are not touched.",
  ]
  terminal.print(values.json ? `${jsonForTerminal(report, 2)}\n` : `${lines.map(escapeForTerminal).join("\n")}\n`)
  return left.length === 0 ? DONE : NOT_DONE
}

function countLines(before: EraseCounts, after?: EraseCounts): readonly string[] {
  const kinds = Object.keys(KINDS) as (keyof EraseCounts)[]
  return kinds
    .filter((kind) => before[kind] > 0)
    .map(
      (kind) => `  ${KINDS[kind]}: ${formatNumber(before[kind])}${after ? `, now ${formatNumber(after[kind])}` : ""}`,
    )
}

async function confirmErasure(terminal: Terminal): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new UsageError("strata store erase asks at a terminal. In scripts, use --yes. Nothing was erased.")
  if ((await promptForChoice("Erase it for good? yes or no: ", ["yes", "no"])) === "yes") return true
  terminal.print("Nothing was erased.\n")
  return false
}

async function eraseTenant(
  { env, terminal }: CommandCall,
  values: EraseValues & { readonly tenant: string },
): Promise<number> {
  const { STRATA_STORE: address = "" } = env
  if (!isPostgres(address)) throw new UsageError("Only PostgreSQL has tenants. Set STRATA_STORE to its address.")
  const { eraseTenant: eraseRows } = await loadPostgres()
  const target = { connectionString: address.trim(), tenant: values.tenant }
  const before = await eraseRows({ ...target, countsOnly: true })
  const isThere = before.some(({ rows }) => rows > 0)
  if (!values.json)
    terminal.print(`Rows of tenant ${escapeForTerminal(values.tenant)}:\n${rowLines(before).join("\n")}\n`)
  if (isThere && !values.yes && !(await confirmErasure(terminal))) return NOT_DONE
  const erased = isThere ? await eraseRows(target) : []
  const after = await eraseRows({ ...target, countsOnly: true })
  const sum = (rows: readonly TenantRows[]) => rows.reduce((total, one) => total + one.rows, 0)
  const sentence = `${formatNumber(sum(erased))} rows erased, ${formatNumber(sum(after))} left.`
  terminal.print(values.json ? `${jsonForTerminal({ before, erased, after }, 2)}\n` : `${sentence}\n`)
  return sum(after) === 0 ? DONE : NOT_DONE
}

const rowLines = (rows: readonly TenantRows[]): readonly string[] => {
  const kept = rows.filter((one) => one.rows > 0).map(({ table, rows: count }) => `  ${table}: ${formatNumber(count)}`)
  return kept.length === 0 ? ["  nothing"] : kept
}
