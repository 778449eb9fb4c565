/**
 * A program with the official SDK, bare or with `withStrata`, that sends a growing list. It reports each request to its parent: the time
 * without the server's, and processor time.
 */
import { setTimeout as wait } from "node:timers/promises"
import Anthropic from "@anthropic-ai/sdk"
import { withStrata } from "@strata/adapters/anthropic"
import { ANSWER_MS, GrowingList } from "./growing-list.ts"

const PAUSE_MS = 30 // while the client runs a tool

const [, , kind, baseURL, dir = "", tokens, rounds] = process.argv
const bare = new Anthropic({ baseURL, apiKey: "none", maxRetries: 0 })
const client = kind === "bare" ? bare : withStrata(bare, { dir, cwd: dir })
const list = new GrowingList(Number(tokens))
for (let round = 0; round < Number(rounds); round++, list.grow()) {
  const params = list.params()
  const processor = process.cpuUsage()
  const start = performance.now()
  await client.messages.create(params as Anthropic.MessageCreateParamsNonStreaming)
  const ms = performance.now() - start - ANSWER_MS
  await wait(PAUSE_MS) // work after the answer counts too
  const { user, system } = process.cpuUsage(processor)
  process.send!({ ms, processorMs: (user + system) / 1_000 })
}
process.exit()
