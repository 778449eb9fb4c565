/**
 * The schema in numbered steps that only go forward. One process at a time runs them, each in one transaction with the row that records it.
 * A schema newer than this version is refused.
 */
import { StrataError } from "@strata/core"
import { escapeToLine, fillPrompt, promptText } from "@strata/core/base"
import pg from "pg"
import { isTransient, reasonOf, StoreUnreachableError, withoutSecrets } from "./errors.ts"
import { checkAddress } from "./pool.ts"
import { REFUSED, schemaProblem } from "./schema-problem.ts"

/** A migration to one version of the schema. */
export interface MigrationStep {
  readonly version: number
  readonly name: string
  readonly sql: readonly string[]
}

export const STEPS: readonly MigrationStep[] = [
  {
    version: 1,
    name: "journals, memories, mailboxes, leases, sums and logs",
    sql: [
      promptText(new URL("./schema/ground.sql", import.meta.url)),
      promptText(new URL("./schema/journals.sql", import.meta.url)),
      promptText(new URL("./schema/memories.sql", import.meta.url)),
      promptText(new URL("./schema/mailboxes.sql", import.meta.url)),
      promptText(new URL("./schema/contents.sql", import.meta.url)),
    ],
  },
  {
    version: 2,
    name: "search",
    sql: [promptText(new URL("./schema/passages.sql", import.meta.url))],
  },
  {
    version: 3,
    name: "permits in the place of leases and seats, and sums as texts",
    sql: [
      promptText(new URL("./schema/permits.sql", import.meta.url)),
      promptText(new URL("./schema/sums.sql", import.meta.url)),
    ],
  },
]

const RIGHTS = promptText(new URL("./schema/rights.sql", import.meta.url))

/** The schema version that this package works with. */
export const SCHEMA_VERSION = STEPS.at(-1)!.version
/** The default role of applications. */
const ROLE = "strata_app"
/** An arbitrary number that nothing else uses: only one migration runs at a time. */
const MIGRATION_LOCK = 7_827_191_482
const CONNECT_MS = 10_000
/** The longest wait for one answer: a step may rewrite a large table. */
const STEP_MS = 60 * 60_000
const STATUS_MS = 10_000
/** The longest wait for another migration, or for a transaction that uses a table. */
const TURN_MS = 60_000

export interface MigrateOptions {
  /**
   * The address for a role that may create a schema, and a role if it does not exist. It owns the tables; applications connect as another
   * role.
   */
  readonly connectionString: string
  /** The role that gets the privileges of an application. Default: `strata_app`, which is created if it does not exist. */
  readonly role?: string
}

/** The result of a migration. */
export interface MigrationReport {
  readonly from: number
  readonly to: number
  readonly role: string
}

/** Migrates the schema to the version of this package. */
export const migrate = (options: MigrateOptions): Promise<MigrationReport> => runMigrations(STEPS, options)

export async function runMigrations(
  steps: readonly MigrationStep[],
  { connectionString, role = ROLE, turnMs = TURN_MS }: MigrateOptions & { readonly turnMs?: number },
): Promise<MigrationReport> {
  const newest = steps.at(-1)!.version
  const migrated = withConnection({ connectionString, timeoutMs: STEP_MS }, async (client) => {
    await refuseEncoding(client)
    await client.query("begin")
    await client.query(`set local lock_timeout = ${turnMs}`)
    // held until the transaction ends, even if this process is killed
    await client.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK])
    const from = await versionIn(client)
    refuseNewer(from, newest)
    for (const { version, name, sql } of steps.filter((step) => step.version > from)) {
      for (const text of sql) await client.query(text)
      await client.query("insert into strata.schema_version (version, name) values ($1, $2)", [version, name])
    }
    await makeRole(client, role)
    await client.query(fillPrompt(RIGHTS, { role: pg.escapeIdentifier(role) }))
    await client.query("commit")
    return { from, to: newest, role }
  })
  return migrated.catch((error: unknown) => Promise.reject(refusedMigration(error)))
}

/** The state of a database, for display. */
export interface SchemaStatus {
  /** 0 if there is no schema. */
  readonly version: number
  readonly newest: number
  readonly server: string
  /** The role of the connection. */
  readonly role: string
  /** Whether the role bypasses the policies that separate tenants, as superusers do. */
  readonly passesPolicies: boolean
  /** Whether the role owns the tables, so that it can change them and their policies. */
  readonly ownsTables: boolean
}

export async function schemaStatus(connectionString: string): Promise<SchemaStatus> {
  const status = withConnection({ connectionString, timeoutMs: STATUS_MS }, async (client) => {
    const { rows } = await client.query<{ server: string; role: string; passes: boolean; owns: boolean }>(
      `select current_setting('server_version') as server, current_user::text as role,
        coalesce((select r.rolsuper or r.rolbypassrls from pg_roles r where r.rolname = current_user), false) as passes,
        exists (select from pg_tables t where t.schemaname = 'strata' and t.tableowner = current_user) as owns`,
    )
    const { server, role, passes, owns } = rows[0]!
    const version = await versionIn(client)
    return { version, newest: SCHEMA_VERSION, server, role, passesPolicies: passes, ownsTables: owns }
  })
  return status.catch((error: unknown) => {
    if (isTransient(error)) throw new StoreUnreachableError(error, { isFirst: true })
    throw schemaProblem(error) ?? error
  })
}

/** Throws if the schema is newer than this package. */
export function refuseNewer(version: number, known = SCHEMA_VERSION): void {
  if (version <= known) return
  throw new StrataError(
    `The tables of Strata in this database have version ${version}, but this program supports only versions up to ${known}. Nothing was changed. Update Strata here, then try again.`,
    { code: "newer-schema" },
  )
}

/** Names and titles are texts of the server. In another encoding some could not be written, in the middle of a conversation. */
async function refuseEncoding(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>("select current_setting('server_encoding') as encoding")
  const { encoding } = rows[0]!
  if (encoding === "UTF8") return
  throw new StrataError(
    `This database has the encoding ${encoding}, but Strata requires UTF8. Nothing was changed. Create another one: CREATE DATABASE strata TEMPLATE template0 ENCODING 'UTF8'.`,
    { code: "database-encoding" },
  )
}

async function versionIn(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ is_there: boolean }>(
    "select to_regclass('strata.schema_version') is not null as is_there",
  )
  if (!rows[0]!.is_there) return 0
  const found = await client.query<{ version: number | null }>(
    "select max(version) as version from strata.schema_version",
  )
  return found.rows[0]?.version ?? 0
}

async function makeRole(client: pg.Client, role: string): Promise<void> {
  const { rowCount } = await client.query("select from pg_roles where rolname = $1", [role])
  if (rowCount !== 0) return
  await client.query(`create role ${pg.escapeIdentifier(role)} nologin`).catch((error: unknown) => {
    throw isRefused(error) ? noRoleError(role) : error
  })
}

const isRefused = (error: unknown): error is Error => (error as { readonly code?: unknown }).code === REFUSED

/** A lock was not free in time. */
const NOT_FREE = "55P03"

function refusedMigration(error: unknown): unknown {
  if ((error as { readonly code?: unknown }).code === NOT_FREE)
    return new StrataError(
      "Another migration, or a transaction that uses the tables, did not finish in time. Nothing was changed. Try again later.",
      { code: "migration-busy" },
    )
  if (isTransient(error)) return brokenOffError(error)
  if (!isRefused(error)) return error
  return new StrataError(
    `The role of this connection may not create or change the tables (${error.message}). Nothing was changed. Migrate with the role that owns the database or its tables, or with one that was granted CREATE on the database.`,
    { code: "permission-denied" },
  )
}

/** The connection was lost, maybe while the server committed. */
const brokenOffError = (error: unknown) =>
  new StrataError(
    `The database stopped answering during the migration (${reasonOf(error)}). It was applied completely or not at all: "strata store status" shows which. Run it again if it was not.`,
    { code: "store-unreachable" },
  )

const noRoleError = (role: string) =>
  new StrataError(
    `There is no role ${escapeToLine(role)} for applications, and this connection may not create one. Nothing was changed. Let an administrator run CREATE ROLE ${escapeToLine(pg.escapeIdentifier(role))} NOLOGIN, or name a role that exists: "strata store migrate --role NAME", in code the option "role".`,
    { code: "permission-denied" },
  )

interface ConnectionOptions {
  readonly connectionString: string
  /** The longest wait for one answer. */
  readonly timeoutMs: number
}

async function withConnection<T>(
  { connectionString, timeoutMs }: ConnectionOptions,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  checkAddress(connectionString)
  const client = new pg.Client({
    ...{ connectionString, connectionTimeoutMillis: CONNECT_MS, query_timeout: timeoutMs },
    keepAlive: true, // so that a wait ends if the server disappears
  })
  client.on("error", () => undefined)
  try {
    await client.connect().catch((error: unknown) => {
      throw isTransient(error) ? new StoreUnreachableError(error, { isFirst: true }) : withoutSecrets(error)
    })
    return await work(client)
  } finally {
    await client.end()
  }
}
