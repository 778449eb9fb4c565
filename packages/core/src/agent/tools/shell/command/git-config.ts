/**
 * Finds the repository that git would use, and checks whether git could start programs or read elsewhere because of it. A clone or an
 * archive may contain a complete repository, so only settings that git itself writes for ordinary work are accepted. The user's own
 * configuration is not checked.
 */
import { dirname, join } from "node:path"
import type { Disk } from "./disk.ts"
import { isHarmlessSetting, settingsIn } from "./git-settings.ts"

const MAX_CONFIG_BYTES = 1_000_000
const MAX_INDEX_BYTES = 50_000_000
const MAX_REPOSITORIES = 100

export interface Repository {
  /** Root of the working tree. For a bare repository, the repository itself. */
  readonly top: string
  /** Path of git's index, which lists tracked files. */
  readonly index: string
  /** Reason why git could start a program here, or read elsewhere. */
  readonly danger?: string
}

export type RepositorySearch =
  | { readonly state: "none" }
  | { readonly state: "unknown" }
  | ({ readonly state: "found" } & Repository)

/**
 * Searches parent directories as git does: for `.git`, then for a directory that is a repository itself. Stops at everything that could be
 * one, because git checks less: it accepts a program as a directory, and a broken symbolic link as a file.
 */
export function findRepository(directory: string, disk: Disk): RepositorySearch {
  for (let at = directory; ; at = dirname(at)) {
    const dotGit = join(at, ".git")
    const kind = disk.isThere(dotGit) ? disk.kindOf(dotGit) : undefined
    if (kind === "file") return inspectRepository(at, linkedDirectory(dotGit, disk), disk)
    if (kind === "directory" && mayBeRepository(dotGit, disk)) return inspectRepository(at, disk.realPath(dotGit), disk)
    if (kind === "other") return found(at, at, "its .git is neither a file nor a directory")
    if (mayBeRepository(at, disk)) return found(at, at, `${at} is a repository inside a directory`)
    if (disk.isExhausted) return { state: "unknown" }
    if (dirname(at) === at) return { state: "none" }
  }
}

function inspectRepository(top: string, gitDirectory: string | undefined, disk: Disk): RepositorySearch {
  return found(top, gitDirectory ?? top, dangerIn({ top, gitDirectory, disk, visited: new Set() }))
}

const found = (top: string, gitDirectory: string, danger: string | undefined): RepositorySearch => ({
  state: "found",
  top,
  index: join(gitDirectory, "index"),
  ...(danger === undefined ? {} : { danger }),
})

function mayBeRepository(path: string, disk: Disk): boolean {
  const has = (name: string) => disk.isThere(join(path, name))
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/** Reads a one-line file. Like git, removes line endings but no other white space. */
const readOneLine = (path: string, disk: Disk): string | undefined =>
  disk
    .read(path, MAX_CONFIG_BYTES)
    ?.toString("utf8")
    .replace(/[\r\n]+$/, "")

/** Target directory of a `.git` file. */
function linkedDirectory(dotGit: string, disk: Disk): string | undefined {
  const target = /^gitdir: (.+)$/.exec(readOneLine(dotGit, disk) ?? "")?.[1]
  return target === undefined
    ? undefined
    : disk.realPath(target.startsWith("/") ? target : join(dirname(dotGit), target))
}

interface Inspection {
  readonly top: string
  readonly gitDirectory: string | undefined
  readonly disk: Disk
  readonly visited: Set<string>
}

function dangerIn({ top, gitDirectory, disk, visited }: Inspection): string | undefined {
  if (gitDirectory === undefined) return "its .git file cannot be followed"
  if (visited.has(gitDirectory)) return undefined
  visited.add(gitDirectory)
  if (visited.size > MAX_REPOSITORIES) return "it has too many submodules to look at"
  const common = commonDirectory(gitDirectory, disk)
  const head = readOneLine(join(gitDirectory, "HEAD"), disk) ?? ""
  const isWhole = ["objects", "refs"].every((name) => disk.kindOf(join(common, name)) === "directory")
  if (!isWhole || !/^(?:ref: refs\/\S+|[0-9a-f]{40})$/.test(head))
    return "it is not whole, so git may use another repository above it"
  const isLinked = gitDirectory !== join(top, ".git")
  if (isLinked && !pointsBack(top, gitDirectory, disk)) return `its .git points to ${gitDirectory}`
  if (!isLinked && common !== gitDirectory) return `its .git takes its settings from ${common}`
  const place = { top, gitDirectory, common, isLinked, disk }
  return (
    [...new Set([gitDirectory, common])].map((directory) => dangerousFile(directory, disk)).find(Boolean) ??
    dangerInSettings(place) ??
    (hasIndexHook(join(common, "hooks"), disk) ? "it has a post-index-change hook" : undefined) ??
    dangerInSubmodules({ top, gitDirectory, disk, visited })
  )
}

function commonDirectory(gitDirectory: string, disk: Disk): string {
  const text = readOneLine(join(gitDirectory, "commondir"), disk)
  if (!text) return gitDirectory
  return disk.realPath(text.startsWith("/") ? text : join(gitDirectory, text)) ?? gitDirectory
}

/**
 * Whether the repository refers back to the working tree. A worktree created by git names its `.git` file, a submodule its worktree. A file
 * that merely points at another repository has no such reference.
 */
function pointsBack(top: string, gitDirectory: string, disk: Disk): boolean {
  const link = readOneLine(join(gitDirectory, "gitdir"), disk)
  if (link)
    return disk.realPath(link.startsWith("/") ? link : join(gitDirectory, link)) === disk.realPath(join(top, ".git"))
  const worktree = settingsIn(readOneLine(join(gitDirectory, "config"), disk) ?? "")?.find(
    ({ key }) => key === "core.worktree",
  )?.value
  return worktree !== undefined && disk.realPath(join(gitDirectory, worktree)) === disk.realPath(top)
}

/** Directories whose files git reads line by line. git prints a line of a file that it does not understand. */
const READ_IN = ["", "info", "objects/info", "worktrees"]
/** Entries that may be other than files and directories: the hooks directory is often a symbolic link, and the socket belongs to git. */
const MAY_BE_OTHER = new Set(["hooks", "fsmonitor--daemon.ipc"])

function dangerousFile(directory: string, disk: Disk): string | undefined {
  const trees = disk.list(join(directory, "worktrees")) ?? []
  for (const place of [...READ_IN, ...trees.map(({ name }) => join("worktrees", name))]) {
    const at = join(directory, place)
    const other = (disk.list(at) ?? []).find(
      (entry) => !entry.isFile() && !entry.isDirectory() && !(place === "" && MAY_BE_OTHER.has(entry.name)),
    )
    if (other) return `${join(at, other.name)} leads elsewhere`
  }
  const alternates = join(directory, "objects/info/alternates")
  return disk.isThere(alternates) ? `${alternates} names other repositories` : undefined
}

/** Reads the tracked files from an index. `undefined` if it cannot be read. */
export function trackedIn(index: string, disk: Disk): readonly TrackedEntry[] | undefined {
  const bytes = disk.read(index, MAX_INDEX_BYTES)
  return bytes && entriesIn(bytes)
}

/** Checks submodules, which `git status` and `git diff` enter, each with its own configuration. */
function dangerInSubmodules({ top, gitDirectory, disk, visited }: Inspection): string | undefined {
  const index = join(gitDirectory!, "index")
  if (!disk.isThere(index)) return undefined
  const entries = trackedIn(index, disk)
  if (!entries) return "its index cannot be read"
  for (const link of entries) {
    if (!link.isSubmodule) continue
    const path = disk.realPath(join(top, link.path))
    const dotGit = path && join(path, ".git")
    if (!path || !dotGit || !disk.isThere(dotGit)) continue
    const inner = disk.kindOf(dotGit) === "file" ? linkedDirectory(dotGit, disk) : disk.realPath(dotGit)
    const danger = dangerIn({ top: path, gitDirectory: inner, disk, visited })
    if (danger !== undefined) return danger
  }
  return undefined
}

/** Whether the hook exists that runs whenever the index is refreshed, for example by `git diff`. */
const hasIndexHook = (hooks: string, disk: Disk): boolean => disk.isThere(join(hooks, "post-index-change"))

interface ConfigContext {
  readonly top: string
  readonly gitDirectory: string
  readonly common: string
  readonly isLinked: boolean
  readonly disk: Disk
}

function dangerInSettings(place: ConfigContext): string | undefined {
  const { gitDirectory, common, disk } = place
  for (const file of [join(common, "config"), join(gitDirectory, "config.worktree")]) {
    if (!disk.isThere(file)) continue
    const text = disk.read(file, MAX_CONFIG_BYTES)?.toString("utf8")
    if (text === undefined) return `${file} cannot be read`
    const settings = settingsIn(text)
    if (!settings) return `${file} sets something that is not understood`
    const setting = settings.find(({ key, value }) => {
      if (key === "core.hookspath") return !isHarmlessHooksPath(value, place)
      if (key === "core.worktree") return !isOwnWorktree(value, place)
      return !isHarmlessSetting({ key, value })
    })
    if (setting) return `${file} sets ${setting.key}`
  }
  return undefined
}

const PLAIN_PATH = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))(?!\/proc\/)\/?[\w@.+-]+(?:\/[\w@.+-]+)*\/?$/

/**
 * Whether a hooks path is harmless: a directory of the repository, as hook managers set it, without the one hook that reading commands run.
 */
function isHarmlessHooksPath(value: string, { top, common, disk }: ConfigContext): boolean {
  const path = value.startsWith("/") ? value : join(top, value)
  const isInside = [top, common].some((directory) => path.startsWith(`${directory}/`))
  return PLAIN_PATH.test(value) && isInside && !hasIndexHook(path, disk)
}

/** Whether the worktree setting belongs to this submodule: its repository is inside that of the parent project, and refers back. */
const isOwnWorktree = (value: string, { top, gitDirectory, isLinked, disk }: ConfigContext): boolean =>
  isLinked &&
  /^(?:\.\.\/)+[\w@.+ -]+(?:\/[\w@.+ -]+)*$/.test(value) &&
  disk.realPath(join(gitDirectory, value)) === disk.realPath(top)

/** Format of git's index, as documented by git: gitformat-index. */

const HEADER_BYTES = 12
const FIXED_BYTES = 62 // bytes of an entry before its name, in a repository with SHA-1
const MODE_AT = 24
const FLAGS_AT = 60
const GITLINK = 0o160000
const DIRECTORY = 0o040000
const EXTENDED = 0x4000

interface TrackedEntry {
  readonly path: string
  readonly isSubmodule: boolean
}

/** Parses an index. `undefined` if it is damaged, or in an unsupported format. */
function entriesIn(index: Buffer): readonly TrackedEntry[] | undefined {
  if (index.length < HEADER_BYTES || index.toString("latin1", 0, 4) !== "DIRC") return undefined
  const version = index.readUInt32BE(4)
  const entries = index.readUInt32BE(8)
  if (version < 2 || version > 4) return undefined
  const found: TrackedEntry[] = []
  let at = HEADER_BYTES
  let path = ""
  for (let entry = 0; entry < entries; entry++) {
    if (at + FIXED_BYTES > index.length) return undefined
    const mode = index.readUInt32BE(at + MODE_AT)
    if (mode === DIRECTORY) return undefined // a sparse index omits the directory's entries
    const isSubmodule = mode === GITLINK
    const name = at + FIXED_BYTES + (index.readUInt16BE(at + FLAGS_AT) & EXTENDED ? 2 : 0)
    const cut = version === 4 ? offsetAt(index, name) : { value: 0, bytes: 0 }
    const begin = name + cut.bytes
    const end = index.indexOf(0, begin)
    if (end < 0) return undefined
    const text = index.toString("latin1", begin, end) // one character per byte, because version 4 counts bytes
    path = version === 4 ? path.slice(0, path.length - cut.value) + text : text
    found.push({ path: Buffer.from(path, "latin1").toString("utf8"), isSubmodule })
    at = version === 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8
  }
  return index.toString("latin1", at, at + 4) === "link" ? undefined : found // a split index has its entries in another file
}

/** Decodes the variable-length number before a name in version 4. */
function offsetAt(bytes: Buffer, at: number): { readonly value: number; readonly bytes: number } {
  let byte = bytes[at] ?? 0
  let value = byte & 0x7f
  let count = 1
  while (byte & 0x80) {
    byte = bytes[at + count++] ?? 0
    value = ((value + 1) << 7) | (byte & 0x7f)
  }
  return { value, bytes: count }
}
