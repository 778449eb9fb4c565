/** `!command`: runs a shell command for the user, independently of the agent, and renders its output. */
import type { UserCommand, UserCommandEnd } from "@strata/core/agent"
import { truncate } from "../display/text.ts"
import type { ShellItem } from "./state.ts"
import type { ChatStore } from "./store.ts"

const MAX_LINES = 20
const MAX_COLUMNS = 400 // per line: a few rows

/** The command in a line such as `!npm test`. */
export const shellCommandIn = (line: string): string | undefined => /^!\s*(\S.*)$/s.exec(line.trim())?.[1]

/** The first and last lines of the output, and the number of lines between them. Ctrl-O shows all. */
export function outputLines(output: string): readonly string[] {
  const lines = output
    .split("\n")
    .map((line) => truncate(line.replaceAll("\t", "  ").slice(0, 2 * MAX_COLUMNS), MAX_COLUMNS))
  if (lines.length <= MAX_LINES) return lines
  const half = MAX_LINES / 2
  return [...lines.slice(0, half), `… ${lines.length - MAX_LINES} more lines (Ctrl-O)`, ...lines.slice(-half)]
}

export interface UserShellOptions {
  readonly store: ChatStore
  /** Runs the command and records its output in the conversation. */
  readonly run: (command: UserCommand) => Promise<UserCommandEnd>
}

export class UserShell {
  readonly #parts: UserShellOptions
  #running: AbortController | undefined
  #done: Promise<void> = Promise.resolve()
  #started = 0

  constructor(parts: UserShellOptions) {
    this.#parts = parts
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Stops the running command. Returns whether there was one. */
  stop(): boolean {
    this.#running?.abort()
    return this.isRunning
  }

  /** Resolves when the running command has ended and its output is recorded. */
  get ended(): Promise<void> {
    return this.#done
  }

  /** Stops the command and waits until its output is recorded. */
  async close(): Promise<void> {
    this.stop()
    await this.#done
  }

  async start(command: string): Promise<void> {
    if (this.#running) {
      const why = new Error("Another command is still running. Wait for it, or stop it with Esc.")
      return this.#parts.store.giveBack(`!${command}`, why)
    }
    this.#running = new AbortController()
    const running = this.#run(command, this.#running.signal).finally(() => {
      this.#running = undefined
    })
    this.#done = running.catch(() => undefined) // the caller reports the failure
    return running
  }

  async #run(command: string, signal: AbortSignal): Promise<void> {
    const { store, run } = this.#parts
    const item: ShellItem = { kind: "shell", id: `command-${++this.#started}`, command }
    const show = (change: Partial<ShellItem>) => store.dispatch({ type: "shell", item: { ...item, ...change } })
    store.dispatch({ type: "said", item })
    try {
      const { content } = await run({ command, signal, progress: (progress) => show({ progress }) })
      show({ output: content })
    } catch (error) {
      show({ output: "" })
      throw error
    }
  }
}
