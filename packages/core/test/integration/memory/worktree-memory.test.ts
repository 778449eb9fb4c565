import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, onTestFinished, test } from "vitest"
import { manualClock } from "../../../src/base/clock.ts"
import { localPerson } from "../../../src/base/owner.ts"
import type { MemoryMode, WorktreeMemory } from "../../../src/base/vocabulary.ts"
import { openProjectMemory } from "../../../src/conversation/project-memory.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { isCurrent } from "../../../src/memory/memory.ts"
import { mergeAll } from "../../../src/memory/overlays.ts"
import { filesBelow } from "../../dreams.ts"
import { temporaryRoot } from "../../journal-files.ts"

const run = promisify(execFile)

/** A repository with a linked worktree on the branch `side`, and conversations' memories opened in both. */
async function repository() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const top = await realpath(root)
  const git = (cwd: string, ...args: string[]) =>
    run("git", ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", ...args], {
      cwd,
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    })
  const main = join(top, "main")
  const tree = join(top, "tree")
  await mkdir(main)
  await git(main, "init", "-q")
  await git(main, "commit", "-q", "--allow-empty", "-m", "first")
  await git(main, "worktree", "add", "-q", "../tree", "-b", "side")
  const clock = manualClock("2026-03-01T10:00:00.000Z")
  const store = fileStore({ root: join(top, "home"), clock })
  async function open(cwd: string, worktreeMemory: WorktreeMemory = "overlay", mode: MemoryMode = "auto") {
    const memory = (await openProjectMemory({ store, owner: localPerson, cwd, mode, worktreeMemory, clock }))!
    onTestFinished(() => memory.close())
    const put = (name: string, body: string) =>
      memory.bank.change({ by: "agent", why: "Learned", puts: [{ file: `${name}.md`, name, body }] })
    const bodies = async () =>
      Object.fromEntries((await memory.bank.all()).map(({ file, body }) => [file, body.trim()]))
    return { ...memory, put, bodies }
  }
  return { top, git, main, tree, clock, open }
}

describe("L5-10 the memory of a worktree that is kept apart", () => {
  test("L5-10 it sees the shared memory and its own; the others do not see its own", async () => {
    const { main, tree, open } = await repository()
    const first = await open(main)
    await first.put("port", "The port is 80.")
    const own = await open(tree)
    await own.put("branch", "The branch uses gRPC.")
    await own.put("port", "The port is 81.")
    expect(await own.bodies()).toEqual({ "port.md": "The port is 81.", "branch.md": "The branch uses gRPC." })
    expect(await (await open(main)).bodies()).toEqual({ "port.md": "The port is 80." })
    expect(own.directory!.startsWith(first.directory!)).toBe(true)
    expect((await own.bank.index()).text).toContain("branch.md")
    expect(existsSync(join(tree, ".strata"))).toBe(false)
  })

  test("L5-10 it takes over what the shared memory learns meanwhile, with the next message", async () => {
    const { main, tree, clock, open } = await repository()
    const [first, own] = [await open(main), await open(tree)]
    await own.put("branch", "The branch uses gRPC.")
    await first.put("port", "The port is 80.")
    await own.recall({ text: "Which port is it?", now: clock.now() })
    expect(await own.bodies()).toEqual({ "port.md": "The port is 80.", "branch.md": "The branch uses gRPC." })
  })

  test("L5-10 without the setting, all worktrees write into one memory", async () => {
    const { main, tree, open } = await repository()
    await (await open(tree, "shared")).put("branch", "The branch uses gRPC.")
    expect(await (await open(main)).bodies()).toEqual({ "branch.md": "The branch uses gRPC." })
  })

  test("L5-10 a merged branch brings its memory back as one change, and the worktree goes on", async () => {
    const { git, main, tree, open } = await repository()
    await (await open(main)).put("port", "The port is 80.")
    const own = await open(tree)
    await own.put("branch", "The branch uses gRPC.")
    await own.put("port", "The port is 81.")
    await git(tree, "commit", "-q", "--allow-empty", "-m", "work")
    expect(await (await open(main)).bodies()).toEqual({ "port.md": "The port is 80." })
    await git(main, "merge", "-q", "side")
    const after = await open(main)
    expect(await after.bodies()).toEqual({ "port.md": "The port is 81.", "branch.md": "The branch uses gRPC." })
    const changes = await after.bank.history()
    expect(changes.map(({ by }) => by)).toEqual(["agent", "merge"])
    await (await open(tree)).put("later", "More on the branch.")
    expect(Object.keys(await (await open(main)).bodies())).toEqual(["branch.md", "port.md"])
    await after.bank.revert(changes[1]!.id)
    expect(await after.bodies()).toEqual({ "port.md": "The port is 80." })
  })

  test("L5-10 a merge commit counts as a merge, too", async () => {
    const { git, main, tree, open } = await repository()
    await (await open(tree)).put("branch", "The branch uses gRPC.")
    await git(tree, "commit", "-q", "--allow-empty", "-m", "work")
    await git(main, "merge", "-q", "--no-ff", "-m", "merged", "side")
    expect(await (await open(main)).bodies()).toEqual({ "branch.md": "The branch uses gRPC." })
  })

  test.each(["removed with git", "deleted by hand"])("L5-10 a worktree %s leaves nothing stranded", async (how) => {
    const { git, main, tree, open } = await repository()
    await (await open(main)).put("port", "The port is 80.")
    const own = await open(tree)
    await own.put("branch", "The branch uses gRPC.")
    await own.bank.change({ by: "agent", why: "Wrong", removals: ["port.md"] })
    await writeFile(join(own.directory!, "hand.md"), "Written by hand, not yet seen by anyone.\n")
    if (how === "removed with git") await git(main, "worktree", "remove", "--force", "../tree")
    else await rm(tree, { recursive: true })
    const after = await open(main)
    expect(await after.bodies()).toEqual({
      "branch.md": "The branch uses gRPC.",
      "hand.md": "Written by hand, not yet seen by anyone.",
    })
    expect(await readFile(join(after.directory!, "archive/port.md"), "utf8")).toContain("The port is 80.")
    expect((await after.bank.history()).map(({ by }) => by)).toEqual(["agent", "merge"])
    expect(existsSync(join(own.directory!, "branch.md"))).toBe(false)
    // a program that still runs there writes again
    await mkdir(own.directory!, { recursive: true })
    await writeFile(join(own.directory!, "late.md"), "Too late.\n")
    expect(Object.keys(await (await open(main)).bodies())).toContain("late.md")
  })

  test("L5-10 a locked worktree may be on a disk that is not connected: it is left alone", async () => {
    const { git, main, tree, open } = await repository()
    await (await open(tree)).put("branch", "The branch uses gRPC.")
    await git(main, "worktree", "lock", "../tree")
    await rm(tree, { recursive: true })
    expect(await (await open(main)).bodies()).toEqual({})
  })

  test.each([
    ["worktree", "The port is 81."],
    ["project", "The port is 82."],
  ])("L5-10 L5-11 a conflict keeps both texts, and the newer one, from the %s, is current", async (newer, current) => {
    const { main, tree, clock, open } = await repository()
    const first = await open(main)
    await first.put("port", "The port is 80.")
    const own = await open(tree)
    const edits = [() => own.put("port", "The port is 81."), () => first.put("port", "The port is 82.")]
    for (const edit of newer === "worktree" ? edits.reverse() : edits) {
      clock.advance(60_000)
      await edit()
    }
    const [merged] = await mergeAll({ files: first.files, clock })
    expect(merged!.conflicts).toEqual(["port.md"])
    const memories = await first.bank.all()
    expect(memories.map(({ body }) => body.trim()).sort()).toEqual(["The port is 81.", "The port is 82."])
    expect(memories.filter(isCurrent).map(({ body }) => body.trim())).toEqual([current])
    expect(await mergeAll({ files: first.files, clock })).toEqual([])
    expect(await (await open(tree)).bodies()).toEqual(await first.bodies())
  })

  test("L5-10 changes in other lines and other files are merged without a conflict", async () => {
    const { main, tree, clock, open } = await repository()
    const first = await open(main)
    await first.put("ports", "One\n\nTwo\n\nThree\n\nFour\n\nFive")
    const own = await open(tree)
    await own.put("ports", "One on the branch\n\nTwo\n\nThree\n\nFour\n\nFive")
    await first.put("ports", "One\n\nTwo\n\nThree\n\nFour\n\nFive, shared")
    await writeFile(join(own.directory!, "MEMORY.md"), `${(await own.bank.text("MEMORY.md"))!}Ask Ana first.\n`)
    const [merged] = await mergeAll({ files: first.files, clock })
    expect(merged!.conflicts).toEqual([])
    expect((await first.bodies())["ports.md"]).toBe("One on the branch\n\nTwo\n\nThree\n\nFour\n\nFive, shared")
    expect((await first.bank.index()).text).toContain("Ask Ana first.")
  })

  test("L5-10 switched back to shared, what was kept apart is merged with the next conversation there", async () => {
    const { main, tree, open } = await repository()
    await (await open(tree)).put("branch", "The branch uses gRPC.")
    expect(await (await open(main)).bodies()).toEqual({})
    expect(await (await open(tree, "shared")).bodies()).toEqual({ "branch.md": "The branch uses gRPC." })
  })

  test("L5-10 read-only merges nothing and begins nothing", async () => {
    const { main, tree, open } = await repository()
    await (await open(main)).put("port", "The port is 80.")
    expect(await (await open(tree, "overlay", "read-only")).bodies()).toEqual({ "port.md": "The port is 80." })
    await (await open(tree)).put("branch", "The branch uses gRPC.")
    await rm(tree, { recursive: true })
    expect(await (await open(main, "overlay", "read-only")).bodies()).toEqual({ "port.md": "The port is 80." })
    expect(Object.keys(await (await open(main)).bodies())).toEqual(["branch.md", "port.md"])
  })

  test("L5-10 what only a tool said keeps its source on the way into a worktree and back", async () => {
    const { main, tree, clock, open } = await repository()
    const first = await open(main)
    await mkdir(first.directory!, { recursive: true })
    await writeFile(join(first.directory!, "seen.md"), "The build uses port 9000.\n")
    await first.bank.record({ by: "agent", source: { saidBy: "tool" }, files: ["seen.md"] })
    const own = await open(tree)
    expect(await own.bank.get("seen.md")).toMatchObject({ source: { saidBy: "tool" } })
    await writeFile(join(own.directory!, "own.md"), "The branch uses port 9001.\n")
    await own.bank.record({ by: "agent", source: { saidBy: "tool" }, files: ["own.md"] })
    await mergeAll({ files: first.files, clock })
    expect(await first.bank.get("own.md")).toMatchObject({ source: { saidBy: "tool" } })
  })

  test("L5-10 BEY-9 erasing reaches every worktree: its memory, its history, and what is left of those that are gone", async () => {
    const { git, main, tree, open } = await repository()
    const first = await open(main)
    await first.put("gate", "Opens with four seven one one.")
    await git(main, "worktree", "add", "-q", "../other", "-b", "other")
    const own = await open(tree)
    await own.put("gate", "Opens with four seven one one, twice.")
    await (await open(join(main, "../other"))).put("gate", "Opens with four seven one one, thrice.")
    await git(main, "worktree", "remove", "--force", "../other")
    await open(main)
    const everything = async () => JSON.stringify([...filesBelow(first.directory!)])
    expect(await everything()).toContain("seven one one, thrice")
    const merged = await first.bank.all()
    for (const { file } of merged) await first.bank.erase(file)
    expect(await everything()).not.toContain("seven one one")
    expect(await everything()).not.toContain("gate.md")
    expect(await (await open(tree)).bodies()).toEqual({})
    expect(await first.bank.problems()).toEqual([])
    expect(await own.bank.problems()).toEqual([])
  })
})
