import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../test/journal-files.ts"
import type { Owner } from "../base/owner.ts"
import { fileStore } from "../journal/file/file-store.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"
import { keepPauses, PAUSES, pausesIn } from "./kept-pauses.ts"

const readPauses = async (files: MemoryFiles, owner: Owner) => pausesIn(await files.read(PAUSES), owner)

const counted = (sums: object | undefined) => ({ count: ((sums as { count?: number } | undefined)?.count ?? 0) + 1 })

test("BEY-4 the pauses of a hundred conversations that close at once all count, for each owner", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const files = fileStore({ root }).memories({ shared: true })
  const owners = Array.from({ length: 100 }, (_, nth) => (nth % 4 === 0 ? "bert" : "anna"))
  await keepPauses(files, "anna", counted)
  await Promise.all(owners.map((owner) => keepPauses(files, owner, counted)))
  expect(await readPauses(files, "anna")).toEqual({ count: 76 })
  expect(await readPauses(files, "bert")).toEqual({ count: 25 })
})

test("BEY-4 those who wait for a write that fails get the error, and the next one succeeds", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const files = fileStore({ root }).memories({ shared: true })
  const failing = () => {
    throw new Error("no sum")
  }
  const [first, second] = await Promise.allSettled([
    keepPauses(files, "anna", failing),
    keepPauses(files, "anna", counted).then(() => keepPauses(files, "anna", counted)),
  ])
  expect([first.status, second.status]).toEqual(["rejected", "rejected"])
  await keepPauses(files, "anna", counted)
  expect(await readPauses(files, "anna")).toEqual({ count: 1 })
})
