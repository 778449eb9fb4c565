import { describe, test } from "vitest"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import { memoryStore } from "../../core/src/journal/in-memory/store.ts"
import { temporaryRoot } from "../../core/test/journal-files.ts"
import { size } from "../../core/test/size.ts"
import type { TestStoreLocation } from "./contract-options.ts"
import { storeContract } from "./store-contract.ts"

const given = { runs: size(1, 10), writers: size(4, 16), seed: Number(process.env.FUZZ_SEED ?? 1) }

const onFiles = (flush: "always" | "turn" | "never") => async (): Promise<TestStoreLocation> => {
  const { root, remove } = await temporaryRoot()
  return { store: () => fileStore({ root, flush }), close: remove }
}

const inMemory = (): TestStoreLocation => {
  const store = memoryStore()
  return { store: () => store, close() {} }
}

const usual: Readonly<Record<string, () => TestStoreLocation | Promise<TestStoreLocation>>> = {
  "files, flushed with every entry": onFiles("always"),
  memory: inMemory,
}
const places = size(usual, {
  ...usual,
  "files, flushed with every turn": onFiles("turn"),
  "files, not flushed": onFiles("never"),
})

for (const [where, open] of Object.entries(places))
  describe(where, () => {
    for (const { name, run } of storeContract({ ...given, open })) test(name, run)
  })
