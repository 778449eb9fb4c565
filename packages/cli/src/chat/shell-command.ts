/** `!command`: what the person runs beside the agent, and how its output reads on the screen. */
import type { UserCommand, UserCommandEnd } from "@strata/core/agent"
import { truncate } from "../display/text.ts"
import type { ShellItem } from "./state.ts"
import type { ChatStore } from "./store.ts"

const MAX_LINES = 20
const MAX_COLUMNS = 400 // of one line: a few rows

/** The command in a line such as `!npm test`. */
export const shellCommandIn = (line: string): string | undefined => /^!\s*(\S.*)$/s.exec(line.trim())?.[1]

/** The first and the last lines, and how many there are between them. Ctrl-O shows all. */
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
  /** Runs it and keeps what it printed in the conversation. */
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

  /** Ends the command that runs. Returns whether there was one. */
  stop(): boolean {
    this.#running?.abort()
    return this.isRunning
  }

  /** The end of the command that runs, if one does. What it printed is kept by then. */
  get ended(): Promise<void> {
    return this.#done
  }

  /** Stops the command and waits until what it printed is kept. */
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
