/** `@strata/postgres`: conversations, memories and teams on PostgreSQL. */
export { type EraseTenantOptions, eraseTenant, type TenantRows } from "./erase-tenant.ts"
export { StoreUnreachableError } from "./errors.ts"
export {
  type MigrateOptions,
  type MigrationReport,
  migrate,
  SCHEMA_VERSION,
  type SchemaStatus,
  schemaStatus,
} from "./migrate.ts"
export { type NamedStoreOptions, namedPostgresStore } from "./named-store.ts"
export { type PostgresStore, type PostgresStoreOptions, postgresStore } from "./postgres-store.ts"
