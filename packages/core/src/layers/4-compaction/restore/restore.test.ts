import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation } from "../../../../test/builders.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../../test/tool-context.ts"
import type { Attachment } from "../../../messages/attachments.ts"
import { createFlags } from "../../../settings/flags.ts"
import { DEFAULT_SETTINGS } from "../../../settings/settings.ts"
import { createEstimator } from "../../../tokens/estimate.ts"
import { edit } from "../../../tools/files/edit.ts"
import { read } from "../../../tools/files/read.ts"
import { FileReads } from "../../../tools/files/read-state.ts"
import { sizeOf } from "./files.ts"
import { type RestoreInput, restoreAttachments, restoreLimits } from "./restore.ts"

const { text: estimate } = createEstimator("claude-5")
const LIMITS = { files: 5, file: 5_000, allFiles: 50_000, skill: 5_000, allSkills: 25_000 }
const NOTHING: Omit<RestoreInput, "reads"> = {
  messages: [],
  preserved: [],
  isComplete: () => true,
  frontier: { todos: [], plan: { active: false } },
  excluded: { files: [], directories: [] },
  limits: LIMITS,
  estimate,
  now: new Date("2026-02-02T00:00:00.000Z"),
}

/** Creates a directory with files that a conversation has read one by one. */
async function readFiles(files: Readonly<Record<string, string>>) {
  const context = testContext({ reads: new FileReads() })
  const pathOf = (name: string) => join(context.directory.get(), name)
  for (const [at, [name, content]] of Object.entries(files).entries()) {
    mkdirSync(dirname(pathOf(name)), { recursive: true })
    writeFileSync(pathOf(name), content)
    await call(read, { file_path: pathOf(name) }, { ...context, toolUseId: `toolu_${at}` })
  }
  return { context, pathOf, reads: context.reads.entries() }
}

const namesIn = (attachments: readonly Attachment[]) =>
  attachments.map(
    (attachment) => `${attachment.type} ${"path" in attachment ? attachment.path?.split("/").at(-1) : ""}`,
  )

describe("L4-20 files read again after a compaction", () => {
  test("the five most recently read, the newest first, as they are on disk now and as Read shows them", async () => {
    const names = ["a", "b", "c", "d", "e", "f"]
    const { context, pathOf, reads } = await readFiles(Object.fromEntries(names.map((name) => [name, `${name}\n`])))
    writeFileSync(pathOf("f"), "changed since\nby someone\n")
    const restored = await restoreAttachments({ ...NOTHING, reads })
    expect(namesIn(restored.attachments)).toEqual(["file f", "file e", "file d", "file c", "file b"])
    const shown = await call(read, { file_path: pathOf("f") }, context)
    expect((restored.attachments[0] as { content: string }).content).toBe(textIn(shown))
  })

  test("they enter the read state again: what was shown can be edited, what was not cannot", async () => {
    const { context, pathOf, reads } = await readFiles({ old: "old\n", a: "one\n", kept: "kept\n" })
    const preserved = conversation().user([
      { type: "tool_result", tool_use_id: "toolu_2", content: "     1\tkept" },
    ]).messages
    const restored = await restoreAttachments({ ...NOTHING, reads, preserved, limits: { ...LIMITS, files: 1 } })
    expect(namesIn(restored.attachments)).toEqual(["file a"])
    expect(restored.reads.map(([path]) => path)).toEqual([pathOf("a"), pathOf("kept")])

    const after = { ...context, reads: new FileReads({ reads: restored.reads }) }
    const change = (name: string, old_string: string) =>
      call(edit, { file_path: pathOf(name), old_string, new_string: "new" }, after)
    await expect(change("a", "one")).resolves.not.toHaveProperty("isError", true)
    await expect(change("kept", "kept")).resolves.not.toHaveProperty("isError", true)
    await expect(change("old", "old")).rejects.toThrow("has not been read")
  })

  test("what cannot be read any more is left out, and the next ones take its place", async () => {
    const { pathOf, reads } = await readFiles({
      fine: "fine\n",
      "moved/x": "x\n",
      deleted: "x\n",
      binary: "x\n",
      directory: "x\n",
      link: "x\n",
      locked: "x\n",
      immense: "x\n",
      last: "last\n",
    })
    rmSync(pathOf("deleted"))
    writeFileSync(pathOf("binary"), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]))
    rmSync(pathOf("directory"))
    mkdirSync(pathOf("directory"))
    const elsewhere = scratchDirectory()
    writeFileSync(join(elsewhere, "secret"), "secret\n")
    writeFileSync(join(elsewhere, "x"), "secret\n")
    rmSync(pathOf("link"))
    symlinkSync(join(elsewhere, "secret"), pathOf("link"))
    rmSync(pathOf("moved"), { recursive: true })
    symlinkSync(elsewhere, pathOf("moved"))
    chmodSync(pathOf("locked"), 0)
    truncateSync(pathOf("immense"), 33 * 1024 * 1024)
    const restored = await restoreAttachments({ ...NOTHING, reads })
    const isRoot = process.getuid?.() === 0 // root may read everything
    expect(namesIn(restored.attachments)).toEqual(["file last", ...(isRoot ? ["file locked"] : []), "file fine"])
    expect(JSON.stringify(restored.attachments)).not.toContain("secret")
  })

  test("a file over its limit is cut, and all together share theirs (L4-20)", async () => {
    const text = "a line of words\n".repeat(2_000)
    const { pathOf, reads } = await readFiles({ a: text, b: text, c: text })
    const limits = { ...LIMITS, file: 500, allFiles: 1_300 }
    const restored = await restoreAttachments({ ...NOTHING, reads, limits })
    const sizes = restored.attachments.map((attachment) => sizeOf(attachment, estimate))
    expect(namesIn(restored.attachments)).toEqual(["file c", "file b", "file a"])
    for (const size of sizes) expect(size).toBeLessThanOrEqual(1_300 / 3 + 20) // what one leaves goes to the next
    for (const size of sizes) expect(size).toBeGreaterThan(400)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1_300)
    const range = restored.reads.find(([path]) => path === pathOf("c"))?.[1].range
    expect(range?.offset).toBe(1)
    expect((restored.attachments[0] as { content: string }).content).toContain(
      `[Lines 1-${range!.limit} of 2000. The file goes on: Read it with offset ${range!.limit + 1}.]`,
    )
  })

  test("where there is no room a file is only named, and not even that without room for its name", async () => {
    const { reads } = await readFiles({ a: "a line of words\n".repeat(100) })
    const namesWithin = async (allFiles: number) => {
      const restored = await restoreAttachments({ ...NOTHING, reads, limits: { ...LIMITS, file: 20, allFiles } })
      expect(restored.reads).toEqual([])
      return namesIn(restored.attachments)
    }
    expect(await namesWithin(500)).toEqual(["compact_file_reference a"])
    expect(await namesWithin(10)).toEqual([])
  })

  test("not the plan, not instructions, nothing of Strata's own, also where these are named by a link", async () => {
    const { pathOf, reads } = await readFiles({
      "plan.md": "plan\n",
      "AGENTS.md": "rules\n",
      "root/notes.md": "notes\n",
      "memory.md": "memory\n",
      a: "a\n",
    })
    symlinkSync(pathOf("root"), pathOf("linked"))
    const restored = await restoreAttachments({
      ...NOTHING,
      reads,
      frontier: { todos: [], plan: { active: false, path: pathOf("plan.md") } },
      excluded: { files: [pathOf("memory.md"), pathOf("missing")], directories: [pathOf("linked")] },
    })
    expect(namesIn(restored.attachments)).toEqual(["file a", "plan_file plan.md"])
  })

  test("an abort leaves files out and throws nothing", async () => {
    const { reads } = await readFiles({ a: "a\n" })
    await expect(restoreAttachments({ ...NOTHING, reads, signal: AbortSignal.abort() })).resolves.toEqual({
      attachments: [],
      reads: [],
      files: { restored: 0, failed: 1 },
    })
  })
})

describe("L4-20 everything that is restored", () => {
  const before = conversation()
    .attach({ type: "mcp_instructions", server: "db", instructions: "ask first" })
    .attach({ type: "agent_listing", agents: [{ name: "finder" }] })
    .attach({ type: "tool_delta", added: [{ name: "Deploy" }], removed: [] })
    .attach({ type: "agent_status", agents: [{ id: "1", name: "finder", status: "running" }] })
    .attach({ type: "skill_listing", skills: [{ name: "review" }] })
    .attach({ type: "skill_content", name: "review", content: "look twice" }).messages
  const seen = { content: "x", modifiedMs: 1, at: "2026-01-01T00:00:00.000Z" }
  const ORDER = [
    ...["file", "file", "skill_content", "plan_file", "plan_mode", "todo_list", "agent_status", "tool_delta"],
    ...["agent_listing", "mcp_instructions"],
  ]

  test("always in this order, whatever finishes first, and without the skill listing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const asked = restoreAttachments({
          ...NOTHING,
          messages: before,
          reads: [
            ["/p/a", seen],
            ["/p/plan.md", seen],
            ["/p/b", seen],
          ],
          frontier: {
            todos: [{ content: "one", status: "pending" }],
            plan: { active: true, path: "/p/plan.md", text: "as it was shown" },
          },
          readFile: (path) => scheduler.schedule(Promise.resolve({ text: `now ${path}`, modifiedMs: 2 }), path),
        })
        const { attachments } = await scheduler.waitFor(asked)
        expect(attachments.map(({ type }) => type)).toEqual(ORDER)
        expect(attachments.slice(0, 2)).toMatchObject([{ path: "/p/b" }, { path: "/p/a" }])
        expect(attachments[3]).toEqual({ type: "plan_file", path: "/p/plan.md", content: "now /p/plan.md" })
        expect(attachments[4]).toEqual({ type: "plan_mode", active: true, path: "/p/plan.md" })
      }),
      { numRuns: 50 },
    )
  })

  test("a plan is taken from the disk only where the conversation has read or written it", async () => {
    const plan = { active: false, path: "/p/plan.md", text: "as it was shown" }
    const readFile = async () => ({ text: "on disk", modifiedMs: 2 })
    const ask = (more: Partial<RestoreInput>) =>
      restoreAttachments({ ...NOTHING, reads: [], readFile, frontier: { todos: [], plan }, ...more })
    const contents = async (more: Partial<RestoreInput>) =>
      (await ask(more)).attachments.map((attachment) => "content" in attachment && attachment.content)
    const reads = [["/p/plan.md", seen] as const]
    expect(await contents({})).toEqual(["as it was shown"])
    expect(await contents({ reads })).toEqual(["on disk"])
    expect(await contents({ reads, readFile: async () => undefined })).toEqual(["as it was shown"])
    expect(await contents({ frontier: { todos: [], plan: { active: false, text: "in no file" } } })).toEqual([])
  })

  test("L4-27 a plan of any length leaves room: it is cut, says so, and files get what it leaves of theirs", async () => {
    const text = "- one more step of a plan without end\n".repeat(50_000)
    const frontier = { todos: [], plan: { active: false, path: "/p/plan.md", text } }
    const readFile = async () => ({ text: "short\n", modifiedMs: 2 })
    const limits = { ...LIMITS, allFiles: 0 }
    const { attachments } = await restoreAttachments({
      ...NOTHING,
      reads: [["/p/a", seen]],
      readFile,
      frontier,
      limits,
    })
    expect(attachments.map(({ type }) => type)).toEqual(["plan_file"])
    expect(sizeOf(attachments[0]!, estimate)).toBeLessThanOrEqual(2 * LIMITS.file)
    expect((attachments[0] as { content: string }).content).toMatch(/one more step[\s\S]*the plan goes on/)
  })

  test("the limits are figures", async () => {
    expect(restoreLimits(createFlags({ settings: DEFAULT_SETTINGS }).current)).toEqual(LIMITS)
    const figures = { ...DEFAULT_SETTINGS.figures, "restore-files": 2 }
    expect(restoreLimits(createFlags({ settings: { ...DEFAULT_SETTINGS, figures } }).current)).toEqual({
      ...LIMITS,
      files: 2,
    })
  })

  test("nothing to restore gives nothing", async () => {
    expect(await restoreAttachments({ ...NOTHING, reads: [] })).toEqual({
      attachments: [],
      reads: [],
      files: { restored: 0, failed: 0 },
    })
  })
})
