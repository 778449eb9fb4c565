/** Starts a simulator in this process. */
import { randomBytes } from "node:crypto"
import type { Server } from "node:http"
import { serve } from "@hono/node-server"
import { DEFAULT_MAX_REQUEST_BYTES } from "./admission.ts"
import type { Brain } from "./brain.ts"
import { type Clock, createClock } from "./clock.ts"
import type { FaultRule, Faults } from "./faults.ts"
import type { ModelOverrides } from "./models.ts"
import type { LogEntry } from "./request-log.ts"
import { createServer } from "./server.ts"
import { createSimulation } from "./simulation.ts"
import type { Statistics } from "./statistics.ts"
import type { BindingEnforcement } from "./thinking/binding.ts"

const LOOPBACK = "127.0.0.1"

export interface SimulatorOptions {
  /** What answers. */
  readonly brain: Brain
  /** 0, the default: any port that is free. */
  readonly port?: number
  /** Figures of models to change, or models to add: `{ "tiny-model": { window: 4000 } }`. */
  readonly models?: ModelOverrides
  /** Default: the machine's time, which `advance` moves. */
  readonly clock?: Clock
  readonly faults?: readonly FaultRule[]
  /** Ids and chance come from it. Default 1. */
  readonly seed?: number
  /** Gets a line for each request. */
  readonly log?: (line: string) => void
  /** What becomes of thinking behind another prompt than its own. Default: as the model has it. */
  readonly bindThinking?: BindingEnforcement
  /** The non-standard cache editing mode. Default false. */
  readonly cacheEdits?: boolean
  /** Keys that are accepted. Default: any. */
  readonly apiKeys?: readonly string[]
  /** Default 32 MB. */
  readonly maxRequestBytes?: number
  /** For the control endpoints. Default: a random one. */
  readonly token?: string
}

export interface Simulator {
  /** `http://127.0.0.1:<port>`, to be given to an SDK as its base URL. */
  readonly url: string
  readonly port: number
  /** For the control endpoints, in the header `x-sim-token`. */
  readonly token: string
  readonly clock: Clock
  readonly faults: Faults
  stats(): Statistics
  /** Drops everything that is cached, before its time. */
  forgetCache(): void
  /** The latest requests. */
  readonly log: readonly LogEntry[]
  /** Ends all connections and frees the port. */
  close(): Promise<void>
}

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { token = randomBytes(16).toString("hex"), clock = createClock() } = options
  const simulation = createSimulation({
    brain: options.brain,
    clock,
    seed: options.seed ?? 1,
    models: options.models ?? {},
    faults: options.faults ?? [],
    apiKeys: options.apiKeys,
    maxRequestBytes: options.maxRequestBytes ?? DEFAULT_MAX_REQUEST_BYTES,
    bindThinking: options.bindThinking,
    cacheEdits: options.cacheEdits ?? false,
    onLog: options.log,
  })
  const app = createServer(simulation, token)
  const { server, port } = await listen(app.fetch, options.port ?? 0)
  return {
    url: `http://${LOOPBACK}:${port}`,
    port,
    token,
    clock,
    faults: simulation.faultRules,
    stats: () => simulation.statistics.snapshot(),
    forgetCache: () => simulation.cache.clear(),
    get log() {
      return simulation.requestLog.entries()
    },
    close() {
      simulation.closing.abort()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function listen(fetch: Parameters<typeof serve>[0]["fetch"], port: number): Promise<{ server: Server; port: number }> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, port, hostname: LOOPBACK }, (address) =>
      resolve({ server, port: address.port }),
    ) as Server
    server.once("error", reject)
  })
}
