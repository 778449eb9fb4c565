import { execFile } from "node:child_process"
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { temporaryRoot } from "../../test/journal-files.ts"
import { isWhole } from "../../test/size.ts"
import { realPath } from "./files.ts"
import { repositoryOf } from "./git.ts"

const run = promisify(execFile)

/** The repository's main directory, or the directory itself. */
async function identity(path: string): Promise<string> {
  const real = realPath(path) ?? path
  return (await repositoryOf(real))?.directory ?? real
}

async function place() {
  const { root, remove } = await temporaryRoot()
  onTestFinished(remove)
  const top = await realpath(root)
  const git = (cwd: string, ...args: string[]) =>
    run("git", ["-c", "protocol.file.allow=always", "-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd,
      env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    })
  async function repository(name: string): Promise<string> {
    const path = join(top, name)
    await mkdir(path)
    await git(path, "init", "-q")
    await git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path
  }
  return { top, git, repository, identity }
}

test("L5-10 every worktree and subdirectory of a repository is one repository, and two clones are two", async () => {
  const { top, git, repository, identity } = await place()
  const main = await repository("main")
  await git(main, "worktree", "add", "-q", "../tree", "-b", "side")
  await git(top, "clone", "-q", "main", "clone")
  await mkdir(join(main, "src", "deep"), { recursive: true })
  await mkdir(join(top, "tree", "src"))
  for (const path of [main, join(main, "src/deep"), join(top, "tree"), join(top, "tree/src"), join(main, ".git")])
    expect(await identity(path)).toBe(main)
  expect(await identity(join(top, "clone"))).toBe(join(top, "clone"))
  await symlink(join(top, "tree"), join(top, "alias"))
  expect(await identity(join(top, "alias"))).toBe(main)
})

test.runIf(isWhole)(
  "L5-10 submodules and bare repositories are repositories of their own, with their worktrees",
  async () => {
    const { top, git, repository, identity } = await place()
    await repository("part")
    const main = await repository("main")
    await git(main, "submodule", "--quiet", "add", "../part", "sub")
    await git(join(main, "sub"), "worktree", "add", "-q", "../../sub-tree", "-b", "side")
    expect(await identity(join(main, "sub"))).toBe(join(main, "sub"))
    expect(await identity(join(top, "sub-tree"))).toBe(join(main, "sub"))
    await git(top, "clone", "-q", "--bare", "main", "bare.git")
    await git(join(top, "bare.git"), "worktree", "add", "-q", "../bare-tree", "-b", "side")
    expect(await identity(join(top, "bare.git"))).toBe(join(top, "bare.git"))
    expect(await identity(join(top, "bare-tree"))).toBe(join(top, "bare.git"))
  },
)

test("L5-10 outside git there is no repository", async () => {
  const { top, identity } = await place()
  await mkdir(join(top, "plain", "inner"), { recursive: true })
  await symlink(join(top, "plain"), join(top, "link"))
  expect(await identity(join(top, "link"))).toBe(join(top, "plain"))
  expect(await identity(join(top, "plain/inner"))).toBe(join(top, "plain/inner"))
  expect(await identity(join(top, "missing"))).toBe(join(top, "missing"))
})

test("L5-10 a .git file belongs to another repository only if that repository lists this worktree", async () => {
  const { top, git, repository, identity } = await place()
  const victim = await repository("victim")
  await git(victim, "worktree", "add", "-q", "../tree", "-b", "side")
  const pointers = [
    `gitdir: ${victim}/.git`,
    `gitdir: ${victim}/.git/worktrees/tree`,
    `gitdir: ../hostile-1/fake`,
    "gitdir: /nowhere",
    "broken",
    "",
    `gitdir: ${"x".repeat(100_000)}`,
  ]
  for (const [at, pointer] of pointers.entries()) {
    const hostile = join(top, `hostile-${at}`)
    await mkdir(join(hostile, "fake", "worktrees"), { recursive: true })
    await writeFile(join(hostile, ".git"), pointer)
    await writeFile(join(hostile, "fake", "commondir"), `${victim}/.git\n`)
    await writeFile(join(hostile, "fake", "gitdir"), `${hostile}/.git\n`)
    expect(await identity(hostile)).toBe(hostile)
  }
  await mkdir(join(top, "linked"))
  await symlink(join(victim, ".git"), join(top, "linked", ".git"))
  expect(await identity(join(top, "linked"))).toBe(join(top, "linked"))
})

test("L5-10 a bare repository among the files of another one is only files of it", async () => {
  const { top, git, repository, identity } = await place()
  const main = await repository("main")
  const bare = join(main, "fixtures", "bare")
  await git(top, "clone", "-q", "--bare", "main", bare)
  await git(bare, "remote", "set-url", "origin", "https://example.com/another/project.git")
  for (const path of [bare, join(bare, "refs")]) expect(await repositoryOf(path)).toMatchObject({ directory: main })
  await git(bare, "init", "-q", "--bare", "inner")
  expect(await identity(join(bare, "inner"))).toBe(main)
})
