/** Erases everything of a tenant: its rows in all tables that have a tenant column. */
import { Database } from "./database.ts"
import { sharedPool } from "./pool.ts"

/** The longest wait for the server: a large tenant has many rows, and all are deleted in one transaction. */
const TIMEOUT_MS = 60 * 60_000

export interface EraseTenantOptions {
  readonly connectionString: string
  readonly tenant: string
  /** Only counts the rows, without erasing them. */
  readonly countsOnly?: boolean
}

/** The number of a tenant's rows in one table. */
export interface TenantRows {
  readonly table: string
  readonly rows: number
}

export async function eraseTenant({
  connectionString,
  tenant,
  countsOnly = false,
}: EraseTenantOptions): Promise<readonly TenantRows[]> {
  const use = sharedPool(connectionString)
  try {
    const database = new Database({ pool: use.pool, timeoutMs: TIMEOUT_MS })
    const rows = await database.rows<{ name: string; count: number }>("erase_tenant", tenant, countsOnly)
    return rows.map(({ name, count }) => ({ table: name, rows: count }))
  } finally {
    await use.end()
  }
}
