/** Starts a simulator in this process. */

import { randomBytes } from "node:crypto"
import type { Server } from "node:http"
import { serve } from "@hono/node-server"
import { DEFAULT_MAX_REQUEST_BYTES } from "./admission.ts"
import type { Brain } from "./brain.ts"
import { type Clock, createClock } from "./clock.ts"
import type { FaultRule, Faults } from "./faults.ts"
import type { ModelOverrides } from "./models.ts"
import type { RateLimits } from "./rate-headers.ts"
import type { LogEntry } from "./request-log.ts"
import { createServer } from "./server.ts"
import { DEFAULT_PAGES, type WebPage } from "./server-tools/pages.ts"
import { createSimulation } from "./simulation.ts"
import type { Statistics } from "./statistics.ts"
import type { BindingEnforcement } from "./thinking/binding.ts"

const LOOPBACK = "127.0.0.1"

export interface SimulatorOptions {
  /** Writes the answers. */
  readonly brain: Brain
  /** Default 0: any free port. */
  readonly port?: number
  /** Changes figures of models, or adds models: `{ "tiny-model": { window: 4000 } }`. */
  readonly models?: ModelOverrides
  /** Default: the machine's time. `advance` moves it. */
  readonly clock?: Clock
  readonly faults?: readonly FaultRule[]
  /** Determines ids and random numbers. Default 1. */
  readonly seed?: number
  /** Receives one line per request. */
  readonly log?: (line: string) => void
  /** What happens to thinking that comes back after a different prompt. Default: what the model does. */
  readonly bindThinking?: BindingEnforcement
  /** Plays a server that is not Anthropic's: Claude Code's billing block is a part of the prompt and of its cache key. Default false. */
  readonly billingInPrompt?: boolean
  /** Turns on the non-standard cache editing mode. Default false. */
  readonly cacheEdits?: boolean
  /** The web of the server tools `web_search` and `web_fetch`. Default: five small pages. */
  readonly webPages?: readonly WebPage[]
  /** Plays a newer server: it accepts blocks of these types in assistant messages, with any fields. Default: none. */
  readonly newBlockTypes?: readonly string[]
  /** Refuses betas the simulator does not know. Default false: like the API, it refuses only malformed ones. */
  readonly strictBetas?: boolean
  /** Refuses system messages on Sonnet 5 and Haiku 5.5, where it is open whether the API takes them. Default false. */
  readonly strictSystemMessages?: boolean
  /** What the headers of answers say about limits per minute. They only inform. Default: those of a large account. */
  readonly rateLimits?: Partial<RateLimits>
  /** The accepted keys. Default: any. */
  readonly apiKeys?: readonly string[]
  /** Default 32 MB. */
  readonly maxRequestBytes?: number
  /** Token for the control endpoints. Default: random. */
  readonly token?: string
}

export interface Simulator {
  /** `http://127.0.0.1:<port>`: the base URL for an SDK. */
  readonly url: string
  readonly port: number
  /** Token for the control endpoints, sent in the header `x-sim-token`. */
  readonly token: string
  readonly clock: Clock
  readonly faults: Faults
  stats(): Statistics
  /** Drops all cache entries, before they expire. */
  forgetCache(): void
  /** The latest requests. */
  readonly log: readonly LogEntry[]
  /** How many requests a fault keeps waiting for ever. */
  readonly held: number
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
    billingInPrompt: options.billingInPrompt ?? false,
    cacheEdits: options.cacheEdits ?? false,
    webPages: options.webPages ?? DEFAULT_PAGES,
    newBlockTypes: options.newBlockTypes ?? [],
    strictBetas: options.strictBetas ?? false,
    strictSystemMessages: options.strictSystemMessages ?? false,
    rateLimits: options.rateLimits ?? {},
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
    get held() {
      return simulation.held
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
