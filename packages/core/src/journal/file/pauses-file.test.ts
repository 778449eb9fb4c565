import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../../test/journal-files.ts"
import { keepPauses, readPauses } from "./pauses-file.ts"

const counted = (sums: object | undefined) => ({ count: ((sums as { count?: number } | undefined)?.count ?? 0) + 1 })

test("BEY-4 the pauses of a hundred conversations that close at once all count, for each owner", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const owners = Array.from({ length: 100 }, (_, nth) => (nth % 4 === 0 ? "bert" : "anna"))
  await keepPauses(root, "anna", counted)
  await Promise.all(owners.map((owner) => keepPauses(root, owner, counted)))
  expect(await readPauses(root, "anna")).toEqual({ count: 76 })
  expect(await readPauses(root, "bert")).toEqual({ count: 25 })
})

test("BEY-4 those who wait for a write that fails get the error, and the next one succeeds", async () => {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const failing = () => {
    throw new Error("no sum")
  }
  const [first, second] = await Promise.allSettled([
    keepPauses(root, "anna", failing),
    keepPauses(root, "anna", counted).then(() => keepPauses(root, "anna", counted)),
  ])
  expect([first.status, second.status]).toEqual(["rejected", "rejected"])
  await keepPauses(root, "anna", counted)
  expect(await readPauses(root, "anna")).toEqual({ count: 1 })
})
