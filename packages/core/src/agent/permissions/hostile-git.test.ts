/** Repositories from a clone or an archive that make git do more than expected. Each test first shows the effect. */
import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { isWhole } from "../../../test/size.ts"
import { commandFacts } from "../tools/shell/command/command-facts.ts"
import { quietGit } from "../tools/shell/quiet-git.ts"
import { judge } from "./permissions.ts"

let root = ""
let project = ""
let ran = ""
let env: Readonly<Record<string, string>> = {}
let time = 1
const SECRET = "kept-outside-the-project"

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "strata-hostile-git-")))
  project = join(root, "project")
  ran = join(root, "ran")
  env = { HOME: join(root, "home"), PATH: process.env.PATH ?? "/usr/bin", GIT_CONFIG_NOSYSTEM: "1" }
  for (const directory of [project, env.HOME!]) mkdirSync(directory)
  writeFileSync(join(root, "secret"), `${SECRET}\n`)
  repository(project)
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const git = (directory: string, ...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
    cwd: directory,
    env,
    stdio: "pipe",
    encoding: "utf8",
  })

function file(path: string, text: string, mode = 0o644): string {
  const at = join(project, path)
  mkdirSync(dirname(at), { recursive: true })
  writeFileSync(at, text)
  chmodSync(at, mode)
  return at
}
const program = (path: string) => file(path, `#!/bin/sh\ntouch '${ran}'\n`, 0o755)

/** Creates a repository with one commit and a change. */
function repository(at: string): void {
  mkdirSync(at, { recursive: true })
  git(at, "init", "-q")
  writeFileSync(join(at, "f"), "one\n")
  writeFileSync(join(at, "same"), "same\n")
  git(at, "add", "f", "same")
  git(at, "commit", "-qm", "first")
  writeFileSync(join(at, "f"), "two\n")
}
const configure = (at: string, text: string) =>
  writeFileSync(join(at, "config"), `${readFileSync(join(at, "config"), "utf8")}${text}\n`)

function judged(line: string) {
  const command = commandFacts(line, { directory: project, env })
  const question = { kind: "execute", summary: line, subject: line, command } as const
  const policy = {
    mode: "ask",
    allow: [],
    ask: [],
    deny: [],
    project,
    protectedDirectories: [],
    home: env.HOME!,
  } as const
  return judge({ tool: "Bash", isReadOnly: false, question }, policy)
}

function run(line: string, given: Readonly<Record<string, string>>): { harm: boolean; text: string } {
  rmSync(ran, { force: true })
  // git refreshes the index for files with a new time and unchanged content
  for (const at of ["same", "inner/same"].map((name) => join(project, name)))
    if (existsSync(at)) utimesSync(at, ++time, time)
  const { stdout, stderr } = spawnSync("bash", ["-c", line], { cwd: project, env: given, timeout: 10_000 })
  const text = `${stdout}${stderr}`
  return { harm: existsSync(ran) || text.includes(SECRET), text }
}

interface Expected {
  /** Whether only the analysis is tested, because some versions of git lack the effect. */
  readonly onlyJudge?: boolean
  /** Whether it prints a line of a file elsewhere, which the environment cannot prevent. */
  readonly prints?: boolean
}
function expectAsked(line: string, { onlyJudge = false, prints = false }: Expected = {}): void {
  if (!onlyJudge) expect(run(line, env).harm).toBe(true)
  expect(judged(line).verdict).toBe("ask")
  if (!prints) expect(run(line, quietGit(env)).harm).toBe(false)
}

test("PERM-4 an ordinary clone is not asked about", () => {
  mkdirSync(join(project, "sub"))
  for (const line of ["git status", "git diff", "git log -p -1", "git -C sub describe --always"]) {
    expect([line, judged(line)]).toMatchObject([line, { verdict: "allow" }])
    expect(run(line, quietGit(env)).text).not.toMatch(/^(?:error|fatal):/m)
  }
})

describe("PERM-4 a hook that a repository brings", () => {
  const HOOKS = "hookspath = %(prefix)/../proc/self/cwd/evilhooks"

  test.each(["git -C inner diff", "git -C inner describe --always --dirty", "cd inner && git diff"])(
    "in a bare repository inside the clone: %s",
    (line) => {
      repository(join(project, "made"))
      renameSync(join(project, "made", ".git"), join(project, "inner"))
      for (const [name, text] of [
        ["f", "two\n"],
        ["same", "same\n"],
      ] as const)
        file(`inner/${name}`, text)
      program("inner/evilhooks/post-index-change")
      configure(join(project, "inner"), `[core]\n\tbare = false\n\tworktree = .\n\t${HOOKS}`)
      expectAsked(line)
    },
  )

  test.each([HOOKS, "hookspath = evilhooks", "hookspath = ./evilhooks", 'hookspath = "evil"hooks'])(
    "by the settings of a .git from an archive: %s",
    (setting) => {
      program("evilhooks/post-index-change")
      configure(join(project, ".git"), `[core]\n\t${setting}`)
      expectAsked("git diff")
    },
  )

  test("the directories of husky and its like stay unasked", () => {
    for (const path of [".husky/_", ".githooks", join(project, ".git", "hooks")]) {
      git(project, "config", "core.hooksPath", path)
      expect(judged("git diff").verdict).toBe("allow")
    }
  })
})

describe("PERM-4 a repository that git finds and a reader of it might not", () => {
  const evil = (at: string) => {
    program("run")
    configure(at, `[core]\n\tfsmonitor = ${join(project, "run")}`)
  }

  test("its HEAD is a link that leads nowhere yet", () => {
    repository(join(project, "sub"))
    const at = join(project, "sub", ".git")
    evil(at)
    rmSync(join(at, "HEAD"))
    symlinkSync("refs/heads/none", join(at, "HEAD"))
    expectAsked("git -C sub status")
  })

  test("its objects and references are programs", () => {
    repository(join(project, "sub"))
    const at = join(project, "sub", ".git")
    evil(at)
    for (const name of ["objects", "refs", "logs"]) rmSync(join(at, name), { recursive: true })
    for (const name of ["objects", "refs"]) program(`sub/.git/${name}`)
    expectAsked("git -C sub status")
  })

  test("its .git file ends with a blank that belongs to the name", () => {
    repository(join(project, "sub"))
    const real = join(project, "real ")
    renameSync(join(project, "sub", ".git"), real)
    repository(join(project, "decoy"))
    renameSync(join(project, "decoy", ".git"), join(project, "real"))
    file("sub/.git", "gitdir: ../real \n")
    writeFileSync(join(project, "real", "gitdir"), join(project, "sub", ".git"))
    evil(real)
    expectAsked("git -C sub status")
  })

  test("its settings are in a directory whose name ends with a blank", () => {
    repository(join(project, "sub"))
    const at = join(project, "sub", ".git")
    git(join(project, "sub"), "worktree", "add", "-q", join(project, "tree"))
    const tree = join(at, "worktrees", "tree")
    renameSync(at, join(project, "common "))
    writeFileSync(join(project, "common ", "worktrees", "tree", "commondir"), "../../../common \n")
    repository(join(project, "decoy"))
    renameSync(join(project, "decoy", ".git"), join(project, "common"))
    mkdirSync(dirname(tree), { recursive: true })
    renameSync(join(project, "common ", "worktrees", "tree"), join(project, "moved"))
    writeFileSync(join(project, "moved", "commondir"), "../common \n")
    file("tree/.git", `gitdir: ${join(project, "moved")}\n`)
    evil(join(project, "common "))
    expectAsked("git -C tree status")
  })

  test("a pipe in place of a file is not waited for", () => {
    repository(join(project, "sub"))
    rmSync(join(project, "sub", ".git", "HEAD"))
    execFileSync("mkfifo", [join(project, "sub", ".git", "HEAD")])
    expect(judged("git -C sub status").verdict).toBe("ask")
  })
})

describe("PERM-4 a repository that reads elsewhere", () => {
  test.each(["packed-refs", "shallow", "objects/info/alternates", "info/attributes"])("%s is a link", (path) => {
    const at = join(project, ".git", path)
    rmSync(at, { force: true })
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(join(root, "secret"), at)
    expectAsked("git log -p", { prints: true, onlyJudge: path === "info/attributes" })
  })

  test("a working tree's name is in a linked file", () => {
    git(project, "worktree", "add", "-q", join(root, "tree"))
    const at = join(project, ".git", "worktrees", "tree", "gitdir")
    rmSync(at)
    symlinkSync(join(root, "secret"), at)
    expectAsked("git worktree list", { prints: true })
  })

  test("objects of another repository", () => {
    file(".git/objects/info/alternates", `${join(root, "other", ".git", "objects")}\n`)
    expect(judged("git log").verdict).toBe("ask")
  })
})

test("PERM-4 a partial clone may send requests to any address", () => {
  program("run")
  const blob = git(project, "rev-parse", "HEAD:f").trim()
  configure(
    join(project, ".git"),
    `[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialclone = far\n[remote "far"]\n\tpromisor = true\n\turl = ext::${join(project, "run")}\n[protocol "ext"]\n\tallow = always`,
  )
  rmSync(join(project, ".git", "objects", blob.slice(0, 2), blob.slice(2)), { force: true })
  expectAsked("git log -p")
})

test.each([
  '[remote "far"]\n\tpromisor = true',
  '[remote "far"]\n\tpartialclonefilter = blob:none',
  "[extensions]\n\tpartialclone = far",
  "[extensions]\n\tobjectformat = sha256",
  '[alias]\n\twhatchanged = "!./run"',
  "[alias]\n\tst = status",
  "[include]\n\tpath = ../x",
  '[includeIf "gitdir:/"]\n\tpath = ../x',
  "[core]\n\tfsmonitor = ./run",
  "[core]\n\tfsmonitor = true\u00a0",
  "[core]\n\tpager = ./run",
  "[core]\n\tsshcommand = ./run",
  "[core]\n\tworktree = .",
  "[core]\n\tworktree = ..",
  "[core]\n\tattributesfile = ../x",
  "[core]\n\texcludesfile = /etc/passwd",
  "[core.x]\n\tfsmonitor = ./run",
  "[core]\n\tabbrev = 7 # \\\n\tfsmonitor = ./run",
  "[core]\n\tbare = \\\nfalse",
  "[diff]\n\texternal = ./run",
  '[diff "x"]\n\ttextconv = ./run',
  '[diff "x"]\n\tcommand = ./run',
  "[diff]\n\torderfile = /etc/passwd",
  '[filter "lfs"]\n\tclean = git-lfs clean -- %f',
  '[filter "x"]\n\tprocess = ./run',
  '[merge "x"]\n\tdriver = ./run',
  "[gpg]\n\tprogram = ./run",
  '[gpg "ssh"]\n\tprogram = ./run',
  "[log]\n\tshowsignature = true",
  "[log]\n\tdiffmerges = remerge",
  "[format]\n\tpretty = format:%G?",
  "[pretty]\n\tx = %G?",
  "[branch]\n\tsort = signature",
  "[tag]\n\tsort = -signature",
  "[pager]\n\tlog = ./run",
  '[url "ext::./run "]\n\tinsteadof = https://',
  '[remote "a"]\n\turl = ext::./run',
  '[remote "a"]\n\tvcs = ext',
  '[remote "a"]\n\tuploadpack = ./run',
  '[submodule "a"]\n\tupdate = !./run',
  "[credential]\n\thelper = !./run",
  "[mailmap]\n\tfile = /etc/passwd",
  "[blame]\n\tignorerevsfile = /etc/passwd",
  "[status]\n\tsubmodulesummary = true",
  "[trace2]\n\teventtarget = x",
  "[hook]\n\tx = y",
])("PERM-4 a setting that is not known to be harmless asks: %j", (text) => {
  configure(join(project, ".git"), text)
  expect(judged("git status").verdict).toBe("ask")
})

test("PERM-4 settings for one working tree count like those of the repository", () => {
  git(project, "config", "extensions.worktreeConfig", "true")
  expect(judged("git status").verdict).toBe("allow")
  file(".git/config.worktree", "[core]\n\tfsmonitor = ./run\n")
  expect(judged("git status").verdict).toBe("ask")
})

test.runIf(isWhole)("PERM-4 what ordinary work leaves in a configuration is not asked about", () => {
  for (const setting of [
    ["remote.origin.url", "git@github.com:a/b.git"],
    ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
    ["branch.feature/x#1.remote", "origin"],
    ["branch.feature/x#1.merge", "refs/heads/feature/x#1"],
    ["branch.feature/x#1.vscode-merge-base", "origin/main"],
    ["user.name", "Zoë"],
    ["pull.rebase", "true"],
    ["push.autoSetupRemote", "true"],
    ["core.autocrlf", "input"],
    ["core.fsmonitor", "true"],
    ["core.sparseCheckout", "true"],
    ["color.ui", "always"],
    ["branch.main.rebase", "true"],
    ["submodule.vendor/x.url", "https://example.com/x.git"],
    ["submodule.vendor/x.active", "true"],
    ["lfs.https://example.com/a.git/info/lfs.access", "basic"],
    ["remote.fork.url", "ssh://git@example.com:22/~me/my repo.git"],
    ["gc.pruneExpire", "2.weeks.ago"],
    ["diff.algorithm", "histogram"],
    ["commit.gpgSign", "true"],
    ["http.https://github.com/.extraheader", "AUTHORIZATION: basic x"],
  ] as const)
    git(project, "config", ...setting)
  expect(judged("git status")).toMatchObject({ verdict: "allow" })
})

test("PERM-4 options that make a reading command start more, or answer otherwise than it would when asked", () => {
  const lines = [
    "git log --format=%G?",
    "git log --pretty='format:%h %+GG'",
    "git show --format '%-GK'",
    "git branch --format='%(signature:grade)'",
    "git for-each-ref --sort=-signature",
    "git for-each-ref --format='%(*signature)'",
    "git show --remerge-diff",
    "git log --diff-merges=remerge",
    "git log --show-signature",
    "git whatchanged -p",
    "git -c core.fsmonitor=true status",
    "git -c core.hooksPath=x diff",
    "git -c safe.bareRepository=all status",
    "git -c protocol.allow=always log",
    "git -c gpg.program=./x log",
    "git config core.hooksPath",
    "git config --get core.fsmonitor",
    "git --git-dir=.git status",
    "git --exec-path=. status",
    "git ls-remote",
    "git archive HEAD",
    "git cat-file --textconv HEAD:f",
    "GIT_OPTIONAL_LOCKS=1 git status",
    "env -u GIT_CONFIG_COUNT git status",
  ]
  expect(lines.filter((line) => judged(line).verdict === "allow")).toEqual([])
  const harmless = ["git -c core.pager=cat log", "git -c core.fsmonitor=false status"]
  expect(harmless.filter((line) => judged(line).verdict !== "allow")).toEqual([])
})
