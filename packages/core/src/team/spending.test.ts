import { expect, test } from "vitest"
import { bills } from "../../test/ledger-entries.ts"
import { ConversationNotFoundError } from "../base/errors.ts"
import type { Decision, Entry } from "../journal/entries.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { newestFirst } from "../journal/newest-first.ts"
import type { Journal } from "../journal/store.ts"
import { missingSpending } from "./spending.ts"

const started = (agent: string): Decision => {
  const facts = { agent, name: agent, kind: "background", description: "work", model: "m", callId: "t" } as const
  return { subtype: "agent-started", ...facts }
}

async function journalOf(id: string, entries: readonly Entry[]): Promise<Journal> {
  const journal = await memoryStore().open({ project: "p", id }, { access: "write", create: true })
  await journal.append(entries)
  return journal
}

/** Missing spending in a parent's journal, as `[agent, response, input tokens]`. `read` collects the parent's entries that were read. */
async function missing(parent: readonly Entry[], journals: Readonly<Record<string, readonly Entry[]>>) {
  const lead = await journalOf("lead", parent)
  const read: Entry[] = []
  async function* watched() {
    for await (const entry of newestFirst(lead)) {
      read.push(entry)
      yield entry
    }
  }
  const decisions = await missingSpending({
    agents: Object.keys(journals),
    parent: watched(),
    openJournal: async (id) => {
      if (journals[id]!.length === 0) throw new ConversationNotFoundError(id, "memory")
      return journalOf(id, journals[id]!)
    },
  })
  const rows = decisions.map((entry) => {
    if (!("subtype" in entry) || entry.subtype !== "spent") throw new Error("not about spending")
    return [entry.agent, entry.responseId, entry.usage.input_tokens]
  })
  return { rows, read }
}

test("L7-4 responses of an agent that its parent's journal does not have, in order, with those of its background work", async () => {
  const parent = bills()
    .decide(started("agent-1"))
    .decide(started("agent-2"))
    .spend("agent", { id: "msg_1", input: 1, agent: "agent-1" })
  const own = bills()
    .respond({ id: "msg_1", input: 1 })
    .respond({ id: "msg_2", input: 2 })
    .spend("notes", { id: "msg_3", input: 3 })
  const { rows } = await missing(parent.entries, { "agent-1": own.entries, "agent-2": [] })
  expect(rows).toEqual([
    ["agent-1", "msg_2", 2],
    ["agent-1", "msg_3", 3],
  ])
})

test("L7-4 a fork does not pay for the answers of its parent that it has a copy of", async () => {
  const copy = bills()
    .respond({ id: "msg_lead", input: 9 })
    .decide({ subtype: "branched", from: { conversation: "lead", uuid: "u" } })
    .respond({ id: "msg_fork", input: 2 })
  const { rows } = await missing(bills().decide(started("agent-1")).entries, { "agent-1": copy.entries })
  expect(rows).toEqual([["agent-1", "msg_fork", 2]])
})

test("L7-4 the parent's journal is read back to where the agents were started, also across boundaries", async () => {
  const parent = bills()
    .respond({ input: 1 })
    .decide(started("agent-1"))
    .spend("agent", { id: "msg_1", input: 1, agent: "agent-1" })
    .compact(100, 10)
    .respond({ input: 1 })
  const own = bills().respond({ id: "msg_1", input: 1 })
  const { rows, read } = await missing(parent.entries, { "agent-1": own.entries })
  expect(rows).toEqual([])
  expect(read).toHaveLength(parent.entries.length - 1)
})
