/**
 * A working tree of its own for a sub-agent. It starts as the project is now, uncommitted and new files included. What the agent changes
 * there comes back as a diff that the lead merges or drops. Until then nothing of it is removed.
 */
import { isUtf8 } from "node:buffer"
import { hash } from "node:crypto"
import { copyFile, mkdir, mkdtemp, rm, rmdir, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { Disk } from "../agent/tools/shell/command/disk.ts"
import { findRepository } from "../agent/tools/shell/command/git-config.ts"
import { shellEnvironment } from "../agent/tools/shell/shell-environment.ts"
import { checkedId } from "../base/clock.ts"
import { StrataError } from "../base/errors.ts"
import { type GitCall as RunGit, runGit } from "../base/git.ts"
import { isLocal } from "../base/owner.ts"

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024

export interface WorktreePlace {
  /** The project's directory. */
  readonly cwd: string
  /** Where Strata keeps its files. Worktrees are beside it: no tool may write inside it. */
  readonly root: string
  /** Where the store keeps the lead's conversation. */
  readonly project: string
  /** The lead's conversation, and the agent's id. */
  readonly conversation: string
  readonly agent: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface WorktreeChanges {
  /** As `git diff` prints it, binary files included. Empty if nothing changed. */
  readonly diff: string
  /** Paths from the root of the repository. */
  readonly files: readonly string[]
  /** What git calls these contents: equal for equal changes. */
  readonly tree: string
}

export type MergeOutcome =
  | { readonly state: "merged"; readonly files: readonly string[] }
  | { readonly state: "nothing" }
  /** They are not those that were looked at. Nothing was changed. */
  | { readonly state: "other" }
  /** The project has other changes at the same places. Nothing was changed. `why` is what git says. */
  | { readonly state: "conflict"; readonly why: string }

/** A worktree could not be made or read. */
export class WorktreeError extends StrataError {
  static override readonly code: string = "worktree"
  override readonly name = "WorktreeError"
}

export class Worktree {
  /** The agent's working directory: the same place in the repository as the project's directory. */
  readonly directory: string
  /** The root of the project's repository, which changes are merged into. */
  readonly top: string
  readonly #place: WorktreePlace
  readonly #copy: string

  private constructor(place: WorktreePlace, top: string) {
    this.#place = place
    this.top = top
    this.#copy = pathOf(place)
    this.directory = join(this.#copy, relative(top, place.cwd))
  }

  static async create(place: WorktreePlace, signal?: AbortSignal): Promise<Worktree> {
    const worktree = new Worktree(place, repositoryAround(place.cwd))
    await worktree.#create(signal)
    return worktree
  }

  /** Whether a directory is in a repository where an agent can have one. */
  static isPossibleIn(directory: string): boolean {
    const found = findRepository(directory, new Disk())
    return found.state === "found" && found.danger === undefined
  }

  /** One that was made before, also by a process that ended. `undefined` where it does not exist. */
  static async find(place: WorktreePlace): Promise<Worktree | undefined> {
    const facts = await stat(pathOf(place)).catch(() => undefined)
    return facts?.isDirectory() ? new Worktree(place, repositoryAround(place.cwd)) : undefined
  }

  /** Where the repository's files are in the copy. */
  get copy(): string {
    return this.#copy
  }

  /** Everything that differs from the start, committed or not. Files that git ignores are left out. */
  async changes(): Promise<WorktreeChanges> {
    const { diff, changed, tree } = await this.#compared()
    return { diff: diff.toString("utf8"), files: changed.map(({ name }) => name.toString("utf8")), tree }
  }

  /** The files may change at any time, so everything is compared with what git has taken in. */
  async #compared(): Promise<{ diff: Buffer; changed: readonly ChangedFile[]; tree: string }> {
    for (const directory of [this.#place.cwd, this.#copy]) repositoryAround(directory) // the agent may have changed its settings
    const base = await this.#base()
    await this.#inCopy(["add", "--all"])
    const tree = (await this.#inCopy(["write-tree"])).trim()
    const compared = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"]
    const bytes = (how: readonly string[]) => this.#bytes([...compared, ...how, base, tree], { at: this.#copy })
    const [diff, list] = await Promise.all([bytes(["--binary"]), bytes(["--raw", "-z"])])
    return { diff, changed: changedFiles(list), tree }
  }

  /** Takes the changes into the project: all of them or none. Nothing is committed or staged. With a tree: only if they are these. */
  async merge(expected?: string): Promise<MergeOutcome> {
    const { diff, changed, tree } = await this.#compared()
    if (expected !== undefined && expected !== tree) return { state: "other" }
    if (diff.length === 0) return { state: "nothing" }
    this.#mustBeMergeable(changed)
    const files = changed.map(({ name }) => name.toString("utf8"))
    const apply = ["apply", "--whitespace=nowarn"]
    try {
      await this.#git([...apply, "--check"], { at: this.top, input: diff })
    } catch (error) {
      return { state: "conflict", why: error instanceof WorktreeError ? error.message : String(error) }
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

  /** What was merged is no longer a change: the agent may go on from here. */
  async #advance(tree: string): Promise<void> {
    const merged = await this.#inCopy(["commit-tree", tree, "-p", await this.#base(), "-m", "Merged into the project"])
    await this.#git(["update-ref", this.#ref, merged.trim()], { at: this.top })
  }

  /** Removes the worktree and everything in it. */
  async drop(): Promise<void> {
    await this.#git(["worktree", "remove", "--force", this.#copy], { at: this.top })
    await this.#git(["update-ref", "-d", this.#ref], { at: this.top })
    await rmdir(dirname(this.#copy)).catch(() => undefined) // other agents of the conversation may have theirs in it
  }

  async #create(signal: AbortSignal | undefined): Promise<void> {
    const start = await this.#snapshot(signal)
    await mkdir(dirname(this.#copy), { recursive: true, mode: 0o700 })
    const at = { at: this.top, signal }
    await this.#git(["update-ref", this.#ref, start], at) // so that the start is found again, and git does not collect it
    try {
      await this.#git(["worktree", "add", "--detach", "--quiet", this.#copy, start], at)
    } catch (error) {
      await this.#git(["update-ref", "-d", this.#ref], { at: this.top })
      throw error
    }
  }

  /** A commit of all files as they are now, made with an index of its own. */
  async #snapshot(signal: AbortSignal | undefined): Promise<string> {
    const at = { at: this.top, signal }
    const head = await this.#git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], at).catch(() => "")
    const scratch = await mkdtemp(join(tmpdir(), "strata-index-"))
    try {
      const index = join(scratch, "index")
      const own = await this.#git(["rev-parse", "--git-path", "index"], at)
      await copyFile(resolve(this.top, own.trim()), index).catch(() => undefined) // a new repository has none; the copy only saves time
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

/** Names and diffs are bytes: files may be in any encoding. */
interface ChangedFile {
  readonly name: Buffer
  /** A repository inside the repository, which git keeps only a reference to. */
  readonly isRepository: boolean
}

/** Reads `git diff --raw -z`: `:<old mode> <new mode> <hash> <hash> <status>`, then the name. */
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

/** A variable such as GIT_DIR would lead git to another repository. */
function gitEnvironment(env: WorktreePlace["env"]): Readonly<Record<string, string>> {
  const own = Object.entries(env).filter(([name]) => !name.startsWith("GIT_"))
  return shellEnvironment(Object.fromEntries(own))
}

/** Two owners may use the same conversation id, so each place but the local person's has a directory of its own. */
export function worktreesDirectory({ root, project }: Pick<WorktreePlace, "root" | "project">): string {
  const all = `${root}-worktrees`
  return isLocal(project) ? all : join(all, hash("sha256", project, "hex").slice(0, 16))
}

const pathOf = ({ conversation, agent, ...place }: WorktreePlace): string =>
  join(worktreesDirectory(place), checkedId("conversation id", conversation), checkedId("agent id", agent))

/** The root of the repository around a directory, if git can run there without starting anything else. */
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

type GitCall = Pick<RunGit, "args" | "at" | "env" | "input" | "signal">

type GitOptions = Omit<GitCall, "args" | "env"> & Partial<Pick<GitCall, "env">>

async function gitOutput(call: GitCall): Promise<Buffer> {
  try {
    return await runGit({ ...call, maxOutputBytes: MAX_OUTPUT_BYTES })
  } catch (error) {
    call.signal?.throwIfAborted()
    const { stderr, message } = error as { readonly stderr?: Buffer; readonly message: string }
    throw new WorktreeError(`git ${call.args[0]} failed: ${stderr?.toString("utf8").trim() || message}`)
  }
}
