import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { needs } from "../../test/needs.ts"
import { isWhole, size } from "../../test/size.ts"
import { isSafeId, projectName } from "./clock.ts"
import { namespaceFor } from "./owner.ts"
import { projectAt } from "./project.ts"

const env = { PATH: process.env.PATH }
const ACME = "git@github.com:acme/shop.git"

function directory(): string {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "strata-")))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  return top
}

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always", ...args], {
    ...{ cwd, stdio: ["ignore", "pipe", "ignore"], encoding: "utf8" },
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  })

/** Creates a repository with a first commit of its own. */
function repository(path: string, remote?: string, message = path): string {
  mkdirSync(path, { recursive: true })
  git(path, "init", "-q")
  git(path, "commit", "-q", "--allow-empty", "-m", message)
  if (remote !== undefined) git(path, "remote", "add", "origin", remote)
  return path
}

const at = (cwd: string, more: Partial<Parameters<typeof projectAt>[0]> = {}) => projectAt({ cwd, env, ...more })
const nameAt = async (cwd: string) => (await at(cwd)).name

test("BEY-12 two clones at two paths are one project, by their remote or by their first commit", async () => {
  const top = directory()
  const [one, two] = [repository(join(top, "one"), ACME), repository(join(top, "two"), "https://github.com/acme/shop")]
  expect(await at(one)).toMatchObject({ from: "remote", title: "github.com/acme/shop", directory: one })
  expect(await nameAt(one)).toMatch(/^github-com-acme-shop-[0-9a-f]{8}$/)
  expect(await nameAt(two)).toBe(await nameAt(one))
  const local = repository(join(top, "local"))
  git(top, "clone", "-q", "local", "copy")
  expect(await at(local)).toMatchObject({ from: "root-commit" })
  expect(await nameAt(join(top, "copy"))).toBe(await nameAt(local))
})

test.runIf(isWhole)("BEY-12 the same path with two projects in turn is two projects", async () => {
  const app = join(directory(), "app")
  const names: string[] = []
  for (const remote of [ACME, "git@github.com:acme/other.git", undefined, undefined]) {
    repository(app, remote, `project ${names.length}`)
    names.push(await nameAt(app))
    rmSync(app, { recursive: true })
  }
  expect(new Set(names).size).toBe(4)
})

test.runIf(isWhole)(
  "BEY-12 L5-10 worktrees and subdirectories are the project, a submodule is one of its own, and home is not the project of all below",
  async () => {
    const top = directory()
    const main = repository(join(top, "main"))
    git(main, "worktree", "add", "-q", "../tree", "-b", "side")
    repository(join(top, "part"))
    git(main, "submodule", "--quiet", "add", "../part", "sub")
    mkdirSync(join(main, "src"))
    const name = await nameAt(main)
    for (const path of [join(main, "src"), join(top, "tree")])
      expect(await at(path)).toMatchObject({ name, directory: main })
    expect(await nameAt(join(main, "sub"))).not.toBe(name)
    expect(await nameAt(join(main, "sub"))).toBe(await nameAt(join(top, "part")))
    const home = { env: { ...env, HOME: main } }
    expect(await at(join(main, "src"), home)).toMatchObject({ from: "path", name: projectName(join(main, "src")) })
    expect(await at(main, home)).toMatchObject({ from: "root-commit", name })
  },
)

test("BEY-12 without a remote, a shallow clone, a repository without a commit and a directory outside git have the path", async () => {
  const top = directory()
  const main = repository(join(top, "main"))
  git(main, "commit", "-q", "--allow-empty", "-m", "second")
  git(top, "clone", "-q", "--depth", "1", `file://${main}`, "shallow")
  mkdirSync(join(top, "empty"))
  git(join(top, "empty"), "init", "-q")
  mkdirSync(join(top, "plain"))
  for (const path of ["shallow", "empty", "plain"].map((name) => join(top, name)))
    expect(await at(path)).toMatchObject({ from: "path", name: projectName(path), formerNames: [] })
  git(join(top, "shallow"), "remote", "set-url", "origin", ACME)
  expect(await at(join(top, "shallow"))).toMatchObject({ from: "remote" })
})

test("BEY-12 where git is missing, or is a program of the repository, the path names it", async () => {
  const main = repository(join(directory(), "main"))
  writeFileSync(join(main, "git"), `#!/bin/sh\ntouch ${main}/ran\n`)
  chmodSync(join(main, "git"), 0o755)
  for (const PATH of ["/nowhere", ".", "", `.:${"/nowhere"}`])
    expect(await at(main, { env: { PATH } })).toMatchObject({ from: "path" })
  expect(existsSync(join(main, "ran"))).toBe(false)
})

test("SEC-1 BEY-12 nothing that a repository's settings name is run", async () => {
  const top = directory()
  const main = repository(join(top, "main"))
  const ran = join(top, "ran")
  const script = join(top, "script")
  writeFileSync(script, `#!/bin/sh\necho "$0 $@" >> ${ran}\n`)
  chmodSync(script, 0o755)
  for (const hook of ["post-index-change", "post-checkout", "reference-transaction"])
    symlinkSync(script, join(main, ".git/hooks", hook))
  writeFileSync(
    join(top, "included"),
    `[core]\n\tfsmonitor = ${script}\n\tsshCommand = ${script}\n\taskPass = ${script}\n`,
  )
  const hostile = `[include]
	path = ${join(top, "included")}
[alias]
	rev-list = "!${script}"
[core]
	fsmonitor = ${script}
	sshCommand = ${script}
	pager = ${script}
	gitProxy = ${script}
	alternateRefsCommand = ${script}
	hooksPath = ${join(main, ".git/hooks")}
	editor = ${script}
[pager]
	rev-list = ${script}
[credential]
	helper = ${script}
[protocol]
	allow = always
[protocol "ext"]
	allow = always
[extensions]
	partialClone = promised
[remote "promised"]
	url = ext::${script}
	promisor = true
	partialclonefilter = blob:none
	uploadpack = ${script}
[gpg]
	program = ${script}
[filter "x"]
	clean = ${script}
`
  appendFileSync(join(main, ".git/config"), hostile)
  const before = git(main, "rev-parse", "HEAD").trim()
  expect(before).toMatch(/^[0-9a-f]{40}$/)
  rmSync(ran, { force: true })
  expect(await at(main)).toMatchObject({ from: "root-commit" })
  // a missing object would be fetched from the promised remote
  const second = git(main, "commit-tree", `${before}^{tree}`, "-p", before, "-m", "second").trim()
  writeFileSync(join(main, ".git/HEAD"), `${second}\n`)
  rmSync(join(main, ".git/objects", before.slice(0, 2), before.slice(2)), { force: true })
  rmSync(ran, { force: true })
  const moved = join(top, "moved")
  execFileSync("mv", [main, moved])
  expect(await at(moved)).toMatchObject({ from: "path" })
  expect(existsSync(ran) ? readFileSync(ran, "utf8") : "").toBe("")
})

test("SEC-1 BEY-12 a password in a remote is in no name and no title", async () => {
  const main = repository(join(directory(), "main"), "https://ada:hunter2secret@github.com/acme/shop.git")
  const project = await at(main)
  expect(project).toMatchObject({ from: "remote", title: "github.com/acme/shop" })
  expect(JSON.stringify(project)).not.toContain("hunter2")
})

test("SEC-1 BEY-12 a repository of another user does not name itself", needs("root"), async () => {
  const top = directory()
  for (const main of [repository(join(top, "one"), ACME), repository(join(top, "two"))]) {
    chownSync(main, 12_345, 12_345)
    chownSync(join(main, ".git"), 12_345, 12_345)
    expect(await at(main)).toMatchObject({ from: "path", name: projectName(main) })
  }
})

test("SEC-1 BEY-12 a .git that points to another repository does not take its name", async () => {
  const top = directory()
  const victim = repository(join(top, "victim"), ACME)
  const hostile = join(top, "hostile")
  mkdirSync(hostile)
  writeFileSync(join(hostile, ".git"), `gitdir: ${victim}/.git\n`)
  expect(await at(hostile)).toMatchObject({ from: "path" })
  rmSync(join(hostile, ".git"))
  symlinkSync(join(victim, ".git"), join(hostile, ".git"))
  expect(await at(hostile)).toMatchObject({ from: "path" })
})

test("BEY-12 an option counts before the variable, the variable before the remote, and one text is one project", async () => {
  const top = directory()
  const main = repository(join(top, "main"), ACME)
  const named = { env: { ...env, STRATA_PROJECT: "shop" } }
  expect(await at(main, named)).toMatchObject({ from: "environment", title: "shop", directory: main })
  expect(await at(main, { ...named, project: "other" })).toMatchObject({ from: "option", title: "other" })
  expect((await at(top, { project: "shop" })).name).toBe((await at(main, named)).name)
  expect(await at(main, { env: { ...env, STRATA_PROJECT: " " } })).toMatchObject({ from: "remote" })
  expect((await at(main)).formerNames).toEqual([projectName(main)])
  mkdirSync(join(main, "src"))
  symlinkSync(join(main, "src"), join(top, "link"))
  expect((await at(join(top, "link"))).formerNames).toEqual(
    [main, join(main, "src"), join(top, "link")].map(projectName),
  )
})

test.runIf(isWhole)(
  "BEY-12 names are safe, and never equal for different identities: given names, remotes and paths",
  async () => {
    const top = directory()
    const main = repository(join(top, "main"))
    const remoteName = async (address: string) => {
      git(main, "config", "remote.origin.url", `https://${address}`)
      return nameAt(main)
    }
    const seen = new Map<string, string>()
    const check = (name: string, identity: string) => {
      expect(isSafeId(namespaceFor(name, undefined))).toBe(true)
      expect(name).not.toContain("_")
      expect(seen.get(name.toLowerCase()) ?? identity).toBe(identity)
      seen.set(name.toLowerCase(), identity)
    }
    const word = fc.stringMatching(/^[a-c.-]{1,4}$/).filter((text) => !/^\.|\.$|\.\.|^-/.test(text))
    const text = fc.oneof(
      fc.string({ unit: "binary", minLength: 1 }),
      word,
      fc.constantFrom("a/b", "a-b", "a b", "A-b", "-a-b"),
    )
    await fc.assert(
      fc.asyncProperty(text, async (given) => {
        if (given.trim() === "") return
        check((await at(top, { project: given })).name, `given ${given.trim()}`)
        check(projectName(`/${given}`), `path ${projectName(`/${given}`).toLowerCase()}`)
      }),
      { numRuns: size(60, 300) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 2, maxLength: 3 }), async (parts) => {
        const address = `host.example/${parts.join("/")}`
        const name = await remoteName(address)
        const project = await at(main)
        check(name, `remote ${project.title}`)
        check((await at(top, { project: name })).name, `given ${name}`)
        check((await at(top, { project: project.title })).name, `given ${project.title}`)
      }),
      { numRuns: size(6, 25) },
    )
  },
)
