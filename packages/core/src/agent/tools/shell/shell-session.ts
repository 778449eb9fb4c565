/** The shells of one conversation, including background ones. None outlives the conversation. */
import { stat } from "node:fs/promises"
import { dirname, sep } from "node:path"
import { MAX_RESULT_CHARACTERS } from "../../../tools/result-size.ts"
import type { BackgroundShell, ToolContext, WorkingDirectory } from "../../../tools/tool.ts"
import { BoundedOutput } from "./bounded-output.ts"
import { prepareRun } from "./guarded-run.ts"
import type { EnvironmentOptions } from "./shell-environment.ts"
import { ShellProcess } from "./shell-process.ts"

/** Options for running commands. */
export interface ShellOptions extends EnvironmentOptions {
  /** Path of a POSIX shell. */
  readonly shell?: string
  /** Timeout of a command that does not specify one. */
  readonly timeoutMs?: number
  /** Maximum timeout that a command may specify. */
  readonly maxTimeoutMs?: number
  readonly graceMs?: number
  /** Maximum characters of output in a result. Default: a million if large results are offloaded, otherwise 30,000. */
  readonly outputCharacters?: number
  /** Directory for files with longer output. */
  readonly outputDirectory?: string
  /** Directories whose changes are not attributed to commands, such as the one with the journals. */
  readonly ignoredDirectories?: readonly string[]
}

export const DEFAULT_TIMEOUT_MS = 120_000
export const MAX_TIMEOUT_MS = 600_000
export const SHORT_OUTPUT_CHARACTERS = 30_000 // limit if results are not offloaded; beginning and end of the output matter equally
const PROGRESS_EVERY_MS = 200
const PROGRESS_CHARACTERS = 200

export interface RunningShell {
  readonly id: string
  readonly command: string
  readonly process: ShellProcess
  readonly output: BoundedOutput
  /** Whether it runs in a sandbox with read-only files and no network. */
  readonly isConfined: boolean
  /** Time without output and work after which it counts as waiting forever. */
  readonly waitMs?: number
}

export class ShellSession {
  readonly options: ShellOptions
  readonly #running = new Set<ShellProcess>()
  readonly #background = new Map<string, RunningShell>()
  #started = 0
  #project: string | undefined
  #isClosed = false

  constructor(options: ShellOptions = {}) {
    this.options = options
  }

  async start(command: string, context: ToolContext): Promise<RunningShell> {
    const directory = context.directory.get()
    this.#project ??= directory
    const project = this.#project
    const run = await prepareRun(command, context, { project, environment: this.options })
    if (this.#isClosed) {
      run.release()
      throw new Error("The conversation's shells are closed. The command was not run.")
    }
    const { outputDirectory, shell, graceMs } = this.options
    const max = context.offloadsResults?.() ? MAX_RESULT_CHARACTERS : SHORT_OUTPUT_CHARACTERS
    const id = `shell_${++this.#started}`
    const output = new BoundedOutput({
      characters: this.options.outputCharacters ?? max,
      name: context.toolUseId.replace(/[^\w-]/g, "_"), // unlike the shell's id, the call id is not reused after a resume
      ...(outputDirectory === undefined ? {} : { directory: outputDirectory }),
    })
    const process = new ShellProcess({
      command,
      directory,
      env: run.env,
      output,
      onText: progressTo(context),
      ...(run.sandbox === undefined ? {} : { sandbox: run.sandbox }),
      ...(shell === undefined ? {} : { shell }),
      ...(graceMs === undefined ? {} : { graceMs }),
    })
    this.#running.add(process)
    process.ended.then(() => {
      this.#running.delete(process)
      run.release()
    })
    const isConfined = run.sandbox !== undefined && context.unapproved === true
    return { id, command, process, output, isConfined, ...(run.waitMs === undefined ? {} : { waitMs: run.waitMs }) }
  }

  /** Directory to scan for a command's changes: the first working directory, unless the shell has left it. */
  projectAround(directory: string): string {
    this.#project ??= directory
    return isWithin(directory, this.#project) ? this.#project : directory
  }

  /** Registers a background shell under its id. */
  sendToBackground(shell: RunningShell): void {
    this.#background.set(shell.id, shell)
  }

  find(id: string): RunningShell | undefined {
    return this.#background.get(id)
  }

  /** Running background commands. */
  runningInBackground(): readonly BackgroundShell[] {
    const running = [...this.#background.values()].filter(({ process }) => this.#running.has(process))
    return running.map(({ id, command, process }) => ({
      ...{ id, command },
      stop: async () => void (await process.stop("killed")),
    }))
  }

  ids(): readonly string[] {
    return [...this.#background.keys()]
  }

  /** Ends all running commands. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#running].map((process) => process.stop("closed")))
  }
}

/** Reports the newest line of output, a few times a second. */
function progressTo(context: ToolContext): (text: string) => void {
  let last = Number.NEGATIVE_INFINITY
  return (text) => {
    const now = context.clock.now().getTime()
    const line = text.trimEnd().split("\n").at(-1)!
    if (line === "" || now - last < PROGRESS_EVERY_MS) return
    last = now
    context.progress(line.slice(0, PROGRESS_CHARACTERS))
  }
}

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`)

export async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() ?? false
}

/** If the working directory no longer exists, changes to its nearest existing ancestor and returns the missing one. */
export async function leaveMissingDirectory(directory: WorkingDirectory): Promise<string | undefined> {
  const gone = directory.get()
  let path = gone
  while (!(await isDirectory(path)) && path !== dirname(path)) path = dirname(path)
  if (path === gone) return undefined
  directory.set(path)
  return gone
}
