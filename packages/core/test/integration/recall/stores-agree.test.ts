/** The same conversations in files and in memory give the same results of recall, search and project memory. */
import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { manualClock, projectName, seededIds } from "../../../src/base/clock.ts"
import { localUser, namespaceFor, type Owner } from "../../../src/base/owner.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { listConversations, type StoreLocation } from "../../../src/conversation/list.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { openMemoryBank } from "../../../src/conversation/open-memory-bank.ts"
import { openRecall } from "../../../src/conversation/open-recall.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import type { Store } from "../../../src/journal/store.ts"
import { textOf, toBlocks } from "../../../src/messages/blocks.ts"
import { handleOf } from "../../../src/messages/media.ts"
import { recallTool } from "../../../src/tools/session/recall.ts"
import type { RecallInput } from "../../../src/tools/session/recall-source.ts"
import { conversation } from "../../builders.ts"
import { temporaryRoot } from "../../journal-files.ts"
import { fuzz, isFuzzing, RUNS } from "../../runs.ts"
import { isWhole } from "../../size.ts"

const CWD = "/nowhere/shop"
const OWNERS: readonly (Owner | undefined)[] = [localUser, "customer-1", undefined]
const WORDS = "heron port staging server walrus invoice deploy Bertha ERR_42 src/foo.ts 設定値 crash nightly".split(" ")

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 2, maxLength: 7 }).map((words) => words.join(" "))
const worlds = fc.record({
  conversations: fc.array(
    fc.record({
      owner: fc.nat(OWNERS.length - 1),
      turns: fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }),
      agent: fc.option(text),
    }),
    { minLength: 2, maxLength: 5 },
  ),
  questions: fc.array(fc.record({ owner: fc.nat(OWNERS.length - 1), text }), { minLength: 1, maxLength: 2 }),
})
type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never

/** A word that only this owner uses. */
const canaryOf = (owner: number) => `kanari${owner}z`

interface Place {
  readonly store: Store
  readonly dir: string
}

/** Another conversation of the same owner in the same project. */
async function opened({ store, dir }: Place, { owner, id, day }: { owner: number; id: string; day: number }) {
  const recall = recallTool()
  const whose = OWNERS[owner]
  const chat = await openConversation({
    ...{ model: "claude-opus-4-6", id, store, dir, cwd: CWD, env: {}, tools: [recall], ids: seededIds(id) },
    clock: manualClock(new Date(Date.UTC(2026, 0, 1 + day))),
    memory: whose === undefined ? false : { owner: whose },
    settings: { switches: { notes: false, dreaming: false, "auto-memory": false } },
  })
  return { chat, ask: async (input: RecallInput) => String((await recall.execute(input)).content) }
}

interface Written {
  readonly id: string
  readonly owner: number
  readonly handles: readonly string[]
  readonly agent?: string
}

async function write(place: Place, { conversations }: World): Promise<readonly Written[]> {
  const ids = seededIds("stores-agree")
  const written: Written[] = []
  for (const [day, { owner, turns, agent }] of conversations.entries()) {
    const id = ids.uuid()
    const { chat } = await opened(place, { owner, id, day })
    const handles: string[] = []
    for (const [question, answered] of turns) {
      handles.push(handleOf(await chat.add(`${canaryOf(owner)} ${question}`)))
      handles.push(handleOf(await chat.add({ role: "assistant", content: answered })))
    }
    await chat.close()
    if (agent === null) {
      written.push({ id, owner, handles })
      continue
    }
    const address = { project: namespaceFor(projectName(CWD), OWNERS[owner]), under: id, id: "agent-1" }
    const journal = await place.store.open(address, { access: "write", create: true })
    const [message] = conversation().user(agent).messages
    await journal.append([{ ...message!, uuid: ids.uuid() }])
    const [entry] = (await journal.tail()).entries
    await journal.close()
    written.push({ id, owner, handles, agent: `agent-1/${handleOf(entry!.uuid)}` })
  }
  return written
}

/** Results of all queries, and of automatic recall. */
async function answers(place: Place, world: World): Promise<readonly unknown[]> {
  const written = await write(place, world)
  const all: unknown[] = []
  for (const [nth, { owner, text: search }] of world.questions.entries()) {
    const id = `asking-${nth}`
    const { chat, ask } = await opened(place, { owner, id, day: 40 + nth })
    await chat.add(search)
    const { messages } = await chat.prepare()
    const texts = messages.flatMap(({ content }) => toBlocks(content as never).map((block) => textOf([block])))
    const own: unknown[] = [texts.filter((each) => each.includes("A passage of"))]
    const inputs: RecallInput[] = [{ search }, { search, in: "project" }, { search, in: "project", kind: "user" }]
    for (const other of written) {
      const short = other.id.slice(0, 8)
      const [first, last] = [other.handles[0]!, other.handles.at(-1)!]
      inputs.push({ handle: `${short}/${first}` }, { handle: `${other.id}/${last}` })
      inputs.push({ from: `${short}/${first}`, to: `${short}/${last}` })
    }
    for (const input of inputs) own.push(await ask(input))
    own.push(await engineOf(chat).past.search({ text: search, in: "project", limit: 3 }))
    await chat.close()
    const whose = OWNERS[owner]
    const where: StoreLocation = { ...place, cwd: CWD, ...(whose === undefined ? {} : { owner: whose }) }
    // files have the time of the disk
    const listed = (await listConversations(where)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    for (const kept of listed) {
      await using past = await openRecall(kept, where)
      own.push(kept.id, await past.recall({ search, in: "project" }))
      const agent = written.find((one) => one.id === kept.id)?.agent
      if (agent !== undefined) own.push(await past.recall({ handle: agent }))
    }
    if (whose !== undefined) own.push(await (await openMemoryBank({ ...where, owner: whose })).search(search))
    for (const other of OWNERS.keys()) if (other !== owner) expect(JSON.stringify(own)).not.toContain(canaryOf(other))
    all.push(own)
  }
  return all
}

test.runIf(isWhole)(
  "BEY-1 BEY-5 BEY-12 files and memory give the same answers: by handle, by range, by search, by themselves",
  async () => {
    const seen = { passages: 0, others: 0, agents: 0 }
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        const { root, remove } = await temporaryRoot()
        try {
          const files = await answers({ store: fileStore({ root, flush: "never" }), dir: root }, world)
          const memory = await answers({ store: memoryStore(), dir: "/nowhere/.strata" }, world)
          expect(memory).toEqual(files)
          const text = JSON.stringify(memory)
          if (text.includes("A passage of an earlier conversation")) seen.passages++
          if (/[0-9a-f]{8}\/[0-9a-f]{10}\.0 · the user/.test(text)) seen.others++
          if (/agent-1\/[0-9a-f]{10}\.0 · the user/.test(text)) seen.agents++
        } finally {
          await remove()
        }
      }),
      { ...fuzz, numRuns: Math.ceil(RUNS / 2) },
    )
    if (!isFuzzing) for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0)
  },
)

test("BEY-12 two stores in memory have nothing of each other, also under the same name", async () => {
  const [first, second] = [memoryStore(), memoryStore()]
  for (const store of [first, second]) {
    const { chat } = await opened({ store, dir: "/nowhere/.strata" }, { owner: 0, id: "said", day: 1 })
    await chat.add(store === first ? "the walrus sleeps at the port" : "the heron flies to the port")
    await chat.close()
  }
  for (const [store, mine, not] of [
    [first, "walrus", "heron"],
    [second, "heron", "walrus"],
  ] as const) {
    const { chat, ask } = await opened({ store, dir: "/nowhere/.strata" }, { owner: 0, id: "asking", day: 2 })
    onTestFinished(() => chat.close())
    await chat.add("What about the walrus or the heron at the port?")
    const shown = `${JSON.stringify(await chat.prepare())} ${await ask({ search: "port", in: "project" })}`
    expect(shown).toMatch(new RegExp(`the ${mine} \\w+ \\w+ the port`))
    expect(shown).not.toMatch(new RegExp(`the ${not} \\w+ \\w+ the port`))
  }
})
