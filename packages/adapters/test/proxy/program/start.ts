/** Starts the proxy as a separate process. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"

/** Must be bundled for measurements. */
export const SOURCE = join(import.meta.dirname, "main.ts")

export class Program {
  readonly #child: ChildProcess
  /** The base URL for a client. */
  readonly url: string

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  /** `cache`: directory of Node's compile cache. */
  static async start(file: string, args: readonly string[], cache = ""): Promise<Program> {
    const child = fork(file, [...args], { env: { ...process.env, NODE_COMPILE_CACHE: cache } })
    const [{ url }] = (await once(child, "message")) as [{ url: string }]
    return new Program(child, url)
  }

  async processorMs(): Promise<number> {
    this.#child.send("processor time")
    const [{ processor }] = (await once(this.#child, "message")) as [{ processor: NodeJS.CpuUsage }]
    return (processor.user + processor.system) / 1_000
  }

  /** Kills the process at once, without cleanup. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill("SIGKILL")
    await once(this.#child, "exit")
  }
}
