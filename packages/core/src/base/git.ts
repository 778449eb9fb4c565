/**
 * Runs git without anything that the repository configures: no hooks, no monitor, no pager. Also finds repositories and their remotes
 * without running git.
 */

import { execFile } from "node:child_process"
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path"
import { promisify } from "node:util"
import { lstatIfReachable, readPlainFile, readPlainStart, realPath, statIfReachable } from "./files.ts"

export interface GitCall {
  readonly args: readonly string[]
  /** The working directory. */
  readonly at: string
  /** The complete environment of git. */
  readonly env: Readonly<Record<string, string>>
  readonly maxOutputBytes: number
  readonly input?: Buffer
  readonly signal?: AbortSignal | undefined
  /** In milliseconds. Default: no timeout. */
  readonly timeout?: number
}

/** Disables what a repository could run. Commits need a name and no signature. */
const SAFE_ARGUMENTS = [
  ...["--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false"],
  ...["-c", "user.name=Strata", "-c", "user.email=strata@localhost"],
]

/** Returns git's output. Rejects with the error of `execFile`, whose `stderr` has git's complaint. */
export async function runGit({ args, at, env, maxOutputBytes, input, signal, timeout = 0 }: GitCall): Promise<Buffer> {
  const run = promisify(execFile)("git", [...SAFE_ARGUMENTS, ...args], {
    ...{ cwd: at, env, timeout, maxBuffer: maxOutputBytes, encoding: "buffer", killSignal: "SIGKILL" },
    ...(signal ? { signal } : {}),
  })
  run.child.stdin?.on("error", () => undefined) // git may end before it has read all input
  run.child.stdin?.end(input ?? "")
  return (await run).stdout
}

// Finds the repository that a directory belongs to, without running git.

/**
 * The nearest directory at or above `cwd` with a `.git`. A repository above `cwd` is used only if it belongs to the user or to the owner
 * of `cwd`, because anyone can create one in a shared directory such as `/tmp`. A home directory kept in git is not the project of
 * everything below it. Without a repository, returns `cwd`.
 */
export function repositoryRoot(cwd: string, { home }: { readonly home?: string | undefined } = {}): string {
  const owners = new Set([process.getuid?.(), ownerOf(cwd)])
  const end = home === undefined ? undefined : (realPath(home) ?? home)
  for (let directory = cwd; ; directory = dirname(directory)) {
    if (directory === end) return cwd
    const owner = ownerOf(join(directory, ".git"))
    if (owner !== undefined)
      return directory === cwd || (owners.has(owner) && owners.has(ownerOf(directory))) ? directory : cwd
    if (dirname(directory) === directory) return cwd
  }
}

/** The user id of a file's owner. `undefined` if the file does not exist. */
const ownerOf = (path: string): number | undefined => statIfReachable(path)?.uid

// Finds the repository of a directory. All its worktrees and subdirectories belong to it. Only files are read; git is not run. A `.git`
// file may point anywhere, so it is used only if the target points back.

const MAX_POINTER_BYTES = 16 * 1024 // a path after a keyword, or the config of a submodule

export interface GitRepository {
  /** The main working directory, or the bare repository. */
  readonly directory: string
  /** The git directory that all worktrees share. Absent if `.git` points to a directory that does not point back. */
  readonly common?: string
}

/** `start` must be a real path. A home directory kept in git is not the repository of what is below it. */
export async function repositoryOf(
  start: string,
  { home }: { readonly home?: string | undefined } = {},
): Promise<GitRepository | undefined> {
  const end = home === undefined ? undefined : (realPath(home) ?? home)
  for (let at = start; ; at = dirname(at)) {
    if (at === end && at !== start) return undefined
    const found = await repositoryAt(at)
    if (found !== undefined && !(await isInsideWorkingTree(at, { home })))
      return at === start || mayContain(at, start) ? found : undefined
    if (dirname(at) === at) return undefined
  }
}

/**
 * Whether a bare repository lies in another repository's working directory. A clone may contain such files, which could claim to be any
 * project. No clone contains a `.git`.
 */
async function isInsideWorkingTree(
  directory: string,
  options: { readonly home?: string | undefined },
): Promise<boolean> {
  if (directory.split(sep).includes(".git") || !isGitDirectory(directory)) return false
  return (await repositoryOf(dirname(directory), options)) !== undefined
}

/**
 * Whether a repository above a directory may contain it. Anyone can create a repository in a shared directory such as `/tmp`, so it must
 * belong to the user or to the owner of the directory.
 */
function mayContain(above: string, start: string): boolean {
  const owners = new Set([process.getuid?.(), statIfReachable(start)?.uid])
  const dotGit = statIfReachable(join(above, ".git"))
  return owners.has(statIfReachable(above)?.uid) && (dotGit === undefined || owners.has(dotGit.uid))
}

/** The repository whose root is this directory. */
async function repositoryAt(directory: string): Promise<GitRepository | undefined> {
  // inside `.git`, or a bare repository
  if (isGitDirectory(directory)) return { directory: await checkoutDirectory(directory), common: directory }
  const dotGit = join(directory, ".git")
  const facts = lstatIfReachable(dotGit)
  if (facts === undefined) return undefined
  if (facts.isDirectory()) return isGitDirectory(dotGit) ? { directory, common: dotGit } : undefined
  // a file or a link to the repository, which may be anyone's
  const target = facts.isSymbolicLink() ? realPath(dotGit) : await gitFileTarget(dotGit)
  const gitDirectory = target && realPath(target)
  if (gitDirectory === undefined) return { directory }
  return (await sharedRepository(directory, gitDirectory)) ?? (await ownRepository(directory, gitDirectory))
}

/** The repository of a linked worktree, if that repository lists this worktree. */
async function sharedRepository(directory: string, gitDirectory: string): Promise<GitRepository | undefined> {
  const common = await firstLine(join(gitDirectory, "commondir"))
  if (common === undefined) return undefined
  const commonDirectory = realPath(resolve(gitDirectory, common))
  if (commonDirectory === undefined || !isGitDirectory(commonDirectory)) return undefined
  if (dirname(dirname(gitDirectory)) !== commonDirectory || basename(dirname(gitDirectory)) !== "worktrees")
    return undefined
  const back = await firstLine(join(gitDirectory, "gitdir"))
  if (back === undefined) return undefined
  const pointsBack = realPath(resolve(gitDirectory, back))
  if (pointsBack !== join(directory, ".git")) return undefined
  return { directory: await checkoutDirectory(commonDirectory), common: commonDirectory }
}

/** A submodule, or a repository with its git directory elsewhere, whose config names this working directory. */
async function ownRepository(directory: string, gitDirectory: string): Promise<GitRepository> {
  const isOurs = isGitDirectory(gitDirectory) && (await worktreeOf(gitDirectory)) === directory
  return isOurs ? { directory, common: gitDirectory } : { directory }
}

/**
 * The directory that a user would call the repository: the one that contains `.git`. For a submodule, the directory where it is checked
 * out; for a bare repository, the repository itself.
 */
async function checkoutDirectory(gitDirectory: string): Promise<string> {
  if (basename(gitDirectory) === ".git") return dirname(gitDirectory)
  const checkout = await worktreeOf(gitDirectory)
  const pointsHere = checkout && (await gitFileTarget(join(checkout, ".git")))
  const isOurs = pointsHere && realPath(pointsHere) === gitDirectory
  return isOurs ? checkout : gitDirectory
}

/** The working directory named in a repository's config. */
async function worktreeOf(gitDirectory: string): Promise<string | undefined> {
  const config = (await readBeginning(join(gitDirectory, "config"))) ?? ""
  const worktree = /^\s*worktree\s*=\s*"?([^"\n\r]+)"?\s*$/m.exec(config)?.[1]?.trim()
  return worktree && realPath(resolve(gitDirectory, worktree))
}

async function gitFileTarget(dotGit: string): Promise<string | undefined> {
  const path = /^gitdir:\s*(.+)$/.exec((await firstLine(dotGit)) ?? "")?.[1]?.trim()
  if (path === undefined || path.includes("\0")) return undefined
  return isAbsolute(path) ? path : resolve(dirname(dotGit), path)
}

/** Checks for the same three entries as git itself. */
function isGitDirectory(path: string): boolean {
  const [head, objects, refs] = ["HEAD", "objects", "refs"].map((name) => lstatIfReachable(join(path, name)))
  return head !== undefined && objects?.isDirectory() === true && refs?.isDirectory() === true
}

/** The first line of a small file, trimmed. */
const firstLine = async (path: string): Promise<string | undefined> =>
  (await readBeginning(path))?.split(/\r?\n/, 1)[0]?.trim()

async function readBeginning(path: string): Promise<string | undefined> {
  const start = await readPlainStart(path, MAX_POINTER_BYTES).catch(() => undefined)
  return start?.bytes.toString("utf8")
}

// The address of a repository's remote, read from its config file. Includes are not followed and git is not run. Different spellings of an
// address are unified, and credentials are removed.

const MAX_CONFIG_BYTES = 1_000_000
const PREFERRED = "origin"
const MAX_ADDRESS = 2_000 // characters

/** For example `github.com/acme/shop`. Prefers `origin`, else the first remote by name. Remotes on this machine are ignored. */
export async function remoteAddress(commonDirectory: string): Promise<string | undefined> {
  const addresses = new Map<string, string>()
  for (const [name, url] of await remoteUrls(commonDirectory)) {
    const address = parseRemoteAddress(url)
    if (address !== undefined) addresses.set(name, address)
  }
  const [first] = [...addresses.keys()].sort()
  return addresses.get(PREFERRED) ?? (first === undefined ? undefined : addresses.get(first))
}

/** The first URL of each remote, by name, unchanged: it may contain credentials. */
export async function remoteUrls(commonDirectory: string): Promise<ReadonlyMap<string, string>> {
  const bytes = await readPlainFile(join(commonDirectory, "config"), MAX_CONFIG_BYTES).catch(() => undefined)
  return bytes === undefined ? new Map() : parseRemotes(bytes.toString("utf8"))
}

const SECTION = /^\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?[ \t]*\]/
const URL_LINE = /^url[ \t]*=(.*)$/is

function parseRemotes(config: string): ReadonlyMap<string, string> {
  const remotes = new Map<string, string>()
  let name: string | undefined
  // a backslash at the end of a line continues it
  for (const raw of config.replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    let line = raw.trim()
    const heading = SECTION.exec(line)
    if (heading) {
      name = heading[1]!.toLowerCase() === "remote" ? heading[2]?.replace(/\\(.)/g, "$1") : undefined
      line = line.slice(heading[0].length).trim()
    }
    const value = name === undefined ? undefined : URL_LINE.exec(line)?.[1]
    if (value !== undefined && !remotes.has(name!)) remotes.set(name!, configValue(value))
  }
  return remotes
}

/** Parses a value like git: quotes join parts, a backslash escapes the next character, and a comment ends the value. */
function configValue(text: string): string {
  let value = ""
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '"') isQuoted = !isQuoted
    else if (character === "\\") value += text[++at] ?? ""
    else if (!isQuoted && (character === "#" || character === ";")) break
    else value += character
  }
  return value.trim()
}

/** Default ports of the protocols that lead to another machine. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  "https:": "443",
  "http:": "80",
  "ssh:": "22",
  "git+ssh:": "22",
  "ssh+git:": "22",
  "git:": "9418",
  "ftp:": "21",
  "ftps:": "990",
}

/** Matches `user@host:path`. One letter before the colon is a drive, and two colons name a program. */
const SHORT = /^(?:[^@/:[\]]*@)?(\[[^[\]/]+\]|[^@/:[\]]{2,}):(?!:)(.+)$/s
const SHORT_WITH_PORT = /^\[(?:[^@/:[\]]*@)?([^@/:[\]]+):(\d+)\]:(.+)$/s

/**
 * Normalizes a URL: without credentials, default port, `.git` and trailing slash. `undefined` if it is not on another machine, or may
 * contain a secret.
 */
export function parseRemoteAddress(url: string): string | undefined {
  if (url.length > MAX_ADDRESS || !/^[^\s\p{Cc}]+$/u.test(url)) return undefined
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return addressOfUrl(url)
  const withPort = SHORT_WITH_PORT.exec(url)
  if (withPort) return joinAddress({ host: withPort[1]!, port: explicitPort("ssh:", withPort[2]!), path: withPort[3]! })
  const short = SHORT.exec(url)
  return short ? joinAddress({ host: short[1]!, port: "", path: short[2]! }) : undefined
}

function addressOfUrl(text: string): string | undefined {
  const protocol = /^[^:]+:/.exec(text)![0].toLowerCase()
  if (!Object.hasOwn(DEFAULT_PORTS, protocol)) return undefined
  // parsed as https for all protocols: lower-case host, resolved dots
  const url = URL.parse(`https:${text.slice(protocol.length)}`)
  if (url === null || url.search !== "" || url.hash !== "") return undefined
  const given = /^[^:]+:\/\/(?:[^/@]*@)*[^/@]*?:(\d+)(?:\/|$)/.exec(text)?.[1] ?? ""
  return joinAddress({ host: url.hostname, port: explicitPort(protocol, given), path: url.pathname })
}

const explicitPort = (protocol: string, port: string): string => {
  const plain = port.replace(/^0+(?=\d)/, "")
  return plain === DEFAULT_PORTS[protocol] ? "" : plain
}

interface AddressParts {
  readonly host: string
  readonly port: string
  readonly path: string
}

/** Host names of this machine. */
const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0)$/

function joinAddress({ host: given, port, path }: AddressParts): string | undefined {
  const host = given.toLowerCase().replace(/\.$/, "")
  const repository = path
    .replace(/^\/+|\/+$/g, "")
    .replace(/\/{2,}/g, "/")
    .replace(/\.git$/, "")
    .replace(/\/+$/, "")
  // text before an @ in the path may be a misplaced password
  if (host === "" || repository === "" || LOOPBACK.test(host) || /[@?#]/.test(repository)) return undefined
  return `${host}${port === "" ? "" : `:${port}`}/${repository}`
}

// The first commit of a repository, equal in all its clones. Only git can find it, so git runs without programs that the repository
// configures, without network, and without the user's settings. Git itself refuses a repository of another user.

const MAX_MS = 2_000 // the user waits for it
const MAX_OUTPUT_BYTES = 1_000_000
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

type Environment = Readonly<Record<string, string | undefined>>

/** Cached per directory, because the first commit does not change while the process lives. */
const rootCommits = new Map<string, Promise<string | undefined>>()

/** The first commit, or the smallest of several. `undefined` if there are no commits yet, the clone is shallow, or git fails. */
export function rootCommit({ directory, common }: GitRepository, env: Environment): Promise<string | undefined> {
  if (common === undefined || statIfReachable(join(common, "shallow")) !== undefined) return Promise.resolve(undefined)
  const { ino, birthtimeMs } = statIfReachable(common) ?? {} // another repository may replace it
  const key = [directory, ino, birthtimeMs, env.PATH].join("\0")
  const asked = rootCommits.get(key) ?? askGit(directory, env)
  rootCommits.set(key, asked)
  // the first commit may still be made
  void asked.then((commit) => commit === undefined && rootCommits.delete(key))
  return asked
}

async function askGit(directory: string, env: Environment): Promise<string | undefined> {
  const args = ["-c", "protocol.allow=never", "-c", "core.sshCommand=false", "-c", "core.askPass="]
  try {
    const output = await runGit({
      args: [...args, "rev-list", "--max-parents=0", "HEAD", "--"],
      at: directory,
      env: bareEnvironment(env),
      maxOutputBytes: MAX_OUTPUT_BYTES,
      timeout: MAX_MS,
    })
    const commits = output.toString("latin1").split("\n")
    return commits.filter((line) => COMMIT.test(line)).sort()[0]
  } catch {
    return undefined // the project is then named by its path
  }
}

/** The complete environment for git. Relative directories in PATH are omitted, because a repository could contain a program named git. */
function bareEnvironment(env: Environment): Readonly<Record<string, string>> {
  const path = (env.PATH ?? "").split(delimiter).filter((directory) => isAbsolute(directory))
  return {
    PATH: path.join(delimiter),
    ...(env.SystemRoot === undefined ? {} : { SystemRoot: env.SystemRoot }),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ALLOW_PROTOCOL: "none", // it counts more than what a repository's settings allow
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1", // a replaced commit has a different history
    GIT_GRAFT_FILE: "/dev/null",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    SSH_ASKPASS_REQUIRE: "never",
  }
}
