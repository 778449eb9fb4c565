/**
 * Determines the trusted directories of PATH. A bare name (`ls`) means the known program only if nobody but the user and root can change
 * the file, its symbolic links, or a directory above it, and if it is neither in the project nor in a directory for temporary files.
 * Unapproved commands run with these directories as their PATH, so that the judged programs run.
 */
import { accessSync, constants, existsSync, lstatSync, readFileSync, readlinkSync, type Stats, statSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname, isAbsolute, join, resolve, sep } from "node:path"

/** Used if the environment has no PATH, because bash's default may contain `.`. */
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
/** A PATH in which nothing is found. An empty PATH would mean the working directory. */
const NOWHERE = "/dev/null"
const TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"]
const MAX_LINKS = 40 // limit on Linux
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002

export interface ProgramContext {
  /** The project's directory. Programs in it, or in a repository around it, are not trusted. */
  readonly project: string
  readonly home?: string
  readonly system?: SystemDirectories
}

/** System directories. Tests pass their own, because a checkout may be in a directory for temporary files, where nothing is trusted. */
export interface SystemDirectories {
  /** Directories in which nothing is trusted. Default: those for temporary files. */
  readonly temporary: readonly string[]
  /** A directory that, like its ancestors, only root can change. Default: `/`. */
  readonly root: string
}

export type Resolution =
  /** `file`: path with symbolic links resolved. */
  | { readonly state: "trusted"; readonly file: string }
  | { readonly state: "not trusted"; readonly file: string; readonly why: string }
  /** The program does not exist, which bash reports. */
  | { readonly state: "missing" }

/** The trusted directories of PATH in order, with symbolic links resolved. */
export const trustedPath = (path: string | undefined, place: ProgramContext): readonly string[] =>
  new TrustedPrograms(path, place).directories

/** Resolves a program name: the first match in PATH, or the file if the name contains a slash. */
export const resolveProgram = (
  name: string,
  { path, directory, ...place }: ProgramContext & { readonly path: string | undefined; readonly directory?: string },
): Resolution => new TrustedPrograms(path, place).resolve(name, directory)

export class TrustedPrograms {
  #directories: readonly string[] | undefined
  readonly #entries: readonly string[]
  readonly #excluded: readonly ExcludedDirectory[]
  readonly #root: string
  readonly #known = new Map<string, Resolution>()

  constructor(path: string | undefined, { project, home = homedir(), system = systemDirectories() }: ProgramContext) {
    this.#entries = (path ?? DEFAULT_PATH).split(":")
    this.#excluded = excludedDirectories({ project, home, temporary: system.temporary })
    this.#root = resolveLinks(system.root)
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

  /** Resolves a program name. Relative PATH entries and relative names are resolved against `directory`. */
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

  /** Follows the path through all symbolic links, and checks each directory on the way. */
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

interface ExcludedDirectory {
  readonly directory: string
  readonly why: string
}

const systemDirectories = (): SystemDirectories => ({ temporary: [...TEMPORARY, tmpdir()], root: "/" })

interface ExclusionInput {
  readonly project: string
  readonly home: string
  readonly temporary: readonly string[]
}

function excludedDirectories({ project, home, temporary }: ExclusionInput): readonly ExcludedDirectory[] {
  const never = temporary.map((directory) => ({
    directory: resolveLinks(directory),
    why: "it is in a directory for temporary files",
  }))
  const own = [resolveLinks(project), ...repositoriesAround(resolveLinks(project), resolveLinks(home))]
  // a project that contains the system, such as `/` in a container, is not a clone
  const clones = own.filter((directory) => !isWithin("/usr/bin", directory))
  return [...clones.map((directory) => ({ directory, why: "it belongs to the project" })), ...never]
}

/** Repositories around the project, except those that contain the home directory, which are the user's own. */
function repositoriesAround(project: string, home: string): readonly string[] {
  const found: string[] = []
  for (let at = project; ; at = dirname(at)) {
    if (existsSync(join(at, ".git")) && !isWithin(home, at)) found.push(at)
    if (dirname(at) === at) return found
  }
}

function mayOthersWrite({ uid, gid, mode }: Stats): boolean {
  const user = process.getuid?.()
  if (user === undefined) return false // a system without file owners
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

/** Resolves symbolic links as far as the path exists. */
function resolveLinks(path: string): string {
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

/** Administrators on macOS. They may become root anyway, and own Homebrew's directories. */
const ADMINISTRATORS_ON_MACOS = 80
const ROOT = 0

/** Whether a group has no members other than the user and root. Groups from a directory service count as having others. */
function isOnlyUsersGroup(group: number, owner: number): boolean {
  if (group === ROOT) return true
  // on macOS, accounts are not in these files
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
