/** Stores across a network that `STRATA_STORE` can name. The package of one loads only when its scheme is named. */
import type { OpenStore } from "@strata/core"
import type { Call } from "./command.ts"

const POSTGRES = /^\s*(postgres(?:ql)?):/i
const PACKAGE = "@strata/postgres"

export interface PostgresPackage {
  readonly postgresStore: (
    options: { readonly connectionString: string; readonly tenant?: string } & Parameters<OpenStore>[1],
  ) => ReturnType<OpenStore>
}

/** To be called before a command asks for its store. */
export async function registerNamedStore(
  { STRATA_STORE: address = "", STRATA_TENANT: tenant = "" }: Call["env"],
  load: () => Promise<PostgresPackage> = () => import(PACKAGE),
): Promise<void> {
  if (!POSTGRES.test(address)) return
  const { postgresStore } = await load().catch(refuse)
  const { registerStore } = await import("@strata/core")
  for (const scheme of ["postgres", "postgresql"])
    registerStore(scheme, (connectionString, options) => postgresStore({ connectionString, tenant, ...options }))
}

function refuse(error: unknown): never {
  const why = error instanceof Error ? ` (${(error as NodeJS.ErrnoException).code ?? error.name})` : ""
  throw new Error(
    `STRATA_STORE names a PostgreSQL store, and what opens it could not be loaded${why}. Nothing was opened. Install it beside strata: npm install ${PACKAGE} pg`,
  )
}
