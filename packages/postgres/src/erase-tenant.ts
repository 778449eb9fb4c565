/** Erases everything of a tenant: its rows in every table that has tenants. */
import { Database } from "./database.ts"
import { sharedPool } from "./pool.ts"

/** The longest wait for the server: a large tenant has many rows, and all of them go in one transaction. */
const TIMEOUT_MS = 60 * 60_000

export interface EraseTenantOptions {
  readonly connectionString: string
  readonly tenant: string
  /** Only how much there is. */
  readonly countsOnly?: boolean
}

/** How many rows of a table were, or are, a tenant's. */
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
