import { expect, test } from "vitest"
import { indexPath } from "./usage-index.ts"

test("BEY-12 each store and each tenant has an index of its own on this machine, and its name does not depend on a password", () => {
  const of = (store?: string) => indexPath("/root", store)
  expect(of()).toBe("/root/look/index.sqlite")
  expect(of("")).toBe(of())
  const stores = [
    "postgres://app:one@db/x?tenant=acme",
    "postgres://app:one@db/x?tenant=globex",
    "postgres://app:one@other/x",
  ]
  expect(new Set([of(), ...stores.map(of)]).size).toBe(4)
  expect(of("postgres://app:two@db/x?tenant=acme")).toBe(of(stores[0]))
})
