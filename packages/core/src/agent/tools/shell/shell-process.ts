/**
 * Runs one command line in its own shell and process group, without input or terminal. Standard output and error share one stream. When the
 * command ends, the rest of its group is ended. It never outlives this process.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { constants } from "node:os"
import type { Readable } from "node:stream"
import { setTimeout as wait } from "node:timers/promises"
import { errorReason } from "../../../base/errors.ts"
import { groupGuard, guardMe } from "../processes/group-guard.ts"
import { measureActivity, type ProcessActivity } from "../processes/process-activity.ts"
import { endProcesses, groupExists, MARK_VARIABLE } from "../processes/process-group.ts"
import type { BoundedOutput } from "./bounded-output.ts"

export interface ShellCommand {
  readonly command: string
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  readonly output: BoundedOutput
  readonly shell?: string
  readonly sandbox?: {
    /** Command line prefix that starts the shell in the sandbox. */
    readonly enter: readonly string[]
    /** Whether all processes end with the first one. */
    readonly hasNamespaces: boolean
  }
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs?: number
  readonly onText?: (text: string) => void
}

/** `waiting`: the command waited without output or work. */
export type StopReason = "timeout" | "aborted" | "killed" | "closed" | "waiting"

export type ShellEnd =
  /** `directory`: last working directory, if known. After a signal, `code` is 128 plus the signal's number, as in shells. */
  | { readonly state: "exited"; readonly code: number; readonly signal?: string; readonly directory?: string }
  | { readonly state: "stopped"; readonly why: StopReason }
  | { readonly state: "not started"; readonly why: string }

const DEFAULT_SHELL = "/bin/bash"
const DEFAULT_GRACE_MS = 2_000
const QUIET_MS = 50 // after this time, a pipe that a daemon keeps open counts as empty

/**
 * Wrapper script, on one line so that line numbers in error messages are those of the command. `eval` contains syntax errors. The command
 * sees neither descriptor 3, which reports the directory, nor any arguments.
 */
const WRAPPER = `trap 'pwd -P 2>/dev/null >&3' EXIT; exec 2>&1; eval "set --; $1" 3>&-`
/** Registers with the guard outside the sandbox, because inside it processes have other ids and no access to the guard's input. */
const ENTER = `${guardMe()}; exec "$@" 2>&1`

export class ShellProcess {
  /** Resolves when the command and its group have ended. Never rejects. */
  readonly ended: Promise<ShellEnd>
  readonly #mark = randomUUID()
  readonly #graceMs: number
  #child: ChildProcess | undefined
  #stopped: StopReason | undefined
  #stopping: Promise<void> | undefined
  #chunks = 0

  constructor(command: ShellCommand) {
    this.#graceMs = command.graceMs ?? DEFAULT_GRACE_MS
    this.ended = this.#run(command).catch((error) => ({ state: "not started" as const, why: errorReason(error) }))
  }

  /** Ends the command with all processes it started, inside or outside its group. If called again, the first reason is reported. */
  async stop(why: StopReason): Promise<ShellEnd> {
    const group = this.#child?.pid
    if (group !== undefined) {
      this.#stopped ??= why
      this.#stopping ??= endProcesses({ group, mark: this.#mark }, this.#graceMs)
    }
    return this.ended
  }

  /** Measures the work so far. `undefined` when the command has ended. */
  async work(): Promise<(ProcessActivity & { readonly chunks: number }) | undefined> {
    const group = this.#child?.pid
    return group === undefined
      ? undefined
      : { ...(await measureActivity({ group, mark: this.#mark })), chunks: this.#chunks }
  }

  async #run(given: ShellCommand): Promise<ShellEnd> {
    const { directory, env, output, onText } = given
    const guard = groupGuard()
    const shellIds = [env[MARK_VARIABLE], this.#mark].filter((mark) => mark !== undefined).join(":")
    const [program, ...args] = commandLine(given)
    const child = spawn(program!, args, {
      cwd: directory,
      env: { ...env, [MARK_VARIABLE]: shellIds },
      detached: true, // new session and group, without a terminal
      stdio: ["ignore", "pipe", "ignore", "pipe", guard.input],
    })
    this.#child = child
    if (child.pid !== undefined) guard.add(child.pid)
    child.stdout!.on("data", (bytes: Buffer) => {
      this.#chunks++
      const text = output.append(bytes)
      onText?.(text)
    })
    const directoryStream = child.stdio[3] as Readable
    const lastDirectory = collect(directoryStream)
    // Bun reports the child's close before this stream has been read
    const closed = Promise.allSettled([once(child, "close"), once(directoryStream, "close")])
    const exit = once(child, "exit") // rejects if the shell could not be started
    try {
      const [code, signal] = (await exit) as [number | null, NodeJS.Signals | null]
      await this.#endLeftovers(child.pid!, given.sandbox?.hasNamespaces ?? false)
      await this.#drain(closed)
      output.finish()
      return this.#describe(code, signal, lastDirectory())
    } finally {
      for (const stream of [child.stdout, directoryStream]) stream?.destroy()
      if (child.pid !== undefined) guard.remove(child.pid)
      this.#child = undefined // from here on the id may belong to another process, so `stop` sends no signal
    }
  }

  /** Ends the remaining processes of the group. Processes that left it intentionally continue, unless the command was stopped. */
  async #endLeftovers(group: number, endByThemselves: boolean): Promise<void> {
    if (this.#stopping) await this.#stopping
    else if (!endByThemselves && groupExists(group)) await endProcesses({ group }, this.#graceMs)
  }

  /** Reads the remaining output from the pipe. */
  async #drain(closed: Promise<unknown>): Promise<void> {
    let isClosed = false
    const close = closed.then(() => {
      isClosed = true
    })
    for (let seen = -1; !isClosed && seen !== this.#chunks; ) {
      seen = this.#chunks
      await Promise.race([close, wait(QUIET_MS, undefined, { ref: false })])
    }
  }

  #describe(code: number | null, signal: NodeJS.Signals | null, directory: string): ShellEnd {
    if (this.#stopped) return { state: "stopped", why: this.#stopped }
    if (signal) return { state: "exited", code: 128 + constants.signals[signal], signal }
    return { state: "exited", code: code ?? 0, ...(directory === "" ? {} : { directory }) }
  }
}

function commandLine({ command, shell = DEFAULT_SHELL, sandbox }: ShellCommand): readonly string[] {
  if (!sandbox) return [shell, "-c", `${guardMe()}; ${WRAPPER}`, "bash", command]
  return ["/bin/sh", "-c", ENTER, "sh", ...sandbox.enter, shell, "-c", WRAPPER, "bash", command]
}

/** Collects a short stream, without its final newline. */
function collect(stream: Readable): () => string {
  const chunks: Buffer[] = []
  stream.on("data", (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString("utf8").replace(/\n$/, "")
}
