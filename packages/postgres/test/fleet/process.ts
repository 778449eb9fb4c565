/** One slot for a process of the fleet. The process in it is killed, paused and started again; the records of all of them are kept. */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { FleetRecord } from "./records.ts"
import type { Command, WorkerInput } from "./worker.ts"

const WORKER = fileURLToPath(new URL("./worker.ts", import.meta.url))

export class FleetProcess {
  readonly agents = new Set<string>()
  readonly #given: Omit<WorkerInput, "agents">
  readonly #take: (record: FleetRecord) => void
  #child: ChildProcess | undefined
  /** Resolves when the complete output of the process was read. */
  #ended: Promise<void> = Promise.resolve()
  #output = ""

  constructor(given: Omit<WorkerInput, "agents">, take: (record: FleetRecord) => void) {
    this.#given = given
    this.#take = take
  }

  start(): void {
    const given: WorkerInput = { ...this.#given, agents: [...this.agents] }
    const child = spawn(process.execPath, [WORKER, JSON.stringify(given)], { stdio: ["pipe", "pipe", "pipe"] })
    this.#child = child
    child.stdin!.on("error", () => undefined) // killed meanwhile
    child.stderr!.on("data", (text: Buffer) => {
      this.#output = (this.#output + text.toString()).slice(-4_000)
    })
    const lines = createInterface({ input: child.stdout! })
    // a line that was cut by the kill was not acknowledged
    lines.on("line", (line) => {
      if (line.endsWith("}")) this.#take(JSON.parse(line) as FleetRecord)
    })
    const closed = new Promise<void>((resolve) => void lines.once("close", () => resolve()))
    const exited = new Promise<void>((resolve) => {
      child.once("exit", (code) => {
        if (code !== null && code !== 0)
          this.#take({ type: "failed", agent: "", why: `ended with ${code}: ${this.#output}` })
        resolve()
      })
    })
    this.#ended = Promise.all([closed, exited]).then(() => undefined)
  }

  tell(command: Command): void {
    this.#child?.stdin?.write(`${JSON.stringify(command)}\n`)
  }

  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(signal)
  }

  ended(): Promise<void> {
    return this.#ended
  }
}
