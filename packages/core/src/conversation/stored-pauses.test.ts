import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../test/journal-files.ts"
import type { Owner } from "../base/owner.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"
import { PAUSES, pausesIn, storePauses } from "./pauses.ts"

const readPauses = async (files: MemoryFiles, owner: Owner) => pausesIn(await files.read(PAUSES), owner)

const counted = (sums: object | undefined) => ({ count: ((sums as { count?: number } | undefined)?.count ?? 0) + 1 })

test("BEY-4 the pauses of a hundred conversations that close at once all count, for each owner", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const store = fileStore({ root })
  const files = store.memories({ shared: true })
  const owners = Array.from({ length: 100 }, (_, nth) => (nth % 4 === 0 ? "bert" : "anna"))
  await storePauses({ files, store }, "anna", counted)
  await Promise.all(owners.map((owner) => storePauses({ files, store }, owner, counted)))
  expect(await readPauses(files, "anna")).toEqual({ count: 76 })
  expect(await readPauses(files, "bert")).toEqual({ count: 25 })
})

test("BEY-4 those who wait for a write that fails get the error, and the next one succeeds", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const store = fileStore({ root })
  const files = store.memories({ shared: true })
  const failing = () => {
    throw new Error("no sum")
  }
  const [first, second] = await Promise.allSettled([
    storePauses({ files, store }, "anna", failing),
    storePauses({ files, store }, "anna", counted).then(() => storePauses({ files, store }, "anna", counted)),
  ])
  expect([first.status, second.status]).toEqual(["rejected", "rejected"])
  await storePauses({ files, store }, "anna", counted)
  expect(await readPauses(files, "anna")).toEqual({ count: 1 })
})

test("BEY-4 two stores that name their places alike keep pauses apart", async () => {
  const stores = [memoryStore(), memoryStore()]
  const kept = stores.map((store) => ({ store, files: store.memories({ shared: true }) }))
  await Promise.all(kept.map((one, at) => storePauses(one, at === 0 ? "anna" : "bert", counted)))
  for (const [at, { files }] of kept.entries()) {
    expect(await readPauses(files, "anna")).toEqual(at === 0 ? { count: 1 } : undefined)
    expect(await readPauses(files, "bert")).toEqual(at === 0 ? undefined : { count: 1 })
  }
})
