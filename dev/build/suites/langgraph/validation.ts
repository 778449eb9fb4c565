/**
 * Runs LangGraph's own validation suite for checkpointers on the saver of `@strata/sessions/langgraph`. All packages are imported by name:
 * the suite tries those that are installed where this folder is.
 *
 *     SUITE_STORE=files     npx vitest run --config dev/build/suites/langgraph/vitest.config.ts
 *     SUITE_STORE=memory    …
 *     SUITE_STORE=postgres  SUITE_POSTGRES=postgres://owner@127.0.0.1:5432/empty …
 *
 * To try packed packages, copy this folder into the directory where they are installed and give the path of the copied configuration. The
 * working directory does not matter. The directory also needs `@langchain/core`, `@langchain/langgraph-checkpoint`,
 * `@langchain/langgraph-checkpoint-validation` and, for PostgreSQL, `pg`. vitest can be anywhere: nothing here imports it.
 *
 * `SUITE_POSTGRES` is the address of a database for a role that may create a schema. The suite migrates the database, and each checkpointer
 * gets a tenant of its own.
 */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type CheckpointSaverTestInitializer,
  deltaChannelHistoryTests,
  validate,
} from "@langchain/langgraph-checkpoint-validation"
import { fileStore, memoryStore, type Store } from "@strata/core"
import { type StrataSaver, strataSaver } from "@strata/sessions/langgraph"

/** A store that no other test uses, with a function that removes it. */
interface TestStore {
  readonly store: Store
  remove(): Promise<void> | void
}

const STORES: Readonly<Record<string, () => TestStore | Promise<TestStore>>> = {
  files: () => {
    const root = mkdtempSync(join(tmpdir(), "strata-validation-"))
    const remove = () => rmSync(root, { recursive: true, force: true })
    return { store: fileStore({ root, flush: "never" }), remove }
  },
  memory: () => ({ store: memoryStore(), remove: () => {} }),
  postgres: async () => {
    const { postgresStore } = await import("@strata/postgres")
    const store = postgresStore({ connectionString: postgresAddress(), tenant: randomUUID() })
    return { store, remove: () => store.close() }
  },
}

function postgresAddress(): string {
  const address = process.env.SUITE_POSTGRES
  if (!address) throw new Error("SUITE_POSTGRES is not set. Give the address of an empty database.")
  return address
}

const name = process.env.SUITE_STORE ?? "files"
const newStore = STORES[name]
if (!newStore) throw new Error(`SUITE_STORE is ${name}. It must be one of ${Object.keys(STORES).join(", ")}.`)

/** The store of each checkpointer in use. */
const stores = new Map<StrataSaver, TestStore>()

const initializer: CheckpointSaverTestInitializer<StrataSaver> = {
  checkpointerName: `strataSaver on ${name}`,
  beforeAllTimeout: 60_000, // in milliseconds
  async beforeAll() {
    if (name !== "postgres") return
    const { migrate } = await import("@strata/postgres")
    await migrate({ connectionString: postgresAddress() })
  },
  async createCheckpointer() {
    const own = await newStore()
    const saver = strataSaver({ store: own.store })
    stores.set(saver, own)
    return saver
  },
  async destroyCheckpointer(saver) {
    await saver.close()
    await stores.get(saver)?.remove()
    stores.delete(saver)
  },
}

validate(initializer)
deltaChannelHistoryTests(initializer) // `validate` does not run these
