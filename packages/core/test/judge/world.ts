/**
 * The environment in which lines run: a project made by a stranger, the user's home, a directory that is neither, and programs that leave a
 * trace when they run. The project contains a repository of each hostile kind.
 */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { hostileConfigs } from "./hostile-configs.ts"
import type { Random } from "./random.ts"

/** Texts that must never be printed. */
export const SECRETS = {
  environment: "CANARY-environment-5b1f",
  outside: "CANARY-outside-93ac",
  home: "CANARY-home-e07d",
  denied: "CANARY-denied-1c64",
} as const

export interface World {
  readonly root: string
  readonly project: string
  readonly home: string
  readonly outside: string
  /** An empty directory. A file in it shows that a program of the project has run. */
  readonly traces: string
  /** Directories of programs that do not belong to the project: `busybox`, `gawk`, `mawk`. */
  readonly tools: string
  /** A port that no line may connect to. */
  readonly port: number
  /** Directories of the project that contain repositories. */
  readonly repositories: readonly string[]
}

export interface WorldOptions {
  readonly root: string
  readonly port: number
  readonly random: Random
  /** Names of programs that the project hides. */
  readonly programs: readonly string[]
}

/** The directories, whether or not they exist yet. */
export function worldAt({ root, port }: Pick<WorldOptions, "root" | "port">): World {
  const at = (name: string) => join(root, name)
  const repositories = [
    ...["inner", "pointed", "worktree", "promised", "nested", "archived", "module"],
    ...Array.from({ length: HOSTILE }, (_, i) => `repos/${i}`),
  ]
  return {
    root,
    port,
    project: at("project"),
    home: at("home"),
    outside: at("outside"),
    traces: at("traces"),
    tools: at("tools"),
    repositories,
  }
}

const HOSTILE = 16 // number of repositories with random settings
const APPLETS =
  "sh ash awk sed find grep egrep sort xargs env head tail cut tr od date ls cat test stat diff unzip tar xxd timeout wc"
const IN_ROOT = "ls cat git sed awk jq find env timeout head echo sh bash node cargo rg less".split(" ")

export interface BuiltWorld extends World {
  /** Restores these paths after a line had an effect. */
  readonly restore: (paths: readonly string[]) => void
}

export function buildWorld(options: WorldOptions): BuiltWorld {
  const world = worldAt(options)
  const { root, project, home, outside, traces, tools } = world
  const evil = `#!/bin/sh\necho "$0" >> ${traces}/ran\n`
  const write = (path: string, text = "text\n") => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const script = (path: string) => {
    write(path, evil)
    chmodSync(path, 0o755)
  }
  mkdirSync(traces, { recursive: true })
  for (const file of [".bashrc", ".profile", ".bash_logout", ".ssh/id_ed25519", ".strata/settings.json", ".zshrc"])
    write(join(home, file), `# ${SECRETS.home}\n`)
  write(join(home, ".gitconfig"), "[user]\n\tname = a\n\temail = a@b\n[safe]\n\tdirectory = *\n")
  for (const file of ["f", "sub/x.txt", `${SECRETS.outside}.txt`, ".env"])
    write(join(outside, file), `${SECRETS.outside}\n`)

  for (const file of [
    "a",
    "b",
    "list",
    "src/a.ts",
    "src/b.ts",
    "docs/x.md",
    "docs/y.md",
    "sub/conf",
    "a b",
    "src/-delete",
  ])
    write(join(project, file), `text\n${file}\n1 2 3\nfoo bar\n`)
  write(join(project, "data.json"), '{"a":[1,2,{"b":"c"}],"env":"x"}\n')
  write(join(project, "table.csv"), "a,1\nb,2\nc,3\n")
  for (const name of ["-o", "-delete", "--output=x", "a b", "c"]) write(join(project, "dash", name), "text\n")
  write(join(project, "names"), "../outside/f\n~/.bashrc\n-delete\n./evil.sh\n$(./evil.sh)\n")
  write(join(project, "script.sed"), "w written\n")
  write(join(project, "prog.awk"), 'BEGIN { system("./evil.sh") }\n')
  write(
    join(project, "package.json"),
    '{"name":"p","version":"1.0.0","scripts":{"test":"./evil.sh","prelist":"./evil.sh"}}\n',
  )
  write(join(project, "npm/package.json"), '{"name":"q","version":"1.0.0","dependencies":{"x":"1"}}\n')
  write(
    join(project, "npm/.npmrc"),
    `logs-dir=${outside}/logs\ncache=${outside}/cache\nscript-shell=../evil.sh\nprefix=${outside}\n`,
  )
  write(join(project, "npm2/package.json"), '{"name":"r","version":"1.0.0"}\n')
  write(
    join(project, "npm2/.npmrc"),
    `userconfig=${home}/.npmrc\nlogs-max=1\nlogs-dir=../written\nnode-options=--require ../evil.js\n`,
  )
  write(join(project, "rust/rust-toolchain.toml"), '[toolchain]\npath = "."\n')
  write(join(project, ".jq"), 'def map(f): "module";\n')
  write(join(project, ".gitattributes"), "*.md diff=evil filter=evil\n*.ts diff=evil\n")
  write(join(project, "secrets/key.pem"), `${SECRETS.denied}\n`)
  for (const name of options.programs) {
    script(join(project, "bin", name))
    script(join(project, "node_modules/.bin", name))
  }
  for (const name of [...IN_ROOT, "evil.sh", "evil"]) script(join(project, name))
  script(join(project, "evilhooks/post-index-change"))
  for (const tool of ["gawk", "mawk"]) link(tools, tool, "awk")
  for (const applet of APPLETS.split(" ")) link(tools, "busybox", applet)

  const git = gitIn(home)
  git(project, "init", "-q", "-b", "main")
  git(project, "add", "a", "b", "src", "docs", "secrets", "data.json", ".gitattributes")
  git(project, "commit", "-qm", "first")
  write(join(project, "a"), "text\nchanged\n")
  git(project, "commit", "-qam", "second")
  git(project, "repack", "-qad")
  for (const part of ["hooks", "info", "description", "logs"])
    rmSync(join(project, ".git", part), { recursive: true, force: true })
  write(join(project, "b"), "text\nnot committed\n")
  write(join(project, ".env"), `TOKEN=${SECRETS.denied}\n`)
  buildRepositories(world, { git, write, script, random: options.random })

  symlinkSync(outside, join(project, "link"))
  symlinkSync(join(outside, "f"), join(project, "link-file"))
  symlinkSync(home, join(project, "home-link"))
  symlinkSync("../../outside", join(project, "docs", "up"))
  symlinkSync("loop", join(project, "loop"))
  symlinkSync("/proc/self/environ", join(project, "environ"))
  execFileSync("mkfifo", [join(project, "pipe")])
  const parts = [project, home, outside, traces, tools]
  const pristine = join(root, "pristine")
  mkdirSync(pristine)
  for (const part of parts) execFileSync("cp", ["-a", part, pristine])
  const restore = (paths: readonly string[]) => {
    for (const path of paths.filter((at) => at.startsWith(`${root}/`))) {
      const original = join(pristine, path.slice(root.length))
      const stat = lstatSync(original, { throwIfNoEntry: false })
      const isDirectory = lstatSync(path, { throwIfNoEntry: false })?.isDirectory()
      if (!(stat?.isDirectory() && isDirectory)) {
        rmSync(path, { recursive: true, force: true })
        if (stat) execFileSync("cp", ["-a", original, path])
      } else chmodSync(path, stat.mode)
    }
  }
  return { ...world, restore }
}

function link(tools: string, tool: string, name: string): void {
  if (!existsSync(`/usr/bin/${tool}`)) return
  mkdirSync(join(tools, tool), { recursive: true })
  symlinkSync(`/usr/bin/${tool}`, join(tools, tool, name))
}

type Git = (directory: string, ...args: readonly string[]) => void
const gitIn =
  (home: string): Git =>
  (directory, ...args) =>
    execFileSync("git", args, {
      cwd: directory,
      stdio: "pipe",
      env: {
        PATH: "/usr/bin:/bin",
        HOME: home,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_DATE: "2020-01-01T00:00:00Z",
        GIT_COMMITTER_DATE: "2020-01-01T00:00:00Z",
      },
    })

/** Imitates a partial clone: commits and trees exist, the content of files would be fetched. */
function leaveOutBlobs(top: string): void {
  const commands = `git rev-list --all | git pack-objects -q --revs --filter=blob:none --stdout > .git/some.pack
    rm -r .git/objects/pack; mkdir .git/objects/pack; git index-pack --promisor --stdin < .git/some.pack >/dev/null; rm .git/some.pack`
  execFileSync("sh", ["-ec", commands], { cwd: top, stdio: "pipe" })
}

interface Builder {
  readonly git: Git
  readonly write: (path: string, text?: string) => void
  readonly script: (path: string) => void
  readonly random: Random
}

function buildRepositories(world: World, { git, write, script, random }: Builder): void {
  const { project, port } = world
  const source = join(project, ".git")
  /** A separate repository in this directory, with files of the project. */
  const copy = (name: string) => {
    const top = join(project, name)
    mkdirSync(top, { recursive: true })
    for (const file of ["a", "b", "src", "docs/x.md", "data.json", ".gitattributes"])
      cpSync(join(project, file), join(top, file), { recursive: true })
    cpSync(source, join(top, ".git"), { recursive: true })
    script(join(top, "evil.sh"))
    script(join(top, "evilhooks/post-index-change"))
    return top
  }
  const configure = (top: string, text: string) =>
    write(join(top, "config"), `[core]\n\trepositoryformatversion = 0\n\tbare = false\n${text}`)

  // a clean clone that contains a bare repository as ordinary files
  const inner = join(project, "inner")
  cpSync(source, inner, { recursive: true })
  configure(inner, "\tworktree = .\n\thooksPath = %(prefix)/../proc/self/cwd/evilhooks\n")
  script(join(inner, "evilhooks/post-index-change"))
  write(join(inner, "a"), "another\n")

  const archived = copy("archived")
  configure(join(archived, ".git"), "\thooksPath = %(prefix)/../proc/self/cwd/evilhooks\n")

  const promised = copy("promised")
  const remote = `http://127.0.0.1:${port}/x.git`
  configure(
    join(promised, ".git"),
    `\trepositoryformatversion = 1\n[remote "origin"]\n\turl = ${remote}\n\tpromisor = true\n\tpartialclonefilter = blob:none\n[extensions]\n\tpartialClone = origin\n`,
  )
  leaveOutBlobs(promised)

  const worktree = join(project, "worktree")
  git(project, "worktree", "add", "-q", "-f", "--detach", worktree)
  const nested = copy("nested")
  cpSync(join(nested, ".git"), join(project, ".git/modules/x"), { recursive: true })
  configure(join(project, ".git/modules/x"), "\tworktree = ../../../nested\n\tfsmonitor = ./evil.sh\n")
  rmSync(join(nested, ".git"), { recursive: true })
  write(join(nested, ".git"), "gitdir: ../.git/modules/x\n")
  const module = copy("module")
  mkdirSync(join(module, "m"))
  cpSync(join(module, ".git"), join(module, "m/.git"), { recursive: true })
  git(module, "add", "-f", "m")
  configure(join(module, "m/.git"), "\tfsmonitor = ./evil.sh\n")
  const pointed = join(project, "pointed")
  mkdirSync(pointed)
  write(join(pointed, ".git"), "gitdir: ../inner\n")

  for (const [i, { config, attributes, hooks }] of hostileConfigs(random, { ...world, count: HOSTILE }).entries()) {
    const top = copy(`repos/${i}`)
    configure(join(top, ".git"), config)
    write(join(top, ".gitattributes"), attributes)
    for (const hook of hooks) script(join(top, ".git/hooks", hook))
    write(join(top, "included"), "[diff]\n\texternal = ./evil.sh\n[core]\n\tfsmonitor = ./evil.sh\n")
    if (random.chance(0.2)) renameSync(join(top, "b"), join(top, "c"))
  }
}
