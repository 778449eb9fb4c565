/** Erases everything of a tenant: its rows in every table that has tenants. */
import { Database } from "./database.ts"
import { sharedPool } from "./pool.ts"

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
    const database = new Database({ pool: use.pool })
    const rows = await database.rows<{ name: string; count: number }>("erase_tenant", tenant, countsOnly)
    return rows.map(({ name, count }) => ({ table: name, rows: count }))
  } finally {
    await use.end()
  }
}
