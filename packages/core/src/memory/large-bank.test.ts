/** Large and damaged banks: the memory opens, and undamaged parts still work. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { memoryText } from "../../test/dreams.ts"
import { scratchDirectory } from "../../test/tool-context.ts"
import { systemClock } from "../base/clock.ts"
import { memoryDirectory } from "../journal/file/memory-directory.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { openBank } from "./bank.ts"
import { INDEX_FILE } from "./file-names.ts"

function memories() {
  const directory = join(scratchDirectory(), "memory")
  mkdirSync(directory)
  const files = memoryDirectory({ directory, clock: systemClock })
  return { directory, files, open: () => openBank({ files }) }
}

test("L5-5 an index that is larger than a memory may be is still read, and follows the memories", async () => {
  const { directory, open } = memories()
  writeFileSync(join(directory, "a.md"), memoryText("a", "The heron stands in the pond."))
  await open().all()
  appendFileSync(join(directory, INDEX_FILE), `${"- a line of the user's about the pond\n".repeat(8_000)}`)
  await open().all()
  await open().change({ by: "agent", why: "test", puts: [{ name: "Otters", body: "The otters are fed at noon." }] })
  const index = readFileSync(join(directory, INDEX_FILE), "utf8")
  expect(index.length).toBeGreaterThan(256 * 1024)
  expect(index).toContain("(otters.md)")
  expect(index).toContain("- a line of the user's about the pond")
  expect(await open().problems()).toEqual([])
})

test("BEY-9 a text that could not be read as a memory is not written as one", async () => {
  for (const { open } of [memories(), { open: () => openBank({ files: memoryStore().memories({ project: "p" }) }) }]) {
    const bank = open()
    const change = bank.change({ by: "agent", why: "test", puts: [{ name: "Large", body: "word ".repeat(60_000) }] })
    await expect(change).rejects.toThrow("it would have more than 262144 bytes")
    expect(await bank.all()).toEqual([])
  }
})

test("L5-13 BEY-9 what a change had written before it was damaged does not count as the user's", async () => {
  const { directory, files, open } = memories()
  await open().change({ by: "agent", why: "test", puts: [{ name: "Known", body: "The heron stands in the pond." }] })
  const killed = memoryDirectory({
    ...{ directory, clock: systemClock },
    atStep(step) {
      if (step === "changed") throw new Error("killed")
    },
  })
  const puts = ["Otters", "Herons"].map((name) => ({ name, body: `Always feed the ${name} at noon.` }))
  await expect(openBank({ files: killed }).change({ by: "agent", why: "test", puts })).rejects.toThrow("completes it")
  const intent = join(directory, ".intent.json")
  writeFileSync(intent, readFileSync(intent, "utf8").slice(0, -20))
  const all = await open().all()
  expect(all.find(({ file }) => file === "known.md")?.body).toBe("The heron stands in the pond.")
  expect(all.filter(({ source }) => source.saidBy === "user")).toEqual([])
  expect((await open().problems()).join()).toContain("was damaged on the disk")
  expect(await files.list(".history/writing")).toEqual([])
  writeFileSync(join(directory, "later.md"), memoryText("later", "The lamp is in the hall."))
  const later = (await open().all()).find(({ file }) => file === "later.md")
  expect(later?.source.saidBy).toBe("user")
})
