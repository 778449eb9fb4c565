import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { quietGit } from "./quiet-git.ts"

let root = ""
let clone = ""
let ran = ""
let own: Readonly<Record<string, string>> = {}

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-quiet-git-")))
  clone = join(root, "clone")
  ran = join(root, "ran")
  own = { PATH: process.env.PATH ?? "", HOME: root, GIT_CONFIG_NOSYSTEM: "1" }
  mkdirSync(join(clone, "hooks-of-clone"), { recursive: true })
  for (const path of ["run", "hooks-of-clone/post-index-change"]) {
    writeFileSync(join(clone, path), `#!/bin/sh\ntouch '${ran}'\n`)
    chmodSync(join(clone, path), 0o755)
  }
  git(own, "init", "-q")
  git(own, "config", "user.name", "a")
  git(own, "config", "user.email", "a@b")
  for (const name of ["f", "unchanged"]) writeFileSync(join(clone, name), "one\n")
  git(own, "add", "f", "unchanged")
  git(own, "commit", "-qm", "first")
  writeFileSync(join(clone, "f"), "two\n")
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function git(env: Readonly<Record<string, string>>, ...args: readonly string[]): string {
  try {
    return execFileSync("git", args, { cwd: clone, env, encoding: "utf8", stdio: "pipe", timeout: 10_000 })
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? "")
  }
}

let time = 1_000_000

const runsWith = (env: Readonly<Record<string, string>>, ...args: readonly string[]): boolean => {
  rmSync(ran, { force: true })
  time++
  utimesSync(join(clone, "unchanged"), time, time) // the index has another time, so git rewrites it
  git(env, ...args)
  return existsSync(ran)
}

test.each([
  ["fsmonitor", ["core.fsmonitor", "./run"], ["status"]],
  ["a hook", ["core.hooksPath", "hooks-of-clone"], ["describe", "--always", "--dirty"]],
  ["gpg", ["gpg.program", "./run"], ["log", "--format=%G?"]],
])("PERM-4 git in a quiet environment does not run %s of the repository", (_, setting, command) => {
  git(own, "config", ...setting)
  if (setting[0] === "gpg.program") signLastCommit()
  expect(runsWith(own, ...command)).toBe(true)
  expect(runsWith(quietGit(own), ...command)).toBe(false)
})

/** Adds a signature header to the last commit. git starts its program for any such header. */
function signLastCommit(): void {
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n"
  const text = git(own, "cat-file", "commit", "HEAD").replace("\n\n", `\n${signature}\n`)
  const id = execFileSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], {
    cwd: clone,
    env: own,
    input: text,
    encoding: "utf8",
  }).trim()
  git(own, "update-ref", "HEAD", id)
}

test("PERM-4 git in a quiet environment fetches nothing for a partial clone", () => {
  git(own, "config", "core.repositoryformatversion", "1")
  git(own, "config", "extensions.partialClone", "far")
  git(own, "config", "remote.far.promisor", "true")
  git(own, "config", "remote.far.url", `ext::${join(clone, "run")}`)
  git(own, "config", "protocol.ext.allow", "always")
  const missing = "1234567890123456789012345678901234567890"
  expect(runsWith(own, "cat-file", "-p", missing)).toBe(true)
  expect(runsWith(quietGit(own), "cat-file", "-p", missing)).toBe(false)
})

test("PERM-4 a directory that looks like a repository is not one in a quiet environment", () => {
  git(own, "init", "-q", "--bare", "inner")
  expect(git(own, "-C", "inner", "rev-parse", "--is-bare-repository")).toBe("true\n")
  expect(git(quietGit(own), "-C", "inner", "rev-parse", "--is-bare-repository")).toBe("")
})

test("PERM-4 variables of git's own do not reach it", () => {
  const obeyed = { ...own, GIT_EXTERNAL_DIFF: "./run", GIT_TRACE: join(root, "trace"), git_dir: "x" }
  expect(runsWith(obeyed, "diff")).toBe(true)
  expect(existsSync(join(root, "trace"))).toBe(true)
  rmSync(join(root, "trace"))
  expect(runsWith(quietGit(obeyed), "diff")).toBe(false)
  expect(existsSync(join(root, "trace"))).toBe(false)
  expect(git(quietGit(obeyed), "diff")).toContain("+two")
})
