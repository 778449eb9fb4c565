/** Runs the fleet: starts its processes, disturbs them in a seeded order, then lets them finish. */
import { setTimeout as wait } from "node:timers/promises"
import { type Random, seededRandom } from "../../../store-contract/src/random.ts"
import type { TestServer } from "../server.ts"
import { startProxy, through } from "../tcp-proxy.ts"
import { FleetProcess } from "./process.ts"
import type { FleetRecord } from "./records.ts"

export interface FleetSize {
  readonly agents: number
  readonly processes: number
  readonly kills: number
  readonly restarts: number
  /** Number of processes that are paused until another one has taken over two of their agents. */
  readonly pauses: number
  /** Number of connections that are cut, and of those whose answer is swallowed. */
  readonly cuts: number
  /** Pause between two disturbances. */
  readonly pauseMs: number
}

export interface FleetOptions {
  readonly size: FleetSize
  readonly seed: number
  /** The server to restart. Absent if it must not be restarted. */
  readonly server?: TestServer
  /** The address of the database, for the application's role. */
  readonly connectionString: string
}

export type Trouble = "kill" | "restart" | "pause" | "cut" | "swallow"

export interface FleetRun {
  readonly records: readonly FleetRecord[]
  readonly agents: readonly string[]
  readonly troubles: Readonly<Record<Trouble, number>>
}

const LEASE_SECONDS = 1

export async function runFleet(options: FleetOptions): Promise<FleetRun> {
  const fleet = await Fleet.start(options)
  try {
    return await fleet.run()
  } finally {
    await fleet.close()
  }
}

class Fleet {
  readonly #options: FleetOptions
  readonly #random: Random
  readonly #proxy: Awaited<ReturnType<typeof startProxy>>
  readonly #agents: readonly string[]
  readonly #processes: readonly FleetProcess[]
  readonly #records: FleetRecord[] = []
  readonly #watchers = new Set<() => void>()
  readonly #troubles: Record<Trouble, number> = { kill: 0, restart: 0, pause: 0, cut: 0, swallow: 0 }

  static async start(options: FleetOptions): Promise<Fleet> {
    return new Fleet(options, await startProxy(Number(new URL(options.connectionString).port)))
  }

  private constructor(options: FleetOptions, proxy: Awaited<ReturnType<typeof startProxy>>) {
    const { size, seed, connectionString } = options
    this.#options = options
    this.#random = seededRandom(`fleet ${seed}`)
    this.#proxy = proxy
    this.#agents = Array.from({ length: size.agents }, (_, at) => `a${String(at).padStart(2, "0")}`)
    const given = {
      ...{ connectionString: through(proxy, connectionString), team: this.#agents, seed },
      ...{ leaseSeconds: LEASE_SECONDS, pauseMs: 20 },
    }
    this.#processes = Array.from({ length: size.processes }, () => new FleetProcess(given, (one) => this.#take(one)))
    for (const [at, agent] of this.#agents.entries()) this.#processes[at % size.processes]!.agents.add(agent)
  }

  async run(): Promise<FleetRun> {
    const { size } = this.#options
    for (const one of this.#processes) one.start()
    await this.#until(() => new Set(this.#opened()).size === this.#agents.length)
    for (const trouble of this.#plan()) {
      await this.#make(trouble)
      this.#troubles[trouble]++
      await wait(this.#random.below(2 * size.pauseMs))
    }
    await this.#finish()
    return { records: this.#records, agents: this.#agents, troubles: this.#troubles }
  }

  async close(): Promise<void> {
    for (const one of this.#processes) one.signal("SIGKILL")
    await Promise.all(this.#processes.map((one) => one.ended()))
    await this.#proxy.close()
  }

  /** All disturbances, each as often as the size demands, shuffled. */
  #plan(): readonly Trouble[] {
    const { kills, restarts, pauses, cuts } = this.#options.size
    const counts = { kill: kills, restart: restarts, pause: pauses, cut: cuts, swallow: cuts }
    const all = Object.entries(counts).flatMap(([trouble, count]) => Array<Trouble>(count).fill(trouble as Trouble))
    for (let at = all.length - 1; at > 0; at--) {
      const other = this.#random.below(at + 1)
      ;[all[at], all[other]] = [all[other]!, all[at]!]
    }
    return all
  }

  async #make(trouble: Trouble): Promise<void> {
    const one = this.#random.pick(this.#processes)
    const which = this.#random.below(1_000)
    if (trouble === "cut") this.#proxy.cut(which)
    else if (trouble === "swallow") this.#proxy.swallowAnswer(which)
    else if (trouble === "restart") {
      await this.#options.server?.kill()
      await this.#options.server?.start()
    } else if (trouble === "pause") await this.#pause(one)
    else {
      one.signal("SIGKILL")
      await one.ended()
      one.start()
    }
  }

  /** While the process is paused, another one takes over two of its agents. It must notice this when it resumes. */
  async #pause(one: FleetProcess): Promise<void> {
    const other = this.#random.pick(this.#processes.filter((process) => process !== one))
    one.signal("SIGSTOP")
    const before = this.#records.length
    const adopted = [...one.agents].slice(0, 2)
    for (const agent of adopted) {
      one.agents.delete(agent)
      other.agents.add(agent)
      other.tell({ do: "adopt", agent })
    }
    await this.#until(() => adopted.every((agent) => this.#opened(before).includes(agent)))
    one.signal("SIGCONT")
  }

  async #finish(): Promise<void> {
    for (const one of this.#processes) one.tell({ do: "quiet" })
    await this.#until(() => this.#records.filter(({ type }) => type === "quiet").length >= this.#processes.length)
    for (const one of this.#processes) one.tell({ do: "end" })
    await Promise.all(this.#processes.map((one) => one.ended()))
  }

  #opened(from = 0): readonly string[] {
    return this.#records.slice(from).flatMap((record) => (record.type === "opened" ? [record.agent] : []))
  }

  #take(record: FleetRecord): void {
    this.#records.push(record)
    for (const watch of [...this.#watchers]) watch()
  }

  /** Resolves when the condition holds, and rejects when something failed. */
  #until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const watch = () => {
        const failed = this.#records.find((record) => record.type === "failed")
        if (!failed && !isSo()) return
        this.#watchers.delete(watch)
        if (failed) reject(new Error(`An agent failed: ${JSON.stringify(failed)}`))
        else resolve()
      }
      this.#watchers.add(watch)
      watch()
    })
  }
}
