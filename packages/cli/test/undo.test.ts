/** `strata compact` and `strata undo`, on conversations of `strata run`. */
import { globSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { isWhole } from "../../core/test/size.ts"
import { calls, workbench } from "./workbench.ts"

const LONG = { "log.txt": "port 8080 answers, port 9090 does not\n".repeat(700) }
const READS = [calls({ Bash: { command: "cat log.txt" } }), "I have read the log."]
const SUMMARY = `<summary>\n${"Ports 8080 and 9090 were looked at. ".repeat(60)}\n</summary>`
const env = { STRATA_NOTES: "0", VISUAL: "" }

test("BEY-3 a project without a conversation is a sentence of its own", async () => {
  await using bench = await workbench({ turns: [] })
  const nothing = { code: 2, stdout: "", stderr: expect.stringMatching(/^This project has no conversation yet/) }
  expect(await bench.here(["compact", "--dry-run"])).toMatchObject(nothing)
  expect(await bench.strata(["undo"]).ended).toMatchObject(nothing)
})

test("BEY-3 strata compact --edit: no editor and an empty text change nothing, and what is saved counts; strata undo takes it back", async () => {
  await using bench = await workbench({ turns: [...READS, SUMMARY, SUMMARY, SUMMARY], files: LONG })
  await bench.here(["run", "Read the log.", "--mode", "bypass"], { env })
  const edit = (EDITOR: string) => bench.here(["compact", "--edit"], { env: { ...env, EDITOR } })
  const without = await edit("")
  expect(without).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("No editor is set, so nothing was changed."),
  })
  const empty = await edit(`sh -c ': > "$0"'`)
  expect(empty).toMatchObject({ code: 1, stderr: expect.stringContaining("The summary was left empty") })
  expect(empty.stderr).not.toContain("Interrupted")
  expect(await bench.here(["undo"], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There is nothing to undo"),
  })
  expect(await edit(`sh -c 'echo Mine. > "$0"'`)).toMatchObject({ code: 0 })
  const undone = await bench.here(["undo", "--json"], { env })
  expect(JSON.parse(undone.stdout)).toMatchObject({ kind: "compaction", later: { messages: 0 } })
  const [project] = readdirSync(join(bench.home, "projects"))
  const [journal] = globSync(join(bench.home, "projects", project!, "*.jsonl"))
  const { stdout } = await bench.here(["inspect", journal!], { env })
  expect(stdout).toMatch(/undone +a compaction, to [\d,]+ tokens again/)
  expect(stdout).toContain("messages on abandoned branches or of undone compactions: ")
})

test("L2-13 strata compact --tool names the command that brings the results back", async () => {
  await using bench = await workbench({ turns: READS, files: LONG })
  await bench.here(["run", "Read the log.", "--mode", "bypass"], { env })
  const { stderr } = await bench.here(["compact", "--tool", "Bash", "--keep", "0"], { env })
  expect(stderr).toMatch(/1 old tool result was cleared: .* strata undo brings it back\.\n/)
  expect(stderr.match(/cleared/g)).toHaveLength(1)
})

test("L4-38 strata compact --prune clears a repeated result, shortens a long one, and strata undo brings both back", async () => {
  const cat = calls({ Bash: { command: "cat log.txt" } })
  const later = ["one", "two", "three"].map((word) => calls({ Bash: { command: `echo ${word}` } }))
  await using bench = await workbench({ turns: [cat, cat, ...later, "I have read the log."], files: LONG })
  await bench.here(["run", "Read the log.", "--mode", "bypass"], { env })
  const planned = await bench.here(["compact", "--prune", "--dry-run"], { env })
  expect(planned.stderr).toMatch(/1 old tool result and the middle of 1 long result would be cleared: .*Nothing was/)
  const { stderr } = await bench.here(["compact", "--prune"], { env })
  expect(stderr).toMatch(/1 old tool result and the middle of 1 long result were cleared: .* brings them back\.\n/)
  expect((await bench.here(["undo"], { env })).stdout).toContain("clearing of tool results was undone")
  const wrong = await bench.here(["compact", "--prune", "keep the ports"], { env })
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("Nothing was changed") })
})

test.runIf(isWhole)("BEY-3 strata compact --before a handle, its dry run, and an editor that fails", async () => {
  await using bench = await workbench({ turns: [...READS, "Nothing else.", SUMMARY, SUMMARY], files: LONG })
  const strata = (args: readonly string[], more = {}) => bench.here(args, { env: { ...env, ...more } })
  await strata(["run", "Read the log.", "--mode", "bypass"])
  await strata(["run", "--continue", "--mode", "bypass", "Anything else?"])
  const found = await strata(["recall", "--search", "Anything else", "--kind", "user", "--json"])
  const [{ handle }] = JSON.parse(found.stdout).found
  expect(await strata(["compact", "--before", "0123456789"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Nothing was changed"),
  })
  expect(await strata(["compact", "--edit"], { EDITOR: "false" })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("ended with code 1. Nothing was changed"),
  })
  const planned = await strata(["compact", "--dry-run", "--before", handle])
  expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^summarise +\d+ messages/) })
  expect(await strata(["undo"])).toMatchObject({ code: 1 })
  expect(await strata(["compact", "--before", handle])).toMatchObject({ code: 0 })
  const shown = await strata(["undo", "--dry-run"])
  expect(shown.stdout).toMatch(/compaction would be undone: .*Nothing was changed\.$/m)
  expect(await strata(["undo"])).toMatchObject({ code: 0 })
})
