/**
 * How a command runs: what it gets of the environment, and in which sandbox. A command that no one allowed is guarded, so that a mistake in
 * judging it costs a wrong answer and not the machine. It runs with files read-only and no network where the system has a sandbox, and
 * everywhere with a short environment, a PATH that only the person and root can write to, and git's side effects off.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { factsOf, realPath } from "../../../base/files.ts"
import { repositoryRoot } from "../../../base/git.ts"
import type { Confinement } from "../../../tools/command.ts"
import type { ToolContext } from "../../../tools/tool.ts"
import { commandFacts, filesTouched } from "./command/command-facts.ts"
import { defaultConfinement } from "./confinement.ts"
import { quietGit } from "./quiet-git.ts"
import { RUNTIME_PLACES } from "./sandbox/bubblewrap.ts"
import { CREDENTIAL_PLACES } from "./sandbox/credential-places.ts"
import { type Enclosure, type HiddenPlace, isWithin, mountsOf } from "./sandbox/enclosure.ts"
import { type Sandbox, systemSandbox } from "./sandbox/sandbox.ts"
import { type EnvironmentOptions, neededEnvironment, shellEnvironment } from "./shell-environment.ts"
import type { ShellCommand } from "./shell-process.ts"
import { trustedPath } from "./trusted-path.ts"

const COMMAND_WAIT_MS = 10_000 // without output and work: a command that waits for a person who is not there

export interface RunPlace {
  /** What the command may write, where it may write at all. */
  readonly project: string
  readonly environment: EnvironmentOptions
}

export interface PreparedRun {
  readonly env: Readonly<Record<string, string>>
  readonly sandbox?: ShellCommand["sandbox"]
  /** It ends after this time without output and work. */
  readonly waitMs?: number
  /** Removes what was made for it. */
  release(): void
}

/** Whether a command that no one allowed runs in a sandbox here. */
export async function runsUnaskedInSandbox(context: ToolContext): Promise<boolean> {
  const { sandbox } = context.confinement?.() ?? defaultConfinement(context.env)
  return sandbox !== "off" && (await systemSandbox()).state === "ready"
}

export async function prepareRun(command: string, context: ToolContext, place: RunPlace): Promise<PreparedRun> {
  const confinement = context.confinement?.() ?? defaultConfinement(context.env)
  const { sandbox: mode } = confinement
  const env = context.unasked ? guardedEnvironment(context, place) : shellEnvironment(context.env, place.environment)
  const run = { env, ...(context.unasked ? { waitMs: COMMAND_WAIT_MS } : {}), release: () => undefined }
  if (mode === "off" || (mode === "unasked" && !context.unasked)) return run
  const sandbox = await systemSandbox()
  if (sandbox.state === "missing") return run
  const enclosed = context.unasked
    ? readOnlyView(command, context, { ...place, ...confinement })
    : projectView(context, { ...place, ...confinement })
  return inside(sandbox, enclosed, run)
}

/** What runs under a bare name is what was judged, and git starts nothing else. */
function guardedEnvironment({ env }: ToolContext, { project }: RunPlace): Readonly<Record<string, string>> {
  const home = env.HOME === undefined ? {} : { home: env.HOME }
  const PATH = trustedPath(env.PATH, { project, ...home }).join(":")
  return quietGit({ ...neededEnvironment(env), PATH })
}

type View = Omit<Enclosure, "scratch">

/** The directories of `/` that belong to the system. What else is there is someone's: `/data`, `/work`, a mount. */
const SYSTEM_PLACES = new Set(
  `bin boot dev etc gnu lib lib32 lib64 libx32 nix opt proc run sbin snap sys usr var Applications Library System cores private`.split(
    " ",
  ),
)

/** Where people and services keep their files. */
const PRIVATE_PLACES = [
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
/** Of the home directory, a program that only reads needs how git is set up. */
const SHOWN_OF_HOME = [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"]

/**
 * No one said yes: nothing can be written, and of the person's files only the project is in view, with what a rule lets the command read.
 * So what the command does beyond what was judged can do no harm. Of Strata's own directory only what is readable is in view.
 */
function readOnlyView(
  command: string,
  context: ToolContext,
  { project, root, readable }: RunPlace & Confinement,
): View {
  const { env } = context
  const home = env.HOME ?? homedir()
  const directory = realDirectory(context)
  const judged = filesTouched(commandFacts(command, { directory, env }))
  const own = realPath(root) ?? root
  const top = repositoryOf(project, home)
  const places = [
    ...[
      home,
      ...placesOfPeople(),
      ...aroundProject(top),
      ...PRIVATE_PLACES,
      ...SYSTEM_SECRETS,
      ...RUNTIME_PLACES.hidden,
      root,
    ],
    ...CREDENTIAL_PLACES.map((name) => join(home, name)), // the project may be the home directory itself
  ]
  return {
    directory,
    hidden: hiddenPlaces(places),
    shown: [
      ...existing([...RUNTIME_PLACES.shown, ...SHOWN_OF_HOME.map((name) => join(home, name)), ...readable]),
      ...existing(programPlaces(context, project)),
      ...existing([...judged, project, directory, top, ...sharedRepository(top)]).filter(
        (path) => !isWithin(path, own),
      ),
    ],
    writable: [],
    hasNetwork: false,
  }
}

/** The top of the repository that the project is a part of: git shows what is in it anyway. Not where that is the home directory, or around it. */
function repositoryOf(project: string, home: string): string {
  const top = repositoryRoot(project, { home })
  return isWithin(realPath(home) ?? home, realPath(top) ?? top) ? project : top
}

/** Where a link leads is looked at there. */
const placesOfPeople = (): readonly string[] =>
  readdirSync("/", { withFileTypes: true }).flatMap((entry) =>
    SYSTEM_PLACES.has(entry.name) || entry.isSymbolicLink() ? [] : [`/${entry.name}`],
  )

/** Other projects next to this one: in `/opt/company`, `/var/www`. */
function aroundProject(project: string): readonly string[] {
  const around = dirname(realPath(project) ?? project)
  return SYSTEM_PLACES.has(around.slice(1)) || isWithin("/usr/bin", around) ? [] : [around]
}

/** Programs that a version manager keeps in the home directory: the directory of `bin`, with its libraries. */
function programPlaces({ env }: ToolContext, project: string): readonly string[] {
  const home = env.HOME ?? homedir()
  return trustedPath(env.PATH, { project, home }).map((directory) => {
    const around = dirname(directory)
    const isOwn = basename(directory) === "bin" && dirname(around) !== realPath(home) && around !== realPath(home)
    return isOwn ? around : directory
  })
}

/** Someone said yes: the project and temporary files can be written, and the network is as outside. */
function projectView(context: ToolContext, { project, root, readable }: RunPlace & Confinement): View {
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
    hidden: hiddenPlaces([root]),
    shown: existing(readable),
    writable: existing(writable).filter((path) => path !== realPath(root)),
    hasNetwork: true,
  }
}

/** A link to it may be in a hidden place. */
const realDirectory = ({ directory }: ToolContext): string => realPath(directory.get()) ?? directory.get()

const hiddenPlaces = (paths: readonly string[]): readonly HiddenPlace[] =>
  paths.flatMap((path) => {
    const real = realPath(path)
    return real === undefined || real === "/"
      ? []
      : [{ path: real, isDirectory: factsOf(real)?.isDirectory() ?? false }]
  })

const existing = (paths: readonly string[]): readonly string[] => [
  ...new Set(paths.flatMap((path) => realPath(path) ?? [])),
]

/** A linked worktree commits into the repository it belongs to, if that one names it: a file in a clone can point anywhere. */
function sharedRepository(top: string): readonly string[] {
  const dotGit = join(top, ".git")
  const linked = /^gitdir: (.+?)\s*$/.exec(textOf(dotGit))?.[1]
  if (linked === undefined || textOf(join(linked, "gitdir")).trim() !== dotGit) return []
  const common = dirname(dirname(linked)) // `<repository>/.git/worktrees/<name>`
  return factsOf(join(common, "objects"))?.isDirectory() ? [common] : []
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return "" // a directory, or nothing
  }
}

function inside(sandbox: Extract<Sandbox, { state: "ready" }>, view: View, run: PreparedRun): PreparedRun {
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
  // a project that is `/tmp` itself is shown there, so temporary files go elsewhere
  const around = mountsOf({ ...view, scratch: "" }).findLast(({ path }) => isWithin("/tmp", path))
  return within(around?.how === "hide" ? "/tmp" : "/dev/shm")
}
