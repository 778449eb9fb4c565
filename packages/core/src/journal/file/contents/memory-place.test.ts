/** Memories that a killed process left half changed: moving and erasing see them as every reader does. */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../../../test/journal-files.ts"
import { systemClock } from "../../../base/clock.ts"
import { eraseFrom } from "../../../memory/erase-from.ts"
import { memoryStore } from "../../in-memory/store.ts"
import { moveContents } from "../../move-contents.ts"
import { fileStore } from "../file-store.ts"
import { memoryDirectory } from "../memory-directory.ts"

/** Memory files with a complete intent, killed at this step. */
async function halfChanged(end: "intended" | "moved") {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const store = fileStore({ root })
  const { directory } = store.memories({ project: "p" })
  await store.memories({ project: "p" }).install([{ path: "a.md", text: "old" }])
  const killed = memoryDirectory({
    ...{ directory: directory!, clock: systemClock },
    atStep(step) {
      if (step === end) throw new Error("killed")
    },
  })
  const changes = [
    { path: "a.md", text: "new" },
    { path: "b.md", text: "about zanzibar" },
  ]
  await expect(killed.install(changes)).rejects.toThrow()
  return { store, directory: directory! }
}

test("BEY-12 a change that a killed process began is moved as a whole", async () => {
  const { store } = await halfChanged("moved")
  const to = memoryStore()
  await moveContents({ from: store, to })
  expect(await to.memories({ project: "p" }).read("a.md")).toBe("new")
  expect(await to.memories({ project: "p" }).read("b.md")).toBe("about zanzibar")
})

test("BEY-12 what a killed process was about to remember is erased, and does not come back", async () => {
  const { store, directory } = await halfChanged("intended")
  const { after } = await eraseFrom(store, { subject: "Zanzibar" })
  expect(after.memoryFiles).toBe(0)
  expect(await store.memories({ project: "p" }).read("b.md")).toBeUndefined()
  expect(await store.memories({ project: "p" }).read("a.md")).toBe("new")
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((one) => one.isFile()))
    expect(await readFile(join(entry.parentPath, entry.name), "utf8"), entry.name).not.toContain("zanzibar")
})
