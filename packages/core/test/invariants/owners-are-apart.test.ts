/** Invariant 10: no byte of one owner's memory or conversations is in a request, an index, a dream or a report of another's. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { Agent } from "../../src/agent/agent.ts"
import { openAgent } from "../../src/agent/open-agent.ts"
import { manualClock } from "../../src/base/clock.ts"
import { InvalidOptionError } from "../../src/base/options.ts"
import { localUser, type Owner } from "../../src/base/owner.ts"
import { listConversations } from "../../src/conversation/list.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import type { Store } from "../../src/journal/store.ts"
import { textOf, toBlocks } from "../../src/messages/blocks.ts"
import { handleOf } from "../../src/messages/media.ts"
import type { Model, ModelResponse } from "../../src/model/model.ts"
import { offlineModel } from "../../src/model/offline/offline-model.ts"
import { findModel } from "../../src/tokens/models.ts"
import { filesBelow } from "../dreams.ts"
import { temporaryRoot } from "../journal-files.ts"
import { fuzz, isFuzzing, RUNS } from "../runs.ts"
import { size } from "../size.ts"

const MODEL = "claude-opus-4-6"
const SHARED_ID = "main"
const QUESTION = "Which port has the staging server heron, and what must we always do there?"

/** Owners that a path, a case-insensitive folder, a Unicode normal form or UTF-8 would confuse. */
const OWNERS: readonly (Owner | undefined)[] = [
  ...["customer-1", "Customer-1", "customer-1 ", "caf\u00e9", "cafe\u0301", "\ud800", "\ud801", "\ufffd"],
  ...["../other", "..", ".", "a/b", "a-b", "a_b", "a\0b", "unowned", "owner", "localPerson", "CON", "null"],
  ...[`${"x".repeat(9_000)}1`, `${"x".repeat(9_000)}2`, "Symbol(strata.localPerson)"],
  localUser,
  undefined,
  undefined,
]

const ACTS = ["say", "say", "remember", "ask", "ask", "search", "steal", "dream", "list"] as const

interface Step {
  readonly who: number
  readonly act: (typeof ACTS)[number]
  /** Whether the step uses the conversation whose id every owner uses. */
  readonly isShared: boolean
}

const worlds = fc.record({
  owners: fc.uniqueArray(fc.nat(OWNERS.length - 1), { minLength: 2, maxLength: 4 }),
  onDisk: fc.boolean(),
  steps: fc.array(fc.record({ who: fc.nat(3), act: fc.constantFrom(...ACTS), isShared: fc.boolean() }), {
    minLength: 6,
    maxLength: 12,
  }),
})

/** A word that only this owner uses. The first of the owners has `kanari00z`. */
const canaryOf = (who: number) => `kanari${String(who).padStart(2, "0")}z`
const canariesIn = (text: string) => new Set(text.match(/kanari\d\dz/g))

/** A model that recalls what the user asks after "LOOK", and otherwise behaves like the offline model. Records its requests. */
function watchedModel(sent: string[]): Model {
  const offline = offlineModel()
  return {
    name: MODEL,
    provider: "test",
    facts: findModel(MODEL).facts,
    async *stream(request, options) {
      sent.push(JSON.stringify(request))
      const last = request.messages.findLast(({ role }) => role === "user")
      const wanted = /LOOK (\{.*\})/.exec(textOf(toBlocks(last?.content as never)))?.[1]
      if (wanted === undefined || last !== request.messages.at(-1)) return yield* offline.stream(request, options)
      const content = [{ type: "tool_use", id: `toolu_${sent.length}`, name: "Recall", input: JSON.parse(wanted) }]
      const usage = { input_tokens: 10, output_tokens: 10 }
      const response = { id: `msg_${sent.length}`, model: MODEL, stop_reason: "tool_use", usage, content }
      yield { type: "response", response: response as unknown as ModelResponse }
    },
  }
}

async function inWorld(root: string, store: Store | undefined) {
  const cwd = join(root, "server")
  mkdirSync(cwd)
  const dir = join(root, "home")
  const place = { cwd, dir, env: {}, ...(store ? { store } : {}) }
  const clock = manualClock("2026-05-01T12:00:00.000Z")
  const handles: string[] = []

  /** Everything that one party receives while it performs an action. */
  async function take(who: number, step: Pick<Step, "act" | "isShared">): Promise<string> {
    const owner = OWNERS[who]
    const canary = canaryOf(who)
    const sent: string[] = []
    const id = step.isShared && owner !== undefined ? SHARED_ID : `own-${canary}`
    clock.advance(3_600_000)
    if (step.act === "list") return JSON.stringify(await listConversations({ ...place, ...(owner ? { owner } : {}) }))
    let agent: Agent
    try {
      agent = await openAgent({
        ...{ ...place, id, clock, model: watchedModel(sent), mode: "bypass" },
        ...(owner === undefined ? {} : { memory: { owner } }),
        settings: { flush: "never", figures: { "background-share": 100 } },
      })
    } catch (error) {
      if (error instanceof InvalidOptionError) return error.message
      throw error
    }
    const seen: unknown[] = []
    const ask = async (text: string) => {
      for await (const event of agent.query(text, { maxTurns: 4 })) seen.push(event)
      await agent.conversation.whenIdle()
    }
    try {
      seen.push(agent.problems)
      if (step.act === "say")
        await ask(`The staging server heron has the port ${canary}. Always restart heron with ${canary}.`)
      if (step.act === "ask") await ask(QUESTION)
      if (step.act === "search")
        await ask(`LOOK ${JSON.stringify({ search: "staging server heron port", in: "project" })}`)
      if (step.act === "steal")
        for (const handle of handles.slice(-3))
          for (const address of [handle, `${SHARED_ID}/${handle}`])
            await ask(`LOOK ${JSON.stringify({ handle: address })}`)
      if (step.act === "dream") seen.push(await agent.dream())
      if (step.act === "remember")
        seen.push(await agent.remember(`always warm up heron with ${canary}`).catch((error: Error) => error.message))
      for await (const entry of agent.conversation.entries()) {
        seen.push(entry)
        if (entry.type === "user") handles.push(handleOf(entry.uuid))
      }
    } finally {
      await agent.close()
    }
    return [...sent, ...seen.map((each) => JSON.stringify(each))].join("\n")
  }
  return { take, dir }
}

test("invariant 10, L5-12: nothing of one owner is in a request, index, dream, history, error or listing of another", async () => {
  let looks = 0
  await fc.assert(
    fc.asyncProperty(worlds, async ({ owners, onDisk, steps }) => {
      const { root, remove } = await temporaryRoot()
      try {
        const { take, dir } = await inWorld(root, onDisk ? undefined : memoryStore())
        for (const { who, ...step } of steps) {
          const party = owners[who % owners.length]!
          const seen = canariesIn(await take(party, step))
          const external = [...seen].filter((canary) => canary !== canaryOf(party))
          // without an owner, data of others stored without one can be listed and opened
          const isListing = OWNERS[party] === undefined && step.act === "list"
          const named = external.filter(
            (canary) => !isListing || typeof OWNERS[Number(canary.slice(6, 8))] === "string",
          )
          expect(named).toEqual([])
          looks += step.act === "ask" || step.act === "search" ? 1 : 0
        }
        if (!onDisk) return
        for (const [path, text] of filesBelow(dir))
          expect([path, [...canariesIn(`${path}\n${text}`)].slice(1)]).toEqual([path, []])
      } finally {
        await remove()
      }
    }),
    { ...fuzz, numRuns: isFuzzing ? RUNS : size(2, 6) },
  )
  expect(looks).toBeGreaterThan(5)
})

test("invariant 10, L5-12: what one owner wrote and saved is there for that owner, in the same world", async () => {
  for (const store of [undefined, memoryStore()]) {
    const { root, remove } = await temporaryRoot()
    try {
      const { take } = await inWorld(root, store)
      await take(0, { act: "say", isShared: false })
      await take(0, { act: "remember", isShared: false })
      const asked = await take(0, { act: "search", isShared: true })
      expect(canariesIn(asked)).toEqual(new Set([canaryOf(0)]))
      for (const other of [1, 2, OWNERS.indexOf(localUser), OWNERS.indexOf(undefined)])
        expect(canariesIn(await take(other, { act: "search", isShared: true }))).not.toContain(canaryOf(0))
    } finally {
      await remove()
    }
  }
})
