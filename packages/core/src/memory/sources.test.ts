/** The source of a memory after crashes, with older histories and after reverts. */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../test/journal-files.ts"
import { isWhole } from "../../test/size.ts"
import { fileStore } from "../journal/file/file-store.ts"
import { openBank } from "./bank.ts"
import { announceWrite } from "./changes/manual-edits.ts"

async function bankOnDisk() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const files = fileStore({ root }).memories({ project: "p" })
  return { files, bank: openBank({ files }), directory: files.directory! }
}

test.runIf(isWhole)(
  "L5-13 a write that is announced is never the person's, not even after a crash; a command's edits neither",
  async () => {
    const { bank, files, directory } = await bankOnDisk()
    const done = await announceWrite(files, ["agent.md"])
    await writeFile(join(directory, "agent.md"), "By the agent.\n")
    await writeFile(join(directory, "mine.md"), "By hand.\n")
    const other = openBank({ files })
    expect((await other.get("agent.md"))?.source).toEqual({ saidBy: "agent", outside: "a file tool of the agent" })
    expect((await other.get("mine.md"))?.source).toEqual({ saidBy: "user" })
    // the announcer knows more
    const source = { saidBy: "user", conversation: "c", message: "m" } as const
    await bank.record({ by: "agent", source, files: ["agent.md"] })
    await done()
    expect((await bank.get("agent.md"))?.source).toEqual(source)

    // a process that was killed during a command
    const dead = spawnSync(process.execPath, ["-e", ""]).pid
    await files.install([
      {
        path: ".history/writing/x.json",
        text: JSON.stringify({ by: "x", owner: { pid: dead, host: hostname(), started: "" } }),
      },
    ])
    await writeFile(join(directory, "planted.md"), "Planted.\n")
    expect(await bank.isCommandRunning()).toBe(false)
    expect((await bank.get("planted.md"))?.source).toEqual({ saidBy: "agent", outside: "a command of the agent" })
    await writeFile(join(directory, "later.md"), "By hand.\n")
    expect((await bank.get("later.md"))?.source).toEqual({ saidBy: "user" })
  },
)

test("L5-13 a history of an older version: what the user did is theirs, everything else is not confirmed", async () => {
  const { bank, files, directory } = await bankOnDisk()
  await bank.change({ by: "agent", why: "w", puts: [{ name: "Mine", body: "By the agent." }] })
  await writeFile(join(directory, "mine.md"), "By hand.\n")
  await bank.change({
    by: "extraction",
    why: "w",
    puts: [{ name: "Noted", body: "Noted.", source: { saidBy: "user" } }],
  })
  const head = JSON.parse((await files.read(".history/head.json"))!) as { value: { computed?: true; files: object } }
  const { computed: _, ...old } = head.value
  const sum = (value: object) => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16)
  await files.install([{ path: ".history/head.json", text: JSON.stringify({ sum: sum(old), value: old }) }])
  for (const { path } of await files.list(".history/changes")) {
    const { value } = JSON.parse((await files.read(path))!) as { value: { files: { source?: object }[] } }
    const without = { ...value, files: value.files.map(({ source: __, ...edit }) => edit) }
    await files.install([{ path, text: JSON.stringify({ sum: sum(without), value: without }) }])
  }
  const sources = (await openBank({ files }).all()).map(({ file, source }) => [file, source.saidBy])
  expect(sources).toEqual([
    ["mine.md", "user"],
    ["noted.md", "agent"],
  ])
})

test.runIf(isWhole)("L5-13 taking a change back brings back the source, and confirms nothing", async () => {
  const { bank } = await bankOnDisk()
  await bank.change({ by: "agent", why: "w", puts: [{ name: "Noted", body: "Noted." }] })
  const removed = await bank.change({ by: "person", why: "w", removals: ["noted.md"] })
  await bank.revert(removed!.id)
  expect((await bank.get("noted.md"))?.source).toEqual({ saidBy: "agent" })
  const confirmed = await bank.confirm("noted.md")
  expect((await bank.get("noted.md"))?.source).toEqual({ saidBy: "agent", confirmed: true })
  await bank.revert(confirmed!.id)
  expect((await bank.get("noted.md"))?.source).toEqual({ saidBy: "agent" })
})
