/**
 * A separate working tree for a sub-agent. It starts with the project's current state, including uncommitted and new files. The agent's
 * changes are a diff that the lead merges or drops. Nothing is removed before that.
 */
import { isUtf8 } from "node:buffer"
import { hash } from "node:crypto"
import { copyFile, mkdir, mkdtemp, rm, rmdir, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { Disk } from "../agent/tools/shell/command/disk.ts"
import { findRepository } from "../agent/tools/shell/command/git-config.ts"
import { shellEnvironment } from "../agent/tools/shell/shell-environment.ts"
import { validateId } from "../base/clock.ts"
import { StrataError } from "../base/errors.ts"
import { type GitCall as RunGit, runGit } from "../base/git.ts"
import { isLocalNamespace } from "../base/owner.ts"

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024

export interface WorktreeLocation {
  /** The project's directory. */
  readonly cwd: string
  /** Strata's root directory. Worktrees are in a sibling directory, because no tool may write inside the root. */
  readonly root: string
  /** Namespace of the lead's conversation in the store. */
  readonly project: string
  /** Id of the lead's conversation. */
  readonly conversation: string
  readonly agent: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface WorktreeChanges {
  /** Output of `git diff`, including binary files. Empty if nothing changed. */
  readonly diff: string
  /** Paths relative to the root of the repository. */
  readonly files: readonly string[]
  /** Hash of the git tree: equal for equal contents. */
  readonly tree: string
}

export type MergeOutcome =
  | { readonly state: "merged"; readonly files: readonly string[] }
  | { readonly state: "nothing" }
  /** The changes differ from the reviewed ones. Nothing was changed. */
  | { readonly state: "other" }
  /** The project has conflicting changes. Nothing was changed. `reason` is git's message. */
  | { readonly state: "conflict"; readonly reason: string }

/** A working tree could not be created or read. */
export class WorktreeError extends StrataError {
  static override readonly code: string = "worktree"
  override readonly name = "WorktreeError"
}

export class Worktree {
  /** The agent's working directory: corresponds to the project's directory within the repository. */
  readonly directory: string
  /** Root of the project's repository, which changes are merged into. */
  readonly top: string
  readonly #place: WorktreeLocation
  readonly #copy: string

  private constructor(place: WorktreeLocation, top: string) {
    this.#place = place
    this.top = top
    this.#copy = worktreePath(place)
    this.directory = join(this.#copy, relative(top, place.cwd))
  }

  static async create(place: WorktreeLocation, signal?: AbortSignal): Promise<Worktree> {
    const worktree = new Worktree(place, repositoryAround(place.cwd))
    await worktree.#create(signal)
    return worktree
  }

  /** Whether the directory is in a repository that supports working trees. */
  static isPossibleIn(directory: string): boolean {
    const found = findRepository(directory, new Disk())
    return found.state === "found" && found.danger === undefined
  }

  /** Finds an existing working tree, including those of ended processes. `undefined` if it does not exist. */
  static async find(place: WorktreeLocation): Promise<Worktree | undefined> {
    const facts = await stat(worktreePath(place)).catch(() => undefined)
    return facts?.isDirectory() ? new Worktree(place, repositoryAround(place.cwd)) : undefined
  }

  /** Root directory of the copy. */
  get copy(): string {
    return this.#copy
  }

  /** All changes since the start, committed or not, except files that git ignores. */
  async changes(): Promise<WorktreeChanges> {
    const { diff, changed, tree } = await this.#compare()
    return { diff: diff.toString("utf8"), files: changed.map(({ name }) => name.toString("utf8")), tree }
  }

  /** Compares the trees that git has stored, because files may change at any time. */
  async #compare(): Promise<{ diff: Buffer; changed: readonly ChangedFile[]; tree: string }> {
    for (const directory of [this.#place.cwd, this.#copy]) repositoryAround(directory) // the agent may have changed the repository's settings
    const base = await this.#base()
    await this.#inCopy(["add", "--all"])
    const tree = (await this.#inCopy(["write-tree"])).trim()
    const compared = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"]
    const bytes = (how: readonly string[]) => this.#bytes([...compared, ...how, base, tree], { at: this.#copy })
    const [diff, list] = await Promise.all([bytes(["--binary"]), bytes(["--raw", "-z"])])
    return { diff, changed: changedFiles(list), tree }
  }

  /** Applies all changes to the project, or none. Nothing is committed or staged. With `expected`: only if the tree is still the same. */
  async merge(expected?: string): Promise<MergeOutcome> {
    const { diff, changed, tree } = await this.#compare()
    if (expected !== undefined && expected !== tree) return { state: "other" }
    if (diff.length === 0) return { state: "nothing" }
    this.#mustBeMergeable(changed)
    const files = changed.map(({ name }) => name.toString("utf8"))
    const apply = ["apply", "--whitespace=nowarn"]
    try {
      await this.#git([...apply, "--check"], { at: this.top, input: diff })
    } catch (error) {
      return { state: "conflict", reason: error instanceof WorktreeError ? error.message : String(error) }
    }
    await this.#git(apply, { at: this.top, input: diff })
    await this.#advance(tree)
    return { state: "merged", files }
  }

  #mustBeMergeable(changed: readonly ChangedFile[]): void {
    const repository = changed.find(({ isRepository }) => isRepository)
    if (repository)
      throw new WorktreeError(
        `Nothing was merged: ${repository.name} is a repository of its own, and git does not carry the files in it. They are in ${this.directory}.`,
      )
    const odd = changed.find(({ name }) => !isUtf8(name))
    if (odd) throw new WorktreeError(`Nothing was merged: the name of the file ${odd.name} is not UTF-8.`)
  }

  /** Moves the start to the merged tree, so that merged changes are not reported again and the agent can continue. */
  async #advance(tree: string): Promise<void> {
    const merged = await this.#inCopy(["commit-tree", tree, "-p", await this.#base(), "-m", "Merged into the project"])
    await this.#git(["update-ref", this.#ref, merged.trim()], { at: this.top })
  }

  /** Removes the working tree with all its files. */
  async drop(): Promise<void> {
    await this.#git(["worktree", "remove", "--force", this.#copy], { at: this.top })
    await this.#git(["update-ref", "-d", this.#ref], { at: this.top })
    await rmdir(dirname(this.#copy)).catch(() => undefined) // fails if other agents of the conversation have working trees in it
  }

  async #create(signal: AbortSignal | undefined): Promise<void> {
    const start = await this.#snapshot(signal)
    await mkdir(dirname(this.#copy), { recursive: true, mode: 0o700 })
    const at = { at: this.top, signal }
    await this.#git(["update-ref", this.#ref, start], at) // refers to the start, and prevents git from collecting it
    try {
      await this.#git(["worktree", "add", "--detach", "--quiet", this.#copy, start], at)
    } catch (error) {
      await this.#git(["update-ref", "-d", this.#ref], { at: this.top })
      throw error
    }
  }

  /** Commits the current state of all files, using a temporary index. */
  async #snapshot(signal: AbortSignal | undefined): Promise<string> {
    const at = { at: this.top, signal }
    const head = await this.#git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], at).catch(() => "")
    const scratch = await mkdtemp(join(tmpdir(), "strata-index-"))
    try {
      const index = join(scratch, "index")
      const own = await this.#git(["rev-parse", "--git-path", "index"], at)
      await copyFile(resolve(this.top, own.trim()), index).catch(() => undefined) // a new repository has no index; copying it only saves time
      const staged = { ...at, env: { GIT_INDEX_FILE: index } }
      await this.#git(["add", "--all"], staged)
      const tree = await this.#git(["write-tree"], staged)
      const parents = head === "" ? [] : ["-p", head.trim()]
      const made = await this.#git(
        ["commit-tree", tree.trim(), ...parents, "-m", "The project at the start of an agent"],
        at,
      )
      return made.trim()
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }

  get #ref(): string {
    return `refs/strata/${this.#place.conversation}/${this.#place.agent}`
  }

  async #base(): Promise<string> {
    return (await this.#git(["rev-parse", "--verify", "--quiet", this.#ref], { at: this.top })).trim()
  }

  #inCopy(args: readonly string[]): Promise<string> {
    return this.#git(args, { at: this.#copy })
  }

  async #git(args: readonly string[], options: GitOptions): Promise<string> {
    return (await this.#bytes(args, options)).toString("utf8")
  }

  #bytes(args: readonly string[], options: GitOptions): Promise<Buffer> {
    return gitOutput({ args, ...options, env: { ...gitEnvironment(this.#place.env), ...options.env } })
  }
}

/** A changed file. Names are bytes, because files may use any encoding. */
interface ChangedFile {
  readonly name: Buffer
  /** Whether the file is a nested repository, of which git stores only a reference. */
  readonly isRepository: boolean
}

/** Parses `git diff --raw -z`: `:<old mode> <new mode> <hash> <hash> <status>`, then the name. */
function changedFiles(list: Buffer): readonly ChangedFile[] {
  const files: ChangedFile[] = []
  for (let at = 0; at < list.length; ) {
    const aboutEnd = list.indexOf(0, at)
    const nameEnd = list.indexOf(0, aboutEnd + 1)
    const [, mode] = list.toString("latin1", at, aboutEnd).split(" ")
    files.push({ name: list.subarray(aboutEnd + 1, nameEnd), isRepository: mode === "160000" })
    at = nameEnd + 1
  }
  return files
}

/** Environment for git without variables such as GIT_DIR, which would point it to another repository. */
function gitEnvironment(env: WorktreeLocation["env"]): Readonly<Record<string, string>> {
  const own = Object.entries(env).filter(([name]) => !name.startsWith("GIT_"))
  return shellEnvironment(Object.fromEntries(own))
}

/**
 * The directory of all working trees of a namespace. Each namespace except the local user's has its own, because two owners may use the
 * same conversation id.
 */
export function worktreesDirectory({ root, project }: Pick<WorktreeLocation, "root" | "project">): string {
  const all = `${root}-worktrees`
  return isLocalNamespace(project) ? all : join(all, hash("sha256", project, "hex").slice(0, 16))
}

const worktreePath = ({ conversation, agent, ...place }: WorktreeLocation): string =>
  join(worktreesDirectory(place), validateId("conversation id", conversation), validateId("agent id", agent))

/** Root of the repository that contains a directory. Throws if git could start other programs there. */
function repositoryAround(directory: string): string {
  const found = findRepository(directory, new Disk())
  if (found.state !== "found")
    throw new WorktreeError(
      `${directory} is not in a git repository, so no agent can have a working tree of its own. Start it without isolation.`,
    )
  if (found.danger !== undefined)
    throw new WorktreeError(
      `Git was not run, because the repository at ${found.top} could make it start other programs: ${found.danger}.`,
    )
  return found.top
}

type GitRun = Pick<RunGit, "args" | "at" | "env" | "input" | "signal">

type GitOptions = Omit<GitRun, "args" | "env"> & Partial<Pick<GitRun, "env">>

async function gitOutput(call: GitRun): Promise<Buffer> {
  try {
    return await runGit({ ...call, maxOutputBytes: MAX_OUTPUT_BYTES })
  } catch (error) {
    call.signal?.throwIfAborted()
    const { stderr, message } = error as { readonly stderr?: Buffer; readonly message: string }
    throw new WorktreeError(`git ${call.args[0]} failed: ${stderr?.toString("utf8").trim() || message}`)
  }
}
