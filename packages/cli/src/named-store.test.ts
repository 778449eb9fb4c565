import { memoryStore } from "@strata/core"
import { expect, test } from "vitest"
import { storeFrom } from "../../core/src/journal/store-from.ts"
import { registerNamedStore } from "./named-store.ts"

test("BEY-12 the package for PostgreSQL loads only when STRATA_STORE names such a store, and opens it by its address", async () => {
  const asked: string[] = []
  const store = memoryStore()
  const load = async () => ({
    namedPostgresStore(address: string) {
      asked.push(address)
      return store
    },
  })
  const unused = () => Promise.reject(new Error("it was loaded"))
  for (const address of [undefined, "", "memory:", "mysql://db/postgres:"])
    await registerNamedStore({ STRATA_STORE: address }, unused)
  for (const address of ["postgres://me@db/x", "PostgreSQL://me@db/x"]) {
    await registerNamedStore({ STRATA_STORE: address }, load)
    expect(storeFrom({ env: { STRATA_STORE: address } })).toBe(store)
  }
  expect(asked).toEqual(["postgres://me@db/x", "PostgreSQL://me@db/x"])
})

test("BEY-12 where the package is missing, a sentence says what to install and shows no password", async () => {
  const missing = () => Promise.reject(Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" }))
  const error = await registerNamedStore({ STRATA_STORE: "postgres://me:secret@db/x" }, missing).catch(String)
  expect(error).toMatch(/could not be loaded \(ERR_MODULE_NOT_FOUND\).*npm install @strata\/postgres pg/)
  expect(error).not.toContain("secret")
})
