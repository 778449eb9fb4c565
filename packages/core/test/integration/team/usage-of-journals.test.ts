/** A program that counts usage in transcripts, such as ccusage, finds every request once in Strata's journals, whichever agent sent it. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { ask, calls, project } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import { agentCall, castSimulator, leadFor } from "./cast.ts"

interface Line {
  readonly requestId?: string
  readonly message?: { readonly id?: string; readonly usage?: Readonly<Record<string, number>> }
}

const linesIn = (dir: string): readonly Line[] =>
  readdirSync(join(dir, "projects"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) =>
      readFileSync(join(dir, "projects", name), "utf8")
        .trim()
        .split("\n"),
    )
    .map((line) => JSON.parse(line) as Line)

/**
 * Counts by the rule of ccusage: an answer is identified by `message.id` and `requestId`. A line without one of them is counted each time.
 */
function countedIn(dir: string) {
  const seen = new Set<string>()
  const total = { requests: 0, input: 0, output: 0, read: 0, written: 0 }
  for (const { requestId, message } of linesIn(dir)) {
    const usage = message?.usage
    if (!usage) continue
    const key = message.id && requestId ? `${message.id}:${requestId}` : undefined
    if (key !== undefined && seen.has(key)) continue
    if (key !== undefined) seen.add(key)
    total.requests++
    total.input += usage.input_tokens ?? 0
    total.output += usage.output_tokens ?? 0
    total.read += usage.cache_read_input_tokens ?? 0
    total.written += usage.cache_creation_input_tokens ?? 0
  }
  return total
}

test("JRN-1 a conversation with a sub-agent, a compaction and a branch counts what the server billed", async () => {
  const { sim } = await castSimulator({
    lead: [...rounds(4, 2_000).slice(0, -1), calls(agentCall("[helper] Count.")), "Counted.", "Then.", "Other."],
    helper: ["Three."],
  })
  const where = project()
  const lead = await leadFor(sim, where)
  await ask(lead, "Read the words.")
  await lead.conversation.compact()
  await ask(lead, "Go on.")
  const last = engineOf(lead.conversation).views.context.newest!.uuid
  await lead.conversation.branch(last, "other")
  await lead.close()
  const other = await leadFor(sim, { ...where, id: "other" })
  await ask(other, "Another way.")
  await other.close()
  const { requests, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = sim.stats().total
  expect(countedIn(where.dir)).toEqual({
    ...{ requests, input: inputTokens, output: outputTokens },
    ...{ read: cacheReadTokens, written: cacheWriteTokens },
  })
  expect(requests).toBeGreaterThan(8)
})
