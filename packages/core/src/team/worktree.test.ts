/** A sub-agent's working tree, with real repositories and real git. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../test/size.ts"
import { scratchDirectory } from "../../test/tool-context.ts"
import { Worktree, WorktreeError, type WorktreeLocation } from "./worktree.ts"

function git(at: string, ...args: string[]): string {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
  return execFileSync("git", [...identity, ...args], { cwd: at, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
}

function repository(): WorktreeLocation {
  const at = scratchDirectory()
  const cwd = join(at, "project")
  mkdirSync(join(cwd, "src"), { recursive: true })
  git(cwd, "init", "--quiet")
  writeFileSync(join(cwd, ".gitignore"), "ignored.txt\n")
  writeFileSync(join(cwd, "src/a.txt"), "one\ntwo\nthree\n")
  writeFileSync(join(cwd, "gone.txt"), "x\n")
  git(cwd, "add", "-A")
  git(cwd, "commit", "--quiet", "-m", "start")
  const env = { PATH: process.env.PATH }
  return { cwd, root: join(at, "home"), project: "p", conversation: "c-1", agent: "agent-1", env }
}

describe("L7-4 a sub-agent in a working tree of its own", () => {
  test.runIf(isWhole)("it starts as the project is now: uncommitted and new files, not ignored ones", async () => {
    const place = repository()
    writeFileSync(join(place.cwd, "src/a.txt"), "one\nTWO\nthree\n")
    writeFileSync(join(place.cwd, "new.txt"), "new\n")
    writeFileSync(join(place.cwd, "ignored.txt"), "secret\n")
    const before = git(place.cwd, "status", "--porcelain")
    const tree = await Worktree.create(place)
    expect(readFileSync(join(tree.directory, "src/a.txt"), "utf8")).toBe("one\nTWO\nthree\n")
    expect(readFileSync(join(tree.directory, "new.txt"), "utf8")).toBe("new\n")
    expect(existsSync(join(tree.directory, "ignored.txt"))).toBe(false)
    expect(git(place.cwd, "status", "--porcelain")).toBe(before)
    expect(await tree.changes()).toMatchObject({ diff: "", files: [] })
    expect(await tree.merge()).toEqual({ state: "nothing" })
  })

  test("its changes, committed or not, are merged as a whole and leave the lead's other work alone", async () => {
    const place = repository()
    const tree = await Worktree.create(place)
    writeFileSync(join(tree.directory, "src/a.txt"), "one\ntwo\nTHREE\n")
    git(tree.directory, "commit", "--quiet", "-am", "by the agent")
    writeFileSync(join(tree.directory, "made.bin"), Buffer.from([0, 1, 2, 255]))
    rmSync(join(tree.directory, "gone.txt"))
    writeFileSync(join(place.cwd, "other.txt"), "the lead's\n")
    expect((await tree.changes()).files).toEqual(["gone.txt", "made.bin", "src/a.txt"])
    expect(readFileSync(join(place.cwd, "src/a.txt"), "utf8")).toBe("one\ntwo\nthree\n")
    expect(await tree.merge()).toEqual({ state: "merged", files: ["gone.txt", "made.bin", "src/a.txt"] })
    expect(readFileSync(join(place.cwd, "src/a.txt"), "utf8")).toBe("one\ntwo\nTHREE\n")
    expect([...readFileSync(join(place.cwd, "made.bin"))]).toEqual([0, 1, 2, 255])
    expect(existsSync(join(place.cwd, "gone.txt"))).toBe(false)
    expect(readFileSync(join(place.cwd, "other.txt"), "utf8")).toBe("the lead's\n")
    expect(git(place.cwd, "log", "--oneline").trim().split("\n")).toHaveLength(1)
  })

  test.runIf(isWhole)("where the lead changed the same lines, nothing is changed and nothing is lost", async () => {
    const place = repository()
    const tree = await Worktree.create(place)
    writeFileSync(join(tree.directory, "src/a.txt"), "one\nagent\nthree\n")
    writeFileSync(join(tree.directory, "fine.txt"), "fine\n")
    writeFileSync(join(place.cwd, "src/a.txt"), "one\nlead\nthree\n")
    expect(await tree.merge()).toEqual({ state: "conflict", reason: expect.stringContaining("src/a.txt") })
    expect(readFileSync(join(place.cwd, "src/a.txt"), "utf8")).toBe("one\nlead\nthree\n")
    expect(existsSync(join(place.cwd, "fine.txt"))).toBe(false)
    expect((await tree.changes()).files).toEqual(["fine.txt", "src/a.txt"])
  })

  test.runIf(isWhole)("another process finds it again; dropping it leaves no trace in the repository", async () => {
    const place = repository()
    const made = await Worktree.create(place)
    writeFileSync(join(made.directory, "src/a.txt"), "changed\n")
    const found = await Worktree.find(place)
    expect((await found!.changes()).files).toEqual(["src/a.txt"])
    await found!.drop()
    expect(existsSync(made.directory)).toBe(false)
    expect(await Worktree.find(place)).toBeUndefined()
    expect(git(place.cwd, "worktree", "list").trim().split("\n")).toHaveLength(1)
    expect(git(place.cwd, "for-each-ref", "refs/strata").trim()).toBe("")
  })

  test.runIf(isWhole)(
    "in a subdirectory it works at the same place; in a repository without a commit too",
    async () => {
      const place = repository()
      const below = { ...place, cwd: join(place.cwd, "src") }
      const tree = await Worktree.create(below)
      expect(readFileSync(join(tree.directory, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n")
      const empty = join(scratchDirectory(), "empty")
      mkdirSync(empty)
      git(empty, "init", "--quiet")
      writeFileSync(join(empty, "first.txt"), "first\n")
      const fresh = await Worktree.create({ ...place, cwd: empty, agent: "agent-2" })
      expect(readFileSync(join(fresh.directory, "first.txt"), "utf8")).toBe("first\n")
    },
  )

  test("nothing of the repository runs: hooks are left out, settings that start programs are refused", async () => {
    const place = repository()
    const trace = join(scratchDirectory(), "ran")
    writeFileSync(join(place.cwd, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${trace}\n`, { mode: 0o755 })
    const tree = await Worktree.create(place)
    expect(existsSync(trace)).toBe(false)
    writeFileSync(join(tree.directory, ".gitattributes"), "*.txt filter=evil\n")
    git(place.cwd, "config", "filter.evil.clean", `touch ${trace}`)
    await expect(tree.changes()).rejects.toThrow(/could make it start other programs/)
    await expect(Worktree.create({ ...place, agent: "agent-2" })).rejects.toThrow(WorktreeError)
    expect(existsSync(trace)).toBe(false)
  })

  test("ids never lead out of the directory, and outside git it says what to do", async () => {
    const place = repository()
    await expect(Worktree.create({ ...place, agent: "../../x" })).rejects.toThrow(/agent id/)
    const plain = scratchDirectory()
    await expect(Worktree.create({ ...place, cwd: plain })).rejects.toThrow(
      /not in a git repository.*without isolation/,
    )
  })

  test.runIf(isWhole)("GIT_DIR in the environment does not lead it to another repository", async () => {
    const place = repository()
    const other = repository()
    const tree = await Worktree.create({ ...place, env: { ...place.env, GIT_DIR: join(other.cwd, ".git") } })
    writeFileSync(join(tree.directory, "only-here.txt"), "x\n")
    expect((await tree.changes()).files).toEqual(["only-here.txt"])
    expect(git(other.cwd, "worktree", "list").trim().split("\n")).toHaveLength(1)
  })

  test("a link out of the project is never written through", async () => {
    const place = repository()
    const outside = scratchDirectory()
    symlinkSync(outside, join(place.cwd, "out"))
    const tree = await Worktree.create(place)
    rmSync(join(tree.directory, "out"))
    mkdirSync(join(tree.directory, "out"))
    writeFileSync(join(tree.directory, "out/a.txt"), "in place of the link\n")
    await tree.merge()
    expect(existsSync(join(outside, "a.txt"))).toBe(false)
  })

  test.runIf(isWhole)("files in any encoding are merged byte for byte", async () => {
    const place = repository()
    const latin = Buffer.from("caf\u00e9\n", "latin1")
    writeFileSync(join(place.cwd, "old.txt"), latin)
    const tree = await Worktree.create(place)
    writeFileSync(join(tree.directory, "old.txt"), Buffer.concat([latin, latin]))
    writeFileSync(join(tree.directory, "new.txt"), latin)
    expect(await tree.merge()).toMatchObject({ state: "merged", files: ["new.txt", "old.txt"] })
    expect(readFileSync(join(place.cwd, "new.txt"))).toEqual(latin)
    expect(readFileSync(join(place.cwd, "old.txt"))).toEqual(Buffer.concat([latin, latin]))
  })

  test.runIf(isWhole)("only what was looked at is merged", async () => {
    const place = repository()
    const tree = await Worktree.create(place)
    writeFileSync(join(tree.directory, "src/a.txt"), "seen\n")
    const { tree: seen } = await tree.changes()
    writeFileSync(join(tree.directory, "src/a.txt"), "not seen\n")
    expect(await tree.merge(seen)).toEqual({ state: "other" })
    expect(readFileSync(join(place.cwd, "src/a.txt"), "utf8")).toBe("one\ntwo\nthree\n")
    writeFileSync(join(tree.directory, "src/a.txt"), "seen\n")
    expect(await tree.merge(seen)).toMatchObject({ state: "merged" })
  })

  test.runIf(isWhole)("a repository that the agent made inside is not merged as an empty directory", async () => {
    const place = repository()
    const tree = await Worktree.create(place)
    const inner = join(tree.directory, "inner")
    mkdirSync(inner)
    git(inner, "init", "--quiet")
    writeFileSync(join(inner, "work.txt"), "a day of work\n")
    git(inner, "add", "-A")
    git(inner, "commit", "--quiet", "-m", "inner")
    await expect(tree.merge()).rejects.toThrow("inner is a repository of its own")
    expect(existsSync(join(place.cwd, "inner"))).toBe(false)
    expect(existsSync(join(inner, "work.txt"))).toBe(true)
  })

  test.runIf(isWhole)("a file whose name is not UTF-8 is not merged: rules could not judge its path", async () => {
    const place = repository()
    const tree = await Worktree.create(place)
    const name = Buffer.concat([Buffer.from(`${tree.directory}/`), Buffer.from([0xe9, 0x2e, 0x74])])
    writeFileSync(name, "x\n")
    await expect(tree.merge()).rejects.toThrow("is not UTF-8")
  })
})
