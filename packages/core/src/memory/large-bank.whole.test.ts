/** Changes as large as those of users who copy in their notes: later openings see all of them. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { scratchDirectory } from "../../test/tool-context.ts"
import { systemClock } from "../base/clock.ts"
import { memoryDirectory } from "../journal/file/memory-directory.ts"
import { openBank } from "./bank.ts"

function memories() {
  const directory = join(scratchDirectory(), "memory")
  mkdirSync(directory)
  return { directory, open: () => openBank({ files: memoryDirectory({ directory, clock: systemClock }) }) }
}

test("BEY-9 24 notes of 200 KB, copied at once", async () => {
  const { directory, open } = memories()
  for (let at = 0; at < 24; at++)
    writeFileSync(join(directory, `n${at}.md`), `# Note ${at}\n\n${`word${at} and more\n`.repeat(12_500)}`)
  expect(await open().all()).toHaveLength(24)
  expect(await open().all()).toHaveLength(24)
  const bank = open()
  await bank.change({ by: "agent", why: "test", puts: [{ name: "One more", body: "The lamp is in the hall." }] })
  expect(await open().history()).toHaveLength(2)
  expect(await open().problems()).toEqual([])
})

test("BEY-9 5,000 notes, copied in two batches, then 5,000 more", async () => {
  const { directory, open } = memories()
  const put = (from: number, to: number) => {
    for (let at = from; at < to; at++)
      writeFileSync(
        join(directory, `n${at}.md`),
        `# Note ${at}\n\nThe place of lamp ${at} is hall ${(at * 17) % 7919}.\n`,
      )
  }
  for (const [from, to] of [
    [0, 2_500],
    [2_500, 5_000],
    [5_000, 10_000],
  ] as const) {
    put(from, to)
    expect(await open().all()).toHaveLength(to)
  }
  writeFileSync(join(directory, "n7.md"), "# Note 7\n\nEdited by hand.\n")
  expect((await open().get("n7.md"))?.body).toContain("Edited by hand.")
  await open().change({ by: "agent", why: "test", puts: [{ name: "One more", body: "The tide table is green." }] })
  const bank = open()
  expect(await bank.all()).toHaveLength(10_001)
  expect(await bank.history()).toHaveLength(5)
  expect(await bank.problems()).toEqual([])
})
