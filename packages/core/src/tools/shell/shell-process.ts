/**
 * One command line in a shell of its own: its own process group, no input, no terminal, standard output and error in one stream as they
 * come. When it ends, by itself or not, what it left behind in its group ends too; and it never outlives this process.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { constants } from "node:os"
import type { Readable } from "node:stream"
import { setTimeout as wait } from "node:timers/promises"
import { reasonOf } from "../../base/errors.ts"
import type { BoundedOutput } from "./bounded-output.ts"
import { GUARD_ME, groupGuard } from "./group-guard.ts"
import { endProcesses, groupExists, MARK_VARIABLE } from "./process-group.ts"

export interface ShellCommand {
  readonly command: string
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  readonly output: BoundedOutput
  readonly shell?: string
  /** How long processes have to end by themselves before they are killed. */
  readonly graceMs?: number
  readonly onText?: (text: string) => void
}

export type StopReason = "timeout" | "aborted" | "killed" | "closed"

export type ShellEnd =
  /** `directory`: where it was in the end, unless that cannot be known. A signal's code is 128 and its number, as shells say it. */
  | { readonly state: "exited"; readonly code: number; readonly signal?: string; readonly directory?: string }
  | { readonly state: "stopped"; readonly why: StopReason }
  | { readonly state: "not started"; readonly why: string }

const DEFAULT_SHELL = "/bin/bash"
const DEFAULT_GRACE_MS = 2_000
const QUIET_MS = 50 // after which a pipe that somebody still holds open (a daemon) is taken to be empty

/**
 * On one line, so that line numbers in error messages are the command's own. `eval` keeps a syntax error inside the command; the
 * command sees neither the descriptor on which the directory is told nor itself as an argument.
 */
const WRAPPER = `${GUARD_ME}; trap 'pwd -P 2>/dev/null >&3' EXIT; exec 2>&1; eval "set --; $1" 3>&-`

export class ShellProcess {
  /** Settles when the command and its group are gone; never rejects. */
  readonly ended: Promise<ShellEnd>
  readonly #mark = randomUUID()
  readonly #graceMs: number
  #child: ChildProcess | undefined
  #stopped: StopReason | undefined
  #stopping: Promise<void> | undefined
  #chunks = 0

  constructor(command: ShellCommand) {
    this.#graceMs = command.graceMs ?? DEFAULT_GRACE_MS
    this.ended = this.#run(command).catch((error) => ({ state: "not started" as const, why: reasonOf(error) }))
  }

  /** Ends the command and everything it started, also what left its group. The first reason stands. */
  async stop(why: StopReason): Promise<ShellEnd> {
    const group = this.#child?.pid
    if (group !== undefined) {
      this.#stopped ??= why
      this.#stopping ??= endProcesses({ group, mark: this.#mark }, this.#graceMs)
    }
    return this.ended
  }

  async #run({ command, directory, env, output, shell = DEFAULT_SHELL, onText }: ShellCommand): Promise<ShellEnd> {
    const guard = groupGuard()
    const marks = [env[MARK_VARIABLE], this.#mark].filter((mark) => mark !== undefined).join(":")
    const child = spawn(shell, ["-c", WRAPPER, "bash", command], {
      cwd: directory,
      env: { ...env, [MARK_VARIABLE]: marks },
      detached: true, // a session and group of its own, and with that no terminal to ask at
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
    // bun reports the child's close before this stream has been read
    const closed = Promise.allSettled([once(child, "close"), once(directoryStream, "close")])
    const exit = once(child, "exit") // rejects where the shell could not be started
    try {
      const [code, signal] = (await exit) as [number | null, NodeJS.Signals | null]
      await this.#endLeftovers(child.pid!)
      await this.#drain(closed)
      output.finish()
      return this.#describe(code, signal, lastDirectory())
    } finally {
      for (const stream of [child.stdout, directoryStream]) stream?.destroy()
      if (child.pid !== undefined) guard.remove(child.pid)
      this.#child = undefined // from here on its number may be another's: `stop` signals nobody
    }
  }

  /** What is still in the group after the shell has gone. What left the group on purpose may stay, unless the command was stopped. */
  async #endLeftovers(group: number): Promise<void> {
    if (this.#stopping) await this.#stopping
    else if (groupExists(group)) await endProcesses({ group }, this.#graceMs)
  }

  /** Output still in the pipe when all is over. */
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

/** All that comes out of a stream of a few bytes, without the line end. */
function collect(stream: Readable): () => string {
  const chunks: Buffer[] = []
  stream.on("data", (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks).toString("utf8").replace(/\n$/, "")
}
