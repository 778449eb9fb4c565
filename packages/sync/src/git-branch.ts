/**
 * One branch of a remote, as a set of files. It has one commit without a parent, which each write replaces: what is erased is gone from the
 * branch. Everything happens in a temporary repository of its own. No repository or working tree of the person is touched, and nothing that a
 * repository could start is run; their own ssh and credentials are used.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { StrataError } from "@strata/core"
import { withoutSecrets } from "@strata/core/agent"
import { type GitCall, printable, runGit } from "@strata/core/base"
import { claimScratch } from "@strata/core/store"

const TIMEOUT_MS = 10 * 60_000 // for one connection
const MAX_FILES = 100_000
const MAX_LISTING = 64 * 1024 * 1024 // bytes
const MAX_BYTES = 2 * 1024 ** 3 // of all files that are read at once
const [THEIRS, OURS] = ["refs/theirs/branch", "refs/ours/branch"]

export interface BranchFile {
  /** By which git knows the content. */
  readonly blob: string
  readonly bytes: number
}

export interface BranchState {
  /** Nothing: the remote has no such branch. */
  readonly commit?: string
  readonly files: ReadonlyMap<string, BranchFile>
}

/** `overtaken`: another machine was faster, and nothing was written. */
export type WriteOutcome = "written" | "unchanged" | "overtaken"

export interface Branch {
  /** Asks the remote. */
  read(): Promise<BranchState>
  /** The contents of files that were read, by blob. */
  contents(files: Iterable<BranchFile>): Promise<ReadonlyMap<string, Buffer>>
  /** Makes these files all that the branch has: contents, or what it had in the state. */
  replace(files: ReadonlyMap<string, Buffer | BranchFile>, over: BranchState): Promise<WriteOutcome>
  close(): Promise<void>
}

export interface OpenBranch {
  readonly env: NodeJS.ProcessEnv
  readonly url: string
  /** Of the remote in messages: without credentials. */
  readonly title: string
  /** Without `refs/heads/`. */
  readonly name: string
  readonly now: () => Date
  /** Whether git may ask for a name or a password. */
  readonly isAtTerminal: boolean
}

export async function openBranch(given: OpenBranch): Promise<Branch> {
  const scratch = await claimScratch({ kind: "sync", of: `${given.url}\n${given.name}` })
  const repository = new Repository(given, scratch.directory)
  await repository.create()
  return {
    read: () => repository.read(),
    contents: (files) => repository.contents(files),
    replace: (files, over) => repository.replace(files, over),
    close: () => scratch.release(),
  }
}

class Repository {
  readonly #given: OpenBranch
  readonly #at: string
  readonly #env: Readonly<Record<string, string>>
  readonly #ref: string

  constructor(given: OpenBranch, at: string) {
    this.#given = given
    this.#at = at
    this.#env = gitEnvironment(given, join(at, "objects.git"))
    this.#ref = `refs/heads/${given.name}`
  }

  async create(): Promise<void> {
    await mkdir(join(this.#at, "empty")) // no template: nothing is copied into it
    await this.#git(["init", "--quiet", "--bare", `--template=${join(this.#at, "empty")}`, "objects.git"])
  }

  async read(): Promise<BranchState> {
    // a pattern: a branch that is not there is no error
    const refs = `+${this.#ref}*:${THEIRS}*`
    await this.#remote(["fetch", "--quiet", "--no-tags", "--prune", "--no-recurse-submodules", "place", refs])
    const commit = await this.#resolved(THEIRS)
    if (commit === undefined) return { files: new Map() }
    const listed = await this.#git(["ls-tree", "-r", "-z", "--long", commit], { max: MAX_LISTING })
    const files = filesIn(listed)
    if (files.size > MAX_FILES) throw this.#failed(`it has more than ${MAX_FILES} files`)
    return { commit, files }
  }

  async contents(files: Iterable<BranchFile>): Promise<ReadonlyMap<string, Buffer>> {
    const wanted = new Map([...files].map(({ blob, bytes }) => [blob, bytes]))
    const all = [...wanted.values()].reduce((sum, bytes) => sum + bytes, 0)
    if (all > MAX_BYTES) throw this.#failed(`its files have more than ${MAX_BYTES} bytes`)
    if (wanted.size === 0) return new Map()
    const input = Buffer.from([...wanted.keys()].map((blob) => `${blob}\n`).join(""))
    const output = await this.#git(["cat-file", "--batch"], { input, max: all + wanted.size * 100 })
    return contentsIn(output)
  }

  async replace(files: ReadonlyMap<string, Buffer | BranchFile>, over: BranchState): Promise<WriteOutcome> {
    const input = importOf({ files, ref: OURS, now: this.#given.now() })
    await this.#git(["fast-import", "--quiet", "--force"], { input })
    const [ours, theirs] = [await this.#resolved(`${OURS}^{tree}`), await this.#resolved(`${THEIRS}^{tree}`)]
    if (over.commit === undefined ? files.size === 0 : ours === theirs) return "unchanged"
    const lease = `--force-with-lease=${this.#ref}:${over.commit ?? ""}`
    try {
      await this.#remote(["push", "--quiet", "--no-signed", "--no-follow-tags", lease, "place", `${OURS}:${this.#ref}`])
      return "written"
    } catch (error) {
      if ((await this.read()).commit !== over.commit) return "overtaken"
      throw error
    }
  }

  async #resolved(name: string): Promise<string | undefined> {
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
      if (killed) throw this.#failed("it took too long")
      throw this.#failed(this.#withoutCredentials(stderr?.toString("utf8").trim() || String(code)))
    }
  }

  /** Git may repeat the address that it was given. */
  #withoutCredentials(text: string): string {
    const { url, title } = this.#given
    return printable(text.replaceAll(url, title).replace(/:\/\/[^/\s@]+@/g, "://"))
  }

  #failed(why: string): StrataError {
    return new StrataError(
      `The sync with ${printable(this.#given.title)} failed: ${why}. What was taken in so far is kept, and the remote is as it was. Run the command again.`,
      { code: "sync-remote" },
    )
  }
}

/** Of git's own variables, those that say how to reach a remote. Others would lead to another repository. */
const REACHING =
  /^GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_\w+|PROXY_COMMAND|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM)$/

function gitEnvironment({ env, url, isAtTerminal }: OpenBranch, directory: string): Readonly<Record<string, string>> {
  const own = Object.entries(env).filter(([name]) => !name.startsWith("GIT_") || REACHING.test(name))
  return {
    ...withoutSecrets(Object.fromEntries(own)),
    GIT_DIR: directory,
    GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh", // no program that an address names
    GIT_TERMINAL_PROMPT: isAtTerminal ? "1" : "0",
    // not an argument: other users see those, and an address can have a password in it
    ...{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "remote.place.url", GIT_CONFIG_VALUE_0: url },
  }
}

/** Reads `git ls-tree -z --long`: mode, type, blob and size, then the name. Links and other repositories are left out. */
function filesIn(listed: Buffer): ReadonlyMap<string, BranchFile> {
  const files = new Map<string, BranchFile>()
  for (const line of listed.toString("utf8").split("\0")) {
    const [, blob, bytes, path] = /^100644 blob ([0-9a-f]{40,64}) +(\d+)\t(.+)$/s.exec(line) ?? []
    if (path !== undefined) files.set(path, { blob: blob!, bytes: Number(bytes) })
  }
  return files
}

/** Reads `git cat-file --batch`: blob, type and size, the content, a line end. */
function contentsIn(output: Buffer): ReadonlyMap<string, Buffer> {
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

interface Import {
  readonly files: ReadonlyMap<string, Buffer | BranchFile>
  readonly ref: string
  readonly now: Date
}

const MESSAGE = "What Strata keeps for its other machines. Each sync replaces this commit."

function importOf({ files, ref, now }: Import): Buffer {
  const seconds = Math.floor(now.getTime() / 1000)
  const parts: Buffer[] = []
  const say = (text: string) => parts.push(Buffer.from(text))
  say(`reset ${ref}\n\ncommit ${ref}\ncommitter Strata <strata@localhost> ${seconds} +0000\n`)
  say(`data ${Buffer.byteLength(MESSAGE)}\n${MESSAGE}\n`)
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (/["\n\0]/.test(path)) continue // no name that Strata makes has one
    if (!Buffer.isBuffer(content)) say(`M 100644 ${content.blob} ${path}\n`)
    else {
      say(`M 100644 inline ${path}\ndata ${content.length}\n`)
      parts.push(content)
      say("\n")
    }
  }
  return Buffer.concat(parts)
}
