/**
 * A process of the fleet, with some of its agents. It reads commands from its input, one line of JSON each, and may be killed at any time.
 */
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { setTimeout as wait } from "node:timers/promises"
import { LockLostError } from "@strata/core"
import { postgresStore } from "../../src/postgres-store.ts"
import { runAgent } from "./agent.ts"
import type { FleetRecord } from "./records.ts"

export interface WorkerInput {
  readonly connectionString: string
  readonly agents: readonly string[]
  readonly team: readonly string[]
  readonly seed: number
  readonly leaseSeconds: number
  /** Pause of an agent between two actions. */
  readonly pauseMs: number
}

export type Command = { readonly do: "adopt"; readonly agent: string } | { readonly do: "quiet" | "end" }

const given = JSON.parse(process.argv[2]!) as WorkerInput
const { connectionString, leaseSeconds, team, seed, pauseMs } = given
const store = postgresStore({ connectionString, leaseSeconds, timeoutMs: 10_000, retryTimeoutMs: 60_000 })
// synchronous, so that records of acknowledged writes survive a kill
const write = (record: FleetRecord) => void writeSync(1, `${JSON.stringify(record)}\n`)
let isQuiet = false
let busy = 0
const everyone = Promise.withResolvers<void>()
const running = new Set<Promise<void>>()

/** Runs an action of an agent, unless all have been asked to finish. */
function step(work: () => Promise<void>): Promise<void> | undefined {
  if (isQuiet) return undefined
  busy++
  return work().finally(() => {
    busy--
    sayIfQuiet()
  })
}

function sayIfQuiet(): void {
  if (isQuiet && busy === 0) write({ type: "quiet" })
}

async function run(name: string): Promise<void> {
  const parts = { store, name, team, seed, write, step, everyoneIsQuiet: everyone.promise }
  try {
    await runAgent({ ...parts, pause: () => wait(pauseMs) })
  } catch (error) {
    if (error instanceof LockLostError) write({ type: "lost", agent: name })
    else write({ type: "failed", agent: name, why: error instanceof Error ? (error.stack ?? error.message) : "" })
  }
}

function start(name: string): void {
  const done = run(name)
  running.add(done)
  void done.finally(() => running.delete(done))
}

for (const name of given.agents) start(name)
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command
  if (command.do === "adopt") start(command.agent)
  if (command.do === "quiet") {
    isQuiet = true
    sayIfQuiet()
  }
  if (command.do === "end") break
}
everyone.resolve()
await Promise.all(running)
await store.close()
process.exit(0)
