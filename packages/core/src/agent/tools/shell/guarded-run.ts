/**
 * Prepares the environment and sandbox of a command. An unapproved command is guarded, so that a misjudged command causes a wrong result
 * and no damage: if the system has a sandbox, it runs with read-only files and no network. On every system it gets a reduced environment, a
 * PATH that only the user and root can write to, and no side effects of git.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { realPath, statIfReachable } from "../../../base/files.ts"
import { repositoryRoot } from "../../../base/git.ts"
import type { Confinement } from "../../../tools/command.ts"
import type { ToolContext } from "../../../tools/tool.ts"
import { commandFacts, filesTouched } from "./command/command-facts.ts"
import { defaultConfinement } from "./confinement.ts"
import { quietGit } from "./quiet-git.ts"
import { RUNTIME_DIRECTORIES } from "./sandbox/bubblewrap.ts"
import { CREDENTIAL_PATHS } from "./sandbox/credential-paths.ts"
import { type Enclosure, type HiddenPath, isWithin, mountsOf } from "./sandbox/enclosure.ts"
import { type Sandbox, systemSandbox } from "./sandbox/sandbox.ts"
import { type EnvironmentOptions, neededEnvironment, shellEnvironment } from "./shell-environment.ts"
import type { ShellCommand } from "./shell-process.ts"
import { trustedPath } from "./trusted-path.ts"

const COMMAND_WAIT_MS = 10_000 // time without output and work after which a command counts as waiting for an absent user

export interface RunContext {
  /** The project directory, which approved commands may write. */
  readonly project: string
  readonly environment: EnvironmentOptions
}

export interface PreparedRun {
  readonly env: Readonly<Record<string, string>>
  readonly sandbox?: ShellCommand["sandbox"]
  /** Time without output and work after which the command is ended. */
  readonly waitMs?: number
  /** Removes temporary files of the run. */
  release(): void
}

/** Whether unapproved commands run in a sandbox here. */
export async function runsUnapprovedInSandbox(context: ToolContext): Promise<boolean> {
  const { sandbox } = context.confinement?.() ?? defaultConfinement(context.env)
  return sandbox !== "off" && (await systemSandbox()).state === "ready"
}

export async function prepareRun(command: string, context: ToolContext, place: RunContext): Promise<PreparedRun> {
  const confinement = context.confinement?.() ?? defaultConfinement(context.env)
  const { sandbox: mode } = confinement
  const env = context.unapproved ? guardedEnvironment(context, place) : shellEnvironment(context.env, place.environment)
  const run = { env, ...(context.unapproved ? { waitMs: COMMAND_WAIT_MS } : {}), release: () => undefined }
  if (mode === "off" || (mode === "unasked" && !context.unapproved)) return run
  const sandbox = await systemSandbox()
  if (sandbox.state === "missing") return run
  const enclosed = context.unapproved
    ? readOnlyView(command, context, { ...place, ...confinement })
    : projectView(context, { ...place, ...confinement })
  return enterSandbox(sandbox, enclosed, run)
}

/** Environment of an unapproved command: program names resolve to the judged programs, and git starts nothing else. */
function guardedEnvironment({ env }: ToolContext, { project }: RunContext): Readonly<Record<string, string>> {
  const home = env.HOME === undefined ? {} : { home: env.HOME }
  const PATH = trustedPath(env.PATH, { project, ...home }).join(":")
  return quietGit({ ...neededEnvironment(env), PATH })
}

type SandboxView = Omit<Enclosure, "scratch">

/** Directories in `/` that belong to the system. Others may contain users' data: `/data`, `/work`, a mount. */
const SYSTEM_DIRECTORIES = new Set(
  `bin boot dev etc gnu lib lib32 lib64 libx32 nix opt proc run sbin snap sys usr var Applications Library System cores private`.split(
    " ",
  ),
)

/** Directories with files of users and services. */
const PRIVATE_DIRECTORIES = [
  "/home",
  "/Users",
  "/root",
  "/mnt",
  "/media",
  "/Volumes",
  "/srv",
  "/var/lib",
  "/var/log",
  "/var/spool",
]
const SYSTEM_SECRETS = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private"]
/** Files in the home directory that remain visible: git's configuration, which reading programs need. */
const VISIBLE_HOME_FILES = [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"]

/**
 * View for unapproved commands: nothing is writable, and of the user's files only the project and the files that a rule allows are visible.
 * So effects beyond what was judged are harmless. Of Strata's own directory, only the readable part is visible.
 */
function readOnlyView(
  command: string,
  context: ToolContext,
  { project, root, readable }: RunContext & Confinement,
): SandboxView {
  const { env } = context
  const home = env.HOME ?? homedir()
  const directory = realDirectory(context)
  const judged = filesTouched(commandFacts(command, { directory, env }))
  const own = realPath(root) ?? root
  const top = repositoryOf(project, home)
  const places = [
    ...[
      home,
      ...userDirectories(),
      ...aroundProject(top),
      ...PRIVATE_DIRECTORIES,
      ...SYSTEM_SECRETS,
      ...RUNTIME_DIRECTORIES.hidden,
      root,
    ],
    ...CREDENTIAL_PATHS.map((name) => join(home, name)), // needed if the project is the home directory
  ]
  return {
    directory,
    hidden: hiddenPaths(places),
    visible: [
      ...existing([...RUNTIME_DIRECTORIES.shown, ...VISIBLE_HOME_FILES.map((name) => join(home, name)), ...readable]),
      ...existing(programDirectories(context, project)),
      ...existing([...judged, project, directory, top, ...sharedRepository(top)]).filter(
        (path) => !isWithin(path, own),
      ),
    ],
    writable: [],
    hasNetwork: false,
  }
}

/**
 * Root of the repository that contains the project, because git shows its content anyway. The project itself if that root is the home
 * directory or a parent of it.
 */
function repositoryOf(project: string, home: string): string {
  const top = repositoryRoot(project, { home })
  return isWithin(realPath(home) ?? home, realPath(top) ?? top) ? project : top
}

/** Top-level directories that may contain users' data. Symbolic links are skipped, because their targets are checked themselves. */
const userDirectories = (): readonly string[] =>
  readdirSync("/", { withFileTypes: true }).flatMap((entry) =>
    SYSTEM_DIRECTORIES.has(entry.name) || entry.isSymbolicLink() ? [] : [`/${entry.name}`],
  )

/** The parent directory of the project, which may contain other projects: `/opt/company`, `/var/www`. */
function aroundProject(project: string): readonly string[] {
  const around = dirname(realPath(project) ?? project)
  return SYSTEM_DIRECTORIES.has(around.slice(1)) || isWithin("/usr/bin", around) ? [] : [around]
}

/** Directories of programs that version managers install in the home directory: the parent of `bin`, with its libraries. */
function programDirectories({ env }: ToolContext, project: string): readonly string[] {
  const home = env.HOME ?? homedir()
  return trustedPath(env.PATH, { project, home }).map((directory) => {
    const around = dirname(directory)
    const isOwn = basename(directory) === "bin" && dirname(around) !== realPath(home) && around !== realPath(home)
    return isOwn ? around : directory
  })
}

/** View for approved commands: the project and temporary files are writable, and the network is available. */
function projectView(context: ToolContext, { project, root, readable }: RunContext & Confinement): SandboxView {
  const directory = realDirectory(context)
  const top = repositoryRoot(project, { home: context.env.HOME })
  const writable = [
    project,
    top,
    ...sharedRepository(top),
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    context.env.TMPDIR ?? tmpdir(),
  ]
  return {
    directory,
    hidden: hiddenPaths([root]),
    visible: existing(readable),
    writable: existing(writable).filter((path) => path !== realPath(root)),
    hasNetwork: true,
  }
}

/** Real path of the working directory, because a symbolic link to it may be hidden. */
const realDirectory = ({ directory }: ToolContext): string => realPath(directory.get()) ?? directory.get()

const hiddenPaths = (paths: readonly string[]): readonly HiddenPath[] =>
  paths.flatMap((path) => {
    const real = realPath(path)
    return real === undefined || real === "/"
      ? []
      : [{ path: real, isDirectory: statIfReachable(real)?.isDirectory() ?? false }]
  })

const existing = (paths: readonly string[]): readonly string[] => [
  ...new Set(paths.flatMap((path) => realPath(path) ?? [])),
]

/**
 * The main repository of a linked worktree, which commits write to, if that repository refers back to it: a file in a clone can point
 * anywhere.
 */
function sharedRepository(top: string): readonly string[] {
  const dotGit = join(top, ".git")
  const linked = /^gitdir: (.+?)\s*$/.exec(textOf(dotGit))?.[1]
  if (linked === undefined || textOf(join(linked, "gitdir")).trim() !== dotGit) return []
  const common = dirname(dirname(linked)) // `<repository>/.git/worktrees/<name>`
  return statIfReachable(join(common, "objects"))?.isDirectory() ? [common] : []
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return "" // a directory, or missing
  }
}

function enterSandbox(sandbox: Extract<Sandbox, { state: "ready" }>, view: SandboxView, run: PreparedRun): PreparedRun {
  const { hasNamespaces } = sandbox
  const within = (scratch: string): PreparedRun => ({
    ...run,
    env: { ...run.env, TMPDIR: scratch },
    sandbox: { enter: sandbox.prefix({ ...view, scratch }), hasNamespaces },
  })
  if (view.writable.length > 0) return within(run.env.TMPDIR ?? "/tmp")
  if (!hasNamespaces) {
    const scratch = mkdtempSync(join(realPath(tmpdir()) ?? tmpdir(), "strata-scratch-"))
    return { ...within(scratch), release: () => rmSync(scratch, { recursive: true, force: true }) }
  }
  // if the project is `/tmp` itself, temporary files go elsewhere
  const around = mountsOf({ ...view, scratch: "" }).findLast(({ path }) => isWithin("/tmp", path))
  return within(around?.how === "hide" ? "/tmp" : "/dev/shm")
}
