/** `strata store migrate` and `status`: the tables on PostgreSQL. */

import type { SchemaStatus } from "@strata/postgres"
import { type CommandCall, UsageError } from "../command.ts"
import { escapeForTerminal, jsonForTerminal } from "../display/visible.ts"
import { isPostgres, loadPostgres } from "../named-store.ts"

const DONE = 0
const NOT_DONE = 1

function addressIn({ STRATA_STORE: address = "" }: CommandCall["env"]): string {
  if (isPostgres(address)) return address.trim()
  throw new UsageError(
    "Only PostgreSQL has tables. Set STRATA_STORE to its address, such as postgres://user@host/database. Files need no preparation.",
  )
}

export async function migrateTables(
  { env, terminal }: CommandCall,
  { role, json }: { readonly role: string | undefined; readonly json: boolean },
): Promise<number> {
  const connectionString = addressIn(env)
  const { migrate } = await loadPostgres()
  const report = await migrate({ connectionString, ...(role === undefined ? {} : { role }) })
  const { from, to } = report
  const did = from === to ? `The tables have version ${to} already.` : `The tables went from version ${from} to ${to}.`
  const rights = `The role ${escapeForTerminal(report.role)} may use them. Grant it to the role that your agents connect with: GRANT ${escapeForTerminal(report.role)} TO that_role`
  terminal.print(json ? `${jsonForTerminal(report, 2)}\n` : `${did}\n${rights}\n`)
  return DONE
}

export async function tablesStatus(
  { env, terminal }: CommandCall,
  { json }: { readonly json: boolean },
): Promise<number> {
  const connectionString = addressIn(env)
  const { schemaStatus } = await loadPostgres()
  const status = await schemaStatus(connectionString)
  terminal.print(json ? `${jsonForTerminal(status, 2)}\n` : `${statusPage(status).map(escapeForTerminal).join("\n")}\n`)
  return status.version === status.newest ? DONE : NOT_DONE
}

function statusPage({ version, newest, server, role, passesPolicies, ownsTables }: SchemaStatus): readonly string[] {
  return [
    `PostgreSQL ${server}, connected as ${role}.`,
    versionSentence(version, newest),
    passesPolicies
      ? "This role passes the policies that keep tenants apart. Let your agents connect with another one."
      : "This role sees only the tenant that each call names.",
    ...(ownsTables ? ["This role owns the tables. Let your agents connect with one that owns nothing."] : []),
  ]
}

function versionSentence(version: number, newest: number): string {
  if (version === 0) return "There are no tables of Strata yet. Run strata store migrate."
  if (version === newest) return `The tables have version ${version}, the newest that this program knows.`
  return version < newest
    ? `The tables have version ${version}; this program needs ${newest}. Run strata store migrate.`
    : `The tables have version ${version}, and this program knows ${newest}. Update Strata here.`
}
