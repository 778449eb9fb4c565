/**
 * The shells of one conversation, including those in the background. None of them outlives the conversation.
 */
import { stat } from "node:fs/promises"
import { dirname, sep } from "node:path"
import { MAX_RESULT_HELD } from "../../../tools/result-size.ts"
import type { BackgroundShell, ToolContext, WorkingDirectory } from "../../../tools/tool.ts"
import { BoundedOutput } from "./bounded-output.ts"
import { prepareRun } from "./guarded-run.ts"
import type { EnvironmentOptions } from "./shell-environment.ts"
import { ShellProcess } from "./shell-process.ts"

/** How commands run. */
export interface ShellOptions extends EnvironmentOptions {
  /** A POSIX shell. */
  readonly shell?: string
  /** For a command without its own timeout. */
  readonly timeoutMs?: number
  /** The longest timeout a command may ask for. */
  readonly maxTimeoutMs?: number
  readonly graceMs?: number
  /** How much of a command's output is its result. Default: all of it up to a million characters if large results are put aside, otherwise 30,000. */
  readonly outputCharacters?: number
  /** Longer output is kept whole in this directory. */
  readonly outputDirectory?: string
  /** Directories whose files are not a command's work, such as the one with the journals. */
  readonly notItsWork?: readonly string[]
}

export const DEFAULT_TIMEOUT_MS = 120_000
export const MAX_TIMEOUT_MS = 600_000
export const SHORT_OUTPUT_CHARACTERS = 30_000 // where nothing is put aside: the end of the output matters as much as its start
const PROGRESS_EVERY_MS = 200
const PROGRESS_CHARACTERS = 200

export interface RunningShell {
  readonly id: string
  readonly command: string
  readonly process: ShellProcess
  readonly output: BoundedOutput
  /** It runs in a sandbox, read-only and without network. */
  readonly isConfined: boolean
  /** After this time without output and work it counts as waiting for ever. */
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
    const max = context.putsAside?.() ? MAX_RESULT_HELD : SHORT_OUTPUT_CHARACTERS
    const id = `shell_${++this.#started}`
    const output = new BoundedOutput({
      characters: this.options.outputCharacters ?? max,
      name: context.toolUseId.replace(/[^\w-]/g, "_"), // unlike the shell's id, it is not reused after a resume
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
    const isConfined = run.sandbox !== undefined && context.unasked === true
    return { id, command, process, output, isConfined, ...(run.waitMs === undefined ? {} : { waitMs: run.waitMs }) }
  }

  /** Where to look for what a command changed: the directory of the first one, unless the shell has left it. */
  projectAround(directory: string): string {
    this.#project ??= directory
    return isWithin(directory, this.#project) ? this.#project : directory
  }

  /** Keeps the shell under its id. */
  sendToBackground(shell: RunningShell): void {
    this.#background.set(shell.id, shell)
  }

  find(id: string): RunningShell | undefined {
    return this.#background.get(id)
  }

  /** Those in the background that still run. */
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

  /** Ends every command that still runs. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#running].map((process) => process.stop("closed")))
  }
}

/** Shows the newest line, a few times a second. */
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

/** If the working directory is gone, moves to its nearest existing parent and returns the one that is gone. */
export async function leaveMissingDirectory(directory: WorkingDirectory): Promise<string | undefined> {
  const gone = directory.get()
  let path = gone
  while (!(await isDirectory(path)) && path !== dirname(path)) path = dirname(path)
  if (path === gone) return undefined
  directory.set(path)
  return gone
}
