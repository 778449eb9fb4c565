/** A complete conversation on a store that fails at one call, each in turn: the call is not made, or made and its answer lost. */
import { expect, test } from "vitest"
import { extractiveAnswer } from "../../../sim/src/responders/extractive.ts"
import { client, simulator } from "../../../sim/test/simulator.ts"
import { countedStore } from "../../../store-contract/src/counted-store.ts"
import { faultyStore } from "../../../store-contract/src/faulty-store.ts"
import { StrataError } from "../../src/base/errors.ts"
import { localUser } from "../../src/base/owner.ts"
import type { Conversation } from "../../src/conversation/conversation.ts"
import { openConversation } from "../../src/conversation/open.ts"
import { isForked } from "../../src/forks/fork.ts"
import { fileStore } from "../../src/journal/file/file-store.ts"
import { memoryStore } from "../../src/journal/in-memory/store.ts"
import type { Store } from "../../src/journal/store.ts"
import { validateRequest } from "../../src/messages/validate/validator.ts"
import { findModel } from "../../src/tokens/models.ts"
import { everyNth, isWhole } from "../size.ts"
import { project } from "./agent/agents.ts"

const MODEL = "claude-opus-5-5"
const LOG = { name: "Log", description: "Shows a log.", input_schema: { type: "object" as const } }
const LARGE = "request 7 took 42 ms on port 4001; ".repeat(4_000) // long enough to be offloaded
const TEXT = "request 8 took 43 ms on port 4002; ".repeat(800)
const PATIENCE_MS = 60_000

type Sdk = ReturnType<typeof client>

/** The model calls Log, and answers forks truthfully. */
async function model(): Promise<Sdk> {
  const sim = await simulator({
    responder: {
      name: "faults",
      async answer(turn) {
        if (!isForked(turn.request.messages as never))
          return { content: [{ type: "tool_use", id: turn.nextToolUseId(), name: "Log", input: {} }] }
        return extractiveAnswer(turn) ?? { content: [{ type: "text", text: "Nothing to add." }] }
      },
    },
  })
  return client(sim)
}

interface Play {
  readonly store: Store
  readonly sdk: Sdk
  readonly where: { readonly cwd: string; readonly dir: string }
}

const opened = ({ store, sdk, where }: Play): Promise<Conversation> =>
  openConversation({
    ...{ model: MODEL, client: sdk, store, tools: [LOG], id: "c", env: {}, system: "You look at logs.", ...where },
    memory: { owner: localUser },
    settings: { planner: "off", figures: { "background-share": 100 } },
  })

/** Acknowledged texts, and failures on the way. */
interface Played {
  readonly acknowledged: readonly string[]
  readonly errors: readonly unknown[]
}

/** Adds, records, has a result offloaded, compacts, and closes. A failed step is retried on the reopened conversation. */
async function played(play: Play): Promise<Played> {
  const acknowledged: string[] = []
  const errors: unknown[] = []
  let chat: Conversation | undefined
  const attempt = async <T>(work: (chat: Conversation) => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++)
      try {
        chat ??= await opened(play)
        return await work(chat)
      } catch (error) {
        errors.push(error)
        if (tries === 3) throw error
        if (tries === 1) continue
        await chat?.close().catch((failure: unknown) => errors.push(failure))
        chat = undefined
      }
  }
  const add = async (text: string, content: Parameters<Conversation["add"]>[0] = text) => {
    await attempt((open) => open.add(content))
    acknowledged.push(text.slice(0, 40))
  }
  const turn = async (text: string) => {
    const request = await attempt((open) => open.prepare())
    const response = await play.sdk.messages.stream(request).finalMessage()
    await attempt((open) => open.record(response))
    const [call] = response.content
    if (call?.type !== "tool_use") throw new Error("no call")
    acknowledged.push(call.id)
    await add(call.id, [{ type: "tool_result", tool_use_id: call.id, content: text }])
  }
  await add("Always use tabs. Find the slow request.")
  for (const text of [LARGE, TEXT, TEXT]) await turn(text)
  await attempt((open) => open.whenIdle())
  await attempt((open) => open.compact())
  await turn("short")
  await attempt((open) => open.whenIdle())
  await attempt((open) => open.close())
  return { acknowledged, errors }
}

/** Every text and id in the journal. */
async function contentOf(chat: Conversation): Promise<string> {
  const found: string[] = []
  for await (const entry of chat.entries()) found.push(JSON.stringify(entry))
  return found.join("\n")
}

async function checkAfterwards(play: Play, { acknowledged, errors }: Played): Promise<void> {
  for (const error of errors) {
    expect(error).toBeInstanceOf(StrataError)
    expect((error as Error).message).toMatch(/^[A-Z"].*\.$/s)
  }
  const chat = await opened(play)
  const content = await contentOf(chat)
  for (const text of acknowledged) expect(content).toContain(text)
  expect(chat.openResult).toMatchObject({ tornBytes: 0, damagedLines: [] })
  await chat.add("Go on.")
  const request = await chat.prepare()
  expect(validateRequest({ request, model: findModel(MODEL).facts })).toEqual([])
  await chat.record(await play.sdk.messages.stream(request).finalMessage())
  await chat.close()
}

const stores = {
  files: ({ dir }: Play["where"]) => fileStore({ root: dir, flush: "never" }),
  memory: () => memoryStore(),
}

const withinPatience = <T>(work: Promise<T>, what: string): Promise<T> => {
  const late = Promise.withResolvers<T>()
  const timer = setTimeout(() => late.reject(new Error(`${what} hangs`)), PATIENCE_MS)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}

for (const [kind, store] of Object.entries(stores))
  for (const how of ["before", "after"] as const)
    test.runIf(isWhole || (kind === "files") === (how === "after"))(
      `BEY-12 ${kind}: a call that fails ${how} it is made, each in turn, loses nothing that was acknowledged, and the conversation goes on`,
      async () => {
        const sdk = await model()
        const whole = project()
        const counted = countedStore(store(whole))
        const sound = { store: counted.store, sdk, where: whole }
        const result = await played(sound)
        const calls = counted.calls()
        expect(calls).toContain("journal.writeBlob")
        expect(calls).toContain("journal.writeCheckpoint")
        await checkAfterwards(sound, result)
        const places = everyNth([...calls.keys()], 24, how === "before" ? 1 : 13)
        const found: string[] = []
        let hits = 0
        for (const at of places) {
          const where = project()
          const kept = store(where)
          const faulty = faultyStore(kept, { at: at + 1, how })
          try {
            await withinPatience(
              played({ store: faulty.store, sdk, where }).then((result) =>
                checkAfterwards({ store: kept, sdk, where }, result),
              ),
              `call ${at + 1}`,
            )
          } catch (error) {
            found.push(`${how} call ${at + 1}, ${faulty.failed().join()}: ${String(error).slice(0, 600)}`)
          }
          hits += faulty.failed().length
        }
        expect(found).toEqual([])
        expect(hits).toBeGreaterThan(0.9 * places.length) // the number of background calls varies slightly
      },
    )
