/** 43 facts in a conversation: stated by the user, by the assistant, or found only in tool results. Each has one exact name. */
import { z } from "zod/v4"
import type { Answer, ResponderRequest } from "../../../../sim/src/responder.ts"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import type { Tool } from "../../../src/tools/tool.ts"
import { calls } from "../agent/agents.ts"
import { textsOf } from "./compacting.ts"

export interface PlantedFact {
  /** The exact name by which the fact is recognized. */
  readonly name: string
  readonly sentence: string
}

const fact = (name: string, sentence: string): PlantedFact => ({ name, sentence: sentence.replace("*", name) })

export const FROM_USER: readonly PlantedFact[] = [
  fact("orchid_main", "The staging database is called *."),
  fact("50443", "The gateway listens on port *."),
  fact("OPS-4821", "The incident is tracked as *."),
  fact("v3.14.7", "Production runs *."),
  fact("retryBudget", "The field for retries must be named *."),
  fact("--no-verify-tls", "Never pass * to the client."),
  fact("src/billing/ledger-sync.ts", "The bug is in *."),
  fact("10.20.31.77", "The old server is at *."),
  fact("4317", "The limit of a batch is * rows."),
  fact("heron-blue", 'The release is called "*".'),
  fact("a91f3c07", "The last good commit is *."),
  fact("ERR_QUOTA_9", "Customers see *."),
  fact("tariff.parquet", "The sample is in *."),
  fact("250ms", "A request may take *."),
  fact("MAX_FANOUT", "Read * from the environment."),
]

export const FROM_ASSISTANT: readonly PlantedFact[] = [
  fact("reconcileLedger", "I found that * runs twice."),
  fact("src/billing/cursor.ts", "I will change * first."),
  fact("8192", "The buffer holds * bytes."),
  fact("drain_queue", "The job * is the one that hangs."),
  fact("v2.9.1", "The driver is at *."),
  fact("LEDGER_LOCK", "The lock is named *."),
  fact("7d30be12", "The regression came with *."),
  fact("--max-batch", "The flag * is ignored."),
  fact("EPIPE", "The socket ends with *."),
  fact("10.9.8.7", "The replica is at *."),
  fact("test/ledger.spec.ts", "The test to extend is *."),
  fact("snapshotEvery", "I will set * to a smaller value."),
  fact("61.5s", "The slowest run took *."),
  fact("PAY-977", "It is the same cause as *."),
]

export const FROM_RESULTS: readonly PlantedFact[] = [
  fact("shardKey_v2", "partition column: *"),
  fact("6379", "cache.port = *"),
  fact("c4e1b9d2", "HEAD is now at *"),
  fact("ECONNRESET", "Error: read * while copying"),
  fact("172.16.4.19", "upstream address *"),
  fact("config/limits.yaml", "loaded *"),
  fact("v5.0.2-rc1", "server version *"),
  fact("walSegments", "setting * is not documented"),
  fact("INC-30291", "see * for the outage"),
  fact("987654", "rows copied: *"),
  fact("tmp_rollup_88", "created table *"),
  fact("--strict-order", "usage: sync [*]"),
  fact("E2093", "failed with *"),
  fact("3.75GB", "resident memory *"),
]

export const ALL_FACTS: readonly PlantedFact[] = [...FROM_USER, ...FROM_ASSISTANT, ...FROM_RESULTS]

const inputSchema = z.object({ pattern: z.string(), fact: z.number() })

const FILLER = "some lines of a listing that hold nothing anyone will need again\n"

/** Long results. If the call asks for a fact, one line in the middle of the result contains it. */
export const searching: Tool = {
  name: "Grep",
  description: "searches",
  inputSchema,
  readOnly: true,
  question: () => ({ kind: "other", summary: "search" }),
  execute: async (input) => {
    const line = FROM_RESULTS[(input as z.infer<typeof inputSchema>).fact]?.sentence
    return { content: `${FILLER.repeat(60)}${line === undefined ? "" : `${line}\n`}${FILLER.repeat(60)}` }
  },
}

const searchFor = (at: number): ScriptedTurn => calls(["Grep", { pattern: "listing", fact: at }])
const NO_FACT = -1

/** The assistant's turns for the first message: they find every fact of a result and state all of the assistant's facts. */
export const planting = (): readonly ScriptedTurn[] => [
  ...FROM_RESULTS.map((_, at) => searchFor(at)),
  ...Array.from({ length: 6 }, () => searchFor(NO_FACT)),
  FROM_ASSISTANT.map(({ sentence }) => sentence).join(" "),
]

/** Some rounds of work without facts. */
export const working = (): readonly ScriptedTurn[] => [
  ...Array.from({ length: 8 }, () => searchFor(NO_FACT)),
  "That part is done.",
]

/** A summary that contains exactly the facts that its writer received. */
export function perfectSummary({ request }: { readonly request: ResponderRequest }): Answer {
  const shown = textsOf(request).join("\n")
  const lines = ALL_FACTS.filter(({ name }) => shown.includes(name)).map(({ name, sentence }) =>
    shown.includes(sentence) ? `- ${sentence}` : `- ${name}`,
  )
  const sections = `1. Primary Request and Intent:\n${lines.join("\n")}\n\n9. Optional Next Step:\nGo on.`
  return { content: [{ type: "text", text: `<summary>\n${sections}\n</summary>` }] }
}

const HANDLE = /\b(?:[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{10})(?:\.\d+){0,2}\b/g

/** Facts that the next request neither contains nor references by handle. */
export async function lostFacts({ conversation: chat }: Agent): Promise<readonly string[]> {
  const view = JSON.stringify(await chat.prepare())
  const missing = ALL_FACTS.filter(({ name }) => !view.includes(name))
  if (missing.length === 0) return []
  const blocks = await Promise.all([...new Set(view.match(HANDLE) ?? [])].map((handle) => chat.recall(handle)))
  const recalled = blocks.map((block) => JSON.stringify(block ?? ""))
  return missing.map(({ name }) => name).filter((name) => !recalled.some((text) => text.includes(name)))
}
