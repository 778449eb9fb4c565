/** The state of a running simulator. Routes get it as an argument; nothing is global. */

import { CacheDiagnostics } from "./cache/diagnostics.ts"
import { PromptCache } from "./cache/prompt-cache.ts"
import type { Clock } from "./clock.ts"
import { type FaultRule, Faults } from "./faults.ts"
import { createIdentity, type Identity } from "./identity.ts"
import { ModelCatalog, type ModelOverrides } from "./models.ts"
import type { RateLimits } from "./rate-headers.ts"
import { RequestLog } from "./request-log.ts"
import type { Responder } from "./responder.ts"
import type { WebPage } from "./server-tools/pages.ts"
import { StatisticsKeeper } from "./statistics.ts"
import type { BindingEnforcement } from "./thinking/binding.ts"
import { createTokenCounter, type TokenCounter } from "./tokens.ts"

export interface SimulationSettings {
  readonly responder: Responder
  readonly clock: Clock
  readonly seed: number
  readonly models: ModelOverrides
  readonly faults: readonly FaultRule[]
  /** The accepted keys; `undefined` accepts any. */
  readonly apiKeys: readonly string[] | undefined
  readonly maxRequestBytes: number
  readonly bindThinking: BindingEnforcement | undefined
  readonly billingInPrompt: boolean
  readonly cacheEdits: boolean
  readonly webPages: readonly WebPage[]
  readonly newBlockTypes: readonly string[]
  readonly strictBetas: boolean
  readonly strictSystemMessages: boolean
  readonly rateLimits: Partial<RateLimits>
  /** Called with each line of the request log. */
  readonly onLog: ((line: string) => void) | undefined
}

export interface Simulation extends SimulationSettings {
  readonly identity: Identity
  readonly catalog: ModelCatalog
  readonly counter: TokenCounter
  readonly cache: PromptCache
  readonly diagnostics: CacheDiagnostics
  readonly faultRules: Faults
  readonly statistics: StatisticsKeeper
  readonly requestLog: RequestLog
  /** How many requests the responder has answered. */
  turnsAnswered: number
  /** Number of requests that a fault delays indefinitely. */
  held: number
  /** Aborted when the simulator closes, which wakes everything that sleeps. */
  readonly closing: AbortController
}

export function createSimulation(settings: SimulationSettings): Simulation {
  return {
    ...settings,
    identity: createIdentity(settings.seed),
    catalog: new ModelCatalog(settings.models),
    counter: createTokenCounter(),
    cache: new PromptCache(),
    diagnostics: new CacheDiagnostics(),
    faultRules: new Faults(settings.faults, settings.seed),
    statistics: new StatisticsKeeper(),
    requestLog: new RequestLog(settings.onLog),
    turnsAnswered: 0,
    held: 0,
    closing: new AbortController(),
  }
}
