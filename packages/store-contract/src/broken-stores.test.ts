import { expect, test } from "vitest"
import { BROKEN_STORES } from "../../core/test/broken-stores.ts"
import { storeContract } from "./store-contract.ts"

test.each(BROKEN_STORES)("BEY-12 the contract finds a store that $fault", async ({ foundBy, store: made }) => {
  const open = () => {
    const store = made()
    return { store: () => store, close() {} }
  }
  const found = storeContract({ open, seed: 7 }).filter(({ name }) => name.startsWith(foundBy))
  expect(found).toHaveLength(1)
  await expect(found[0]!.run()).rejects.toThrow("storeContract({ seed: 7 }) repeats it")
})
