import { expect, test } from "vitest"
import { systemClock } from "../base/clock.ts"
import { memoryStore } from "./in-memory/store.ts"
import { registerStore, storeFrom } from "./store-from.ts"

test("BEY-12 a registered scheme opens the store that STRATA_STORE names, once for each address and mode", () => {
  const opened: unknown[] = []
  registerStore("Kept-Far", (address, { flush, clock }) => {
    opened.push([address, flush, clock === systemClock])
    return memoryStore({ clock })
  })
  const named = (address: string) => storeFrom({ env: { STRATA_STORE: address } })
  const first = named("kept-far://me:secret@one")
  expect(named(" KEPT-FAR://me:secret@one ")).not.toBe(first) // addresses are the store's own: their case may count
  expect(named("kept-far://me:secret@one\n")).toBe(first)
  expect(storeFrom({ env: { STRATA_STORE: "kept-far://me:secret@one" }, flush: "always" })).not.toBe(first)
  const flushed = storeFrom({ env: { STRATA_STORE: "kept-far://two" }, flush: "turn" })
  expect(named("kept-far://two")).toBe(flushed)
  expect(opened).toEqual([
    ["kept-far://me:secret@one", undefined, true],
    ["KEPT-FAR://me:secret@one", undefined, true],
    ["kept-far://me:secret@one", "always", true],
    ["kept-far://two", "turn", true],
  ])
})

test.each([
  ["elsewhere://me:secret@db/x", " (elsewhere:)."],
  ["postgress://me:secret@db/x", " (postgress:)."],
  ["/srv/secret", "."],
])("BEY-12 %s is refused, with the addresses that can be opened and without its password", (address, shown) => {
  registerStore("known", () => memoryStore())
  const open = () => storeFrom({ env: { STRATA_STORE: address } })
  expect(open).toThrow(`cannot be opened here${shown}`)
  expect(open).toThrow(/Use postgres:\/\/user@host\/database or memory: or .*known:.*a directory.* set STRATA_HOME/)
  expect(open).not.toThrow(/secret/)
})
