/**
 * Which directories of PATH count. A bare name (`ls`) is the program that the judge of commands knows only if no one but the person and root
 * can change the file, the links to it, or a directory above it, and if it is in neither the project nor a directory for temporary files.
 * Commands that no one was asked about run with these directories as their PATH, so what was judged is what runs.
 */
import { accessSync, constants, existsSync, lstatSync, readFileSync, readlinkSync, type Stats, statSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname, isAbsolute, join, resolve, sep } from "node:path"

/** Where the environment has no PATH, bash takes one of its own, which may have `.` in it. */
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
/** An empty PATH would mean the working directory. Nothing is found here. */
const NOWHERE = "/dev/null"
const TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"]
const MAX_LINKS = 40 // what Linux allows
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002

export interface ProgramPlace {
  /** The project's directory. What is in it, or in a repository around it, does not count. */
  readonly project: string
  readonly home?: string
  readonly system?: SystemDirectories
}

/** Passed in by tests: a checkout may be below a directory for temporary files, and then nothing that they make would count. */
export interface SystemDirectories {
  /** What is in these never counts. Default: the directories for temporary files. */
  readonly temporary: readonly string[]
  /** A directory that only root can change, as those above it. Default: `/`. */
  readonly root: string
}

export type Resolution =
  /** `file`: with links followed. */
  | { readonly state: "trusted"; readonly file: string }
  | { readonly state: "not trusted"; readonly file: string; readonly why: string }
  /** No such program: bash says so. */
  | { readonly state: "missing" }

/** The directories that count, in order, with links followed. */
export const trustedPath = (path: string | undefined, place: ProgramPlace): readonly string[] =>
  new TrustedPrograms(path, place).directories

/** What runs under this name: the first match in PATH, or the file that a name with a slash means. */
export const resolves = (
  name: string,
  { path, directory, ...place }: ProgramPlace & { readonly path: string | undefined; readonly directory?: string },
): Resolution => new TrustedPrograms(path, place).resolve(name, directory)

export class TrustedPrograms {
  #directories: readonly string[] | undefined
  readonly #entries: readonly string[]
  readonly #excluded: readonly Excluded[]
  readonly #root: string
  readonly #known = new Map<string, Resolution>()

  constructor(path: string | undefined, { project, home = homedir(), system = systemDirectories() }: ProgramPlace) {
    this.#entries = (path ?? DEFAULT_PATH).split(":")
    this.#excluded = excludedFor({ project, home, temporary: system.temporary })
    this.#root = realOf(system.root)
  }

  get directories(): readonly string[] {
    this.#directories ??= this.#trusted()
    return this.#directories
  }

  #trusted(): readonly string[] {
    const found = this.#entries.flatMap((entry) => {
      const trust = this.#follow(entry)
      return trust.state === "trusted" && isDirectory(trust.file) ? [trust.file] : []
    })
    return found.length > 0 ? [...new Set(found)] : [NOWHERE]
  }

  /** Relative entries of PATH, and relative names, start in `directory`. */
  resolve(name: string, directory?: string): Resolution {
    const key = `${directory ?? ""}\0${name}`
    const known = this.#known.get(key)
    if (known) return known
    const resolution = name.includes("/") ? this.#named(name, directory) : this.#searched(name, directory)
    this.#known.set(key, resolution)
    return resolution
  }

  #searched(name: string, directory: string | undefined): Resolution {
    for (const entry of this.#entries) {
      const place = isAbsolute(entry) ? entry : directory === undefined ? undefined : resolve(directory, entry)
      const file = place === undefined ? undefined : join(place, name)
      if (file === undefined || !isExecutable(file)) continue
      return isAbsolute(entry)
        ? this.#follow(file)
        : { state: "not trusted", file, why: "PATH has a relative directory" }
    }
    return { state: "missing" }
  }

  #named(name: string, directory: string | undefined): Resolution {
    const file = isAbsolute(name) ? name : directory === undefined ? undefined : join(directory, name)
    if (file === undefined) return { state: "not trusted", file: name, why: "where it is is only known when it runs" }
    return isExecutable(file) ? this.#follow(file) : { state: "missing" }
  }

  /** Goes down the path, through every link, and looks at each directory on the way. */
  #follow(path: string): Resolution {
    const no = (why: string): Resolution => ({ state: "not trusted", file: path, why })
    if (!isAbsolute(path) || path.includes("\0")) return no("its path is relative")
    const pending = partsOf(path).reverse()
    let place = "/"
    let links = 0
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (name === "..") {
        place = dirname(place)
        continue
      }
      const at = join(place, name)
      const around = this.#excluded.find(({ directory }) => isWithin(at, directory))
      if (around) return no(around.why)
      const stats = statsOf(at)
      if (!stats) return no(`${at} cannot be read`)
      if (stats.isSymbolicLink()) {
        if (++links > MAX_LINKS) return no("it has too many links")
        const target = readlinkSync(at)
        if (isAbsolute(target)) place = "/"
        pending.push(...partsOf(target).reverse())
        continue
      }
      if (!isWithin(this.#root, at) && mayOthersWrite(stats)) return no(`others can change ${at}`)
      place = at
    }
    return { state: "trusted", file: place }
  }
}

interface Excluded {
  readonly directory: string
  readonly why: string
}

const systemDirectories = (): SystemDirectories => ({ temporary: [...TEMPORARY, tmpdir()], root: "/" })

interface ExcludedFor {
  readonly project: string
  readonly home: string
  readonly temporary: readonly string[]
}

function excludedFor({ project, home, temporary }: ExcludedFor): readonly Excluded[] {
  const never = temporary.map((directory) => ({
    directory: realOf(directory),
    why: "it is in a directory for temporary files",
  }))
  const own = [realOf(project), ...repositoriesAround(realOf(project), realOf(home))]
  // a project that holds the system itself, such as `/` in a container, is no clone
  const clones = own.filter((directory) => !isWithin("/usr/bin", directory))
  return [...clones.map((directory) => ({ directory, why: "it belongs to the project" })), ...never]
}

/** Not one that the home directory is in: that is the person's own. */
function repositoriesAround(project: string, home: string): readonly string[] {
  const found: string[] = []
  for (let at = project; ; at = dirname(at)) {
    if (existsSync(join(at, ".git")) && !isWithin(home, at)) found.push(at)
    if (dirname(at) === at) return found
  }
}

function mayOthersWrite({ uid, gid, mode }: Stats): boolean {
  const user = process.getuid?.()
  if (user === undefined) return false // a system without owners
  if (uid !== 0 && uid !== user) return true
  if (mode & OTHERS_WRITE) return true
  return (mode & GROUP_WRITES) !== 0 && !isOnlyUsersGroup(gid, user)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

const statsOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

const isDirectory = (path: string): boolean => statsOf(path)?.isDirectory() ?? false

/** Links followed as far as the path exists. */
function realOf(path: string): string {
  const pending = partsOf(resolve(path)).reverse()
  let place = "/"
  let links = 0
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const at = name === ".." ? dirname(place) : join(place, name)
    if (!statsOf(at)?.isSymbolicLink() || ++links > MAX_LINKS) {
      place = at
      continue
    }
    const target = readlinkSync(at)
    if (isAbsolute(target)) place = "/"
    pending.push(...partsOf(target).reverse())
  }
  return place
}

const partsOf = (path: string): string[] => path.split(sep).filter((part) => part !== "" && part !== ".")

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`)

/** Whether a group that may write a file has members other than the person and root. */
const ADMINISTRATORS_ON_MACOS = 80 // they may become root anyway; Homebrew's directories are theirs
const ROOT = 0

/** Groups that are only known to a directory service count as having others. */
function isOnlyUsersGroup(group: number, owner: number): boolean {
  if (group === ROOT) return true
  // there, accounts are not in these files
  if (process.platform === "darwin") return group === ADMINISTRATORS_ON_MACOS
  const accounts = recordsOf("/etc/passwd").map(([name = "", , user, primary]) => ({
    name,
    user: Number(user),
    primary: Number(primary),
  }))
  const listed = recordsOf("/etc/group").find(([, , id]) => Number(id) === group)
  if (!listed) return false
  const named = (listed[3] ?? "").split(",").filter((name) => name !== "")
  const members = accounts.filter(({ name, primary }) => primary === group || named.includes(name))
  const isKnown = named.every((name) => accounts.some((account) => account.name === name))
  return isKnown && members.every(({ user }) => user === owner || user === ROOT)
}

function recordsOf(file: string): readonly (readonly string[])[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.split(":"))
  } catch {
    return []
  }
}
