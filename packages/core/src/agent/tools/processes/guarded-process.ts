/**
 * A program with pipes, in its own process group. It ends with all processes it started: when it is stopped, and when this process ends,
 * even by SIGKILL. When the program exits, the rest of its group is ended.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { constants } from "node:os"
import type { Readable, Writable } from "node:stream"
import { setTimeout as wait } from "node:timers/promises"
import { errorReason } from "../../../base/errors.ts"
import { groupGuard, guardMe } from "./group-guard.ts"
import { endProcesses, groupExists, MARK_VARIABLE } from "./process-group.ts"

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly directory?: string
}

export type ProcessEnd =
  /** After a signal, `code` is 128 plus the signal's number, as in shells. */
  { readonly state: "exited"; readonly code: number } | { readonly state: "not started"; readonly why: string }

const LEFTOVER_GRACE_MS = 200
const QUIET_MS = 50 // after this time, a pipe that a daemon keeps open counts as empty

/** Registers with the guard, then executes the program with the same pid and group. */
const START = `${guardMe("$1")}; shift
command -v "$1" >/dev/null 2>&1 || { echo "the program $1 was not found" >&2; exit 127; }
exec "$@"`

export class GuardedProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the program and its group have ended and their output has been read. Never rejects. */
  readonly ended: Promise<ProcessEnd>
  readonly #mark = randomUUID()
  readonly #child: ChildProcess
  #isRunning = true
  #stopping: Promise<void> | undefined
  #chunks = 0

  constructor({ command, args, env, directory }: Program) {
    const guard = groupGuard()
    const shellIds = [env[MARK_VARIABLE], this.#mark].filter((mark) => mark !== undefined).join(":")
    const child = spawn("/bin/sh", ["-c", START, "sh", this.#mark, command, ...args], {
      env: { ...env, [MARK_VARIABLE]: shellIds },
      detached: true, // new session and group, without a terminal
      stdio: ["pipe", "pipe", "pipe", "ignore", guard.input],
      ...(directory === undefined ? {} : { cwd: directory }),
    })
    if (child.pid !== undefined) guard.add(child.pid, this.#mark)
    this.#child = child
    this.stdin = child.stdin!
    this.stdout = child.stdout!
    this.stderr = child.stderr!
    this.stdin.on("error", () => undefined) // a program may ignore its input
    for (const stream of [this.stdout, this.stderr]) stream.on("data", () => this.#chunks++)
    this.ended = this.#run(() => {
      if (child.pid !== undefined) guard.remove(child.pid)
    })
  }

  /** Ends the program with all processes it started, inside or outside its group. */
  async stop(graceMs: number): Promise<ProcessEnd> {
    const group = this.#isRunning ? this.#child.pid : undefined // after it has ended, the id may belong to another process
    this.#stopping ??= endProcesses({ mark: this.#mark, ...(group === undefined ? {} : { group }) }, graceMs)
    await this.#stopping
    return this.ended
  }

  async #run(forget: () => void): Promise<ProcessEnd> {
    const child = this.#child
    const closed = once(child, "close").catch(() => undefined)
    try {
      const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null]
      if (this.#stopping) await this.#stopping
      else if (groupExists(child.pid!)) await endProcesses({ group: child.pid! }, LEFTOVER_GRACE_MS)
      await this.#drain(closed)
      return { state: "exited", code: signal ? 128 + constants.signals[signal] : (code ?? 0) }
    } catch (error) {
      return { state: "not started", why: errorReason(error) }
    } finally {
      this.#isRunning = false
      for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy()
      forget()
    }
  }

  /** Reads the remaining output from the pipes. */
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
}
