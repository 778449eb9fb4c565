/**
 * One branch of a git remote, as a set of files. The branch has a single commit without a parent, which each write replaces, so erased
 * content disappears from it. Everything happens in a temporary repository: the user's repositories and working trees are not touched, and
 * no hooks or programs of a repository run. The user's own ssh and credentials are used.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { StrataError } from "@strata/core"
import { withoutSecrets } from "@strata/core/agent"
import { escapeToLine, type GitCall, runGit } from "@strata/core/base"
import { claimScratch } from "@strata/core/store"

const TIMEOUT_MS = 10 * 60_000 // per connection
const MAX_FILES = 100_000
const MAX_LISTING = 64 * 1024 * 1024 // bytes
const MAX_BYTES = 2 * 1024 ** 3 // total size of the files that one call reads
const [THEIRS, OURS] = ["refs/theirs/branch", "refs/ours/branch"]

export interface BranchFile {
  /** Object id of the content in git. */
  readonly blob: string
  readonly bytes: number
}

export interface BranchState {
  /** Absent if the remote has no such branch. */
  readonly commit?: string
  readonly files: ReadonlyMap<string, BranchFile>
}

/** `conflict`: another machine pushed first, and nothing was written. */
export type WriteOutcome = "written" | "unchanged" | "conflict"

export interface Branch {
  /** Fetches the branch from the remote. */
  read(): Promise<BranchState>
  /** Contents of the given files, by blob id. */
  contents(files: Iterable<BranchFile>): Promise<ReadonlyMap<string, Buffer>>
  /** Replaces all files of the branch. A file is given as its content, or as an entry of `over` to leave it unchanged. */
  replace(files: ReadonlyMap<string, Buffer | BranchFile>, over: BranchState): Promise<WriteOutcome>
  close(): Promise<void>
}

export interface OpenBranchOptions {
  readonly env: NodeJS.ProcessEnv
  readonly url: string
  /** Name of the remote in messages, without credentials. */
  readonly title: string
  /** Branch name without `refs/heads/`. */
  readonly name: string
  readonly now: () => Date
  /** Whether git may prompt for a user name or a password. */
  readonly isAtTerminal: boolean
}

export async function openBranch(options: OpenBranchOptions): Promise<Branch> {
  const scratch = await claimScratch({ kind: "sync", of: `${options.url}\n${options.name}` })
  const repository = new Repository(options, scratch.directory)
  await repository.create()
  return {
    read: () => repository.read(),
    contents: (files) => repository.contents(files),
    replace: (files, over) => repository.replace(files, over),
    close: () => scratch.release(),
  }
}

class Repository {
  readonly #options: OpenBranchOptions
  readonly #at: string
  readonly #env: Readonly<Record<string, string>>
  readonly #ref: string

  constructor(options: OpenBranchOptions, at: string) {
    this.#options = options
    this.#at = at
    this.#env = gitEnvironment(options, join(at, "objects.git"))
    this.#ref = `refs/heads/${options.name}`
  }

  async create(): Promise<void> {
    await mkdir(join(this.#at, "empty")) // an empty template, so that git copies no hooks into the repository
    await this.#git(["init", "--quiet", "--bare", `--template=${join(this.#at, "empty")}`, "objects.git"])
  }

  async read(): Promise<BranchState> {
    // with a pattern, a missing branch is not an error
    const refs = `+${this.#ref}*:${THEIRS}*`
    await this.#remote(["fetch", "--quiet", "--no-tags", "--prune", "--no-recurse-submodules", "place", refs])
    const commit = await this.#resolve(THEIRS)
    if (commit === undefined) return { files: new Map() }
    const listed = await this.#git(["ls-tree", "-r", "-z", "--long", commit], { max: MAX_LISTING })
    const files = parseTree(listed)
    if (files.size > MAX_FILES) throw this.#failed(`it has more than ${MAX_FILES} files`)
    return { commit, files }
  }

  async contents(files: Iterable<BranchFile>): Promise<ReadonlyMap<string, Buffer>> {
    const sizes = new Map([...files].map(({ blob, bytes }) => [blob, bytes]))
    const all = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
    if (all > MAX_BYTES) throw this.#failed(`its files have more than ${MAX_BYTES} bytes`)
    if (sizes.size === 0) return new Map()
    const input = Buffer.from([...sizes.keys()].map((blob) => `${blob}\n`).join(""))
    const output = await this.#git(["cat-file", "--batch"], { input, max: all + sizes.size * 100 })
    return parseBatch(output)
  }

  async replace(files: ReadonlyMap<string, Buffer | BranchFile>, over: BranchState): Promise<WriteOutcome> {
    const input = buildFastImport({ files, ref: OURS, now: this.#options.now() })
    await this.#git(["fast-import", "--quiet", "--force"], { input })
    const [ours, theirs] = [await this.#resolve(`${OURS}^{tree}`), await this.#resolve(`${THEIRS}^{tree}`)]
    if (over.commit === undefined ? files.size === 0 : ours === theirs) return "unchanged"
    const lease = `--force-with-lease=${this.#ref}:${over.commit ?? ""}`
    try {
      await this.#remote(["push", "--quiet", "--no-signed", "--no-follow-tags", lease, "place", `${OURS}:${this.#ref}`])
      return "written"
    } catch (error) {
      if ((await this.read()).commit !== over.commit) return "conflict"
      throw error
    }
  }

  async #resolve(name: string): Promise<string | undefined> {
    const found = await this.#git(["rev-parse", "--verify", "--quiet", name]).catch(() => undefined)
    return found?.toString("latin1").trim()
  }

  #remote(args: readonly string[]): Promise<Buffer> {
    return this.#git(["-c", "fetch.fsckObjects=true", "-c", "gc.auto=0", ...args], { timeout: TIMEOUT_MS })
  }

  async #git(
    args: readonly string[],
    { input, max = MAX_LISTING, timeout }: Partial<Pick<GitCall, "input" | "timeout">> & { max?: number } = {},
  ): Promise<Buffer> {
    const isInit = args[0] === "init"
    const { GIT_DIR: _, ...outside } = this.#env
    const call = { args, at: this.#at, env: isInit ? outside : this.#env, maxOutputBytes: max }
    try {
      return await runGit({ ...call, ...(input ? { input } : {}), ...(timeout ? { timeout } : {}) })
    } catch (error) {
      const { stderr, code, killed } = error as { stderr?: Buffer; code?: unknown; killed?: boolean }
      if (code === "ENOENT") throw this.#failed("git is not installed")
      if (killed) throw this.#failed("the connection timed out")
      throw this.#failed(this.#withoutCredentials(stderr?.toString("utf8").trim() || String(code)))
    }
  }

  /** Error messages of git may repeat the remote's address, including a password. */
  #withoutCredentials(text: string): string {
    const { url, title } = this.#options
    return escapeToLine(text.replaceAll(url, title).replace(/:\/\/[^/\s@]+@/g, "://"))
  }

  #failed(why: string): StrataError {
    return new StrataError(
      `The sync with ${escapeToLine(this.#options.title)} failed: ${why}. Memories and sessions received so far are saved, and the remote is unchanged. Run the command again.`,
      { code: "sync-remote" },
    )
  }
}

/** Git variables that configure how remotes are reached. All others are dropped, because they could redirect git to another repository. */
const REACHING =
  /^GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_\w+|PROXY_COMMAND|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM)$/

function gitEnvironment(
  { env, url, isAtTerminal }: OpenBranchOptions,
  directory: string,
): Readonly<Record<string, string>> {
  const own = Object.entries(env).filter(([name]) => !name.startsWith("GIT_") || REACHING.test(name))
  return {
    ...withoutSecrets(Object.fromEntries(own)),
    GIT_DIR: directory,
    GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh", // no `ext::` addresses, which would run a program
    GIT_TERMINAL_PROMPT: isAtTerminal ? "1" : "0",
    // not on the command line, which other users can see: the address may contain a password
    ...{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "remote.place.url", GIT_CONFIG_VALUE_0: url },
  }
}

/** Parses `git ls-tree -z --long`: mode, type, blob and size, then the name. Symbolic links and submodules are skipped. */
function parseTree(listed: Buffer): ReadonlyMap<string, BranchFile> {
  const files = new Map<string, BranchFile>()
  for (const line of listed.toString("utf8").split("\0")) {
    const [, blob, bytes, path] = /^100644 blob ([0-9a-f]{40,64}) +(\d+)\t(.+)$/s.exec(line) ?? []
    if (path !== undefined) files.set(path, { blob: blob!, bytes: Number(bytes) })
  }
  return files
}

/** Parses `git cat-file --batch`: a line with blob, type and size, then the content and a newline. */
function parseBatch(output: Buffer): ReadonlyMap<string, Buffer> {
  const contents = new Map<string, Buffer>()
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at)
    const [blob, , bytes] = output.toString("latin1", at, end).split(" ")
    const size = Number(bytes)
    if (!Number.isSafeInteger(size)) break
    contents.set(blob!, output.subarray(end + 1, end + 1 + size))
    at = end + 1 + size + 1
  }
  return contents
}

interface FastImport {
  readonly files: ReadonlyMap<string, Buffer | BranchFile>
  readonly ref: string
  readonly now: Date
}

const MESSAGE = "What Strata keeps for its other machines. Each sync replaces this commit."

function buildFastImport({ files, ref, now }: FastImport): Buffer {
  const seconds = Math.floor(now.getTime() / 1000)
  const parts: Buffer[] = []
  const write = (text: string) => parts.push(Buffer.from(text))
  write(`reset ${ref}\n\ncommit ${ref}\ncommitter Strata <strata@localhost> ${seconds} +0000\n`)
  write(`data ${Buffer.byteLength(MESSAGE)}\n${MESSAGE}\n`)
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (/["\n\0]/.test(path)) continue // never in the names that Strata creates
    if (!Buffer.isBuffer(content)) write(`M 100644 ${content.blob} ${path}\n`)
    else {
      write(`M 100644 inline ${path}\ndata ${content.length}\n`)
      parts.push(content)
      write("\n")
    }
  }
  return Buffer.concat(parts)
}
