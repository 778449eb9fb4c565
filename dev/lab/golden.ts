/**
 * Shows whether a change of the code changes any byte of requests or journals. It plays recordings and random conversations through
 * `openConversation`, with a fixed clock, fixed ids and no network, and prints a hash of all requests and of all journal lines of each.
 *
 *     npm run golden > before.txt            then change something
 *     npm run golden > after.txt && diff before.txt after.txt
 *     npm run golden -- 40                   40 random conversations and no recordings
 */
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { contentOf, type Message, memoryStore, openConversation } from "@strata/core"
import { uuidFrom } from "@strata/core/base"
import { encodeLine } from "@strata/core/store"
import { HELD_OUT_RECORDINGS, recordedConversations, SHORT_RECORDINGS, TUNING_RECORDINGS } from "./recordings.ts"

const MODEL = "claude-opus-4-6"
const REQUESTS = 100 // of one recording, enough for several compactions of the small window
const RANDOM_CONVERSATIONS = 300
const STEPS = 40 // of a random conversation
const CHARACTERS_OF_TOKEN = 4 // ratio of the generated usage
const START = Date.parse("2026-01-01T00:00:00Z")

interface Plan {
  readonly name: string
  readonly window: number
  readonly settings?: {
    readonly planner?: "economy" | "balanced"
    readonly switches?: Readonly<Record<string, boolean>>
  }
}

const SMALL: Plan = { name: "small window", window: 50_000 }
const PLANS: readonly Plan[] = [
  SMALL,
  { name: "economy", window: 50_000, settings: { planner: "economy" } },
  { name: "clearing only", window: 50_000, settings: { switches: { notes: false, "compact-audit": false } } },
  { name: "usual window", window: 200_000 },
]

/** Opens a conversation in memory, whose requests and journal lines are hashed. */
async function openPlayed({ window, settings = {} }: Plan) {
  let time = START
  let ids = 0
  let answers = 0
  let prepared = 0
  let bytes = 0
  const requests = createHash("sha256")
  const chat = await openConversation({
    ...{ model: MODEL, id: "golden", cwd: "/nowhere", dir: "/nowhere/.strata", env: {}, system: "You help." },
    ...{ store: memoryStore(), ids: { uuid: () => uuidFrom(`golden ${ids++}`) }, clock: { now: () => new Date(time) } },
    settings: { models: { [MODEL]: { window } }, ...settings },
  })
  const failures = new Map<string, number>()
  /** Counts refused calls: a refusal that appears or disappears is a change too. */
  const tried = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      const { name } = error as Error
      failures.set(name, (failures.get(name) ?? 0) + 1)
      return undefined
    }
  }
  return {
    chat,
    tried,
    moveTo: (at: number) => {
      if (at > time) time = at
    },
    wait: (ms: number) => {
      time += ms
    },
    asked: () => prepared,
    async answer(content: unknown, stop: string): Promise<void> {
      const request = await tried(() => chat.prepare())
      if (!request) return
      const text = JSON.stringify(request)
      requests.update(text)
      bytes += text.length
      prepared++
      const usage = { input_tokens: Math.round(text.length / CHARACTERS_OF_TOKEN), output_tokens: 300 }
      const id = `msg_${++answers}`
      await tried(() =>
        chat.record({
          id,
          type: "message",
          role: "assistant",
          model: MODEL,
          content,
          stop_reason: stop,
          usage,
        } as never),
      )
      await chat.whenIdle()
    },
    async end(name: string): Promise<void> {
      const journal = createHash("sha256")
      let lines = 0
      for await (const entry of chat.entries()) {
        journal.update(encodeLine(entry))
        lines++
      }
      await chat.close()
      const refused = [...failures].map(([kind, times]) => ` ${kind}:${times}`).join("")
      const hashes = `${requests.digest("hex").slice(0, 16)} ${journal.digest("hex").slice(0, 16)}`
      console.log(`${hashes} ${prepared} requests ${bytes} bytes ${lines} lines${refused} ${name}`)
    },
  }
}

async function playRecording(name: string, messages: readonly Message[], plan: Plan): Promise<void> {
  const played = await openPlayed(plan)
  for (const message of messages) {
    if (played.asked() >= REQUESTS) break
    played.moveTo(Date.parse(message.timestamp))
    if (message.type === "assistant") await played.answer(message.message.content, "end_turn")
    else if (message.type === "user") await played.tried(() => played.chat.add(contentOf(message) as never))
  }
  await played.end(`${plan.name} ${name}`)
}

/** A linear congruential generator, which yields the same numbers for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const SENTENCES = [
  "Fix the failing test in src/parse.ts.",
  "Never push to main.",
  "总是使用中文",
  "I prefer short answers.",
  "Use port 8443 from now on.",
  "What did we decide about the cache?",
  "さようなら 世界",
  "It failed with E-4711; the address is 10.0.0.7.",
]

async function playRandom(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const played = await openPlayed(random(4) === 0 ? { ...SMALL, window: 30_000 } : SMALL)
  const { chat, tried } = played
  const open: string[] = []
  const places: string[] = []
  const words = () => "a line of the file with number ".repeat([1, 20, 200, 1_500][random(4)]!)
  chat.on("entry", ({ entry }) => {
    if (entry.type === "user" || entry.type === "assistant") places.push(entry.uuid)
  })
  const index = () => places[random(Math.max(1, places.length))] ?? "none"
  await chat.add(SENTENCES[0]!)
  for (let step = 0; step < STEPS; step++) {
    const kind = random(20)
    played.wait(random(8) === 0 ? 5_400_000 : 30_000)
    if (kind < 6) {
      const calls = Array.from({ length: random(3) }, (_, at) => `toolu_${step}_${at}`)
      const uses = calls.map((id) => ({
        type: "tool_use",
        id,
        name: ["Read", "Bash"][random(2)]!,
        input: { file_path: `/src/${id}.ts`, command: "npm test" },
      }))
      await played.answer(
        [{ type: "text", text: `Step ${step}: ${words()}` }, ...uses] as never,
        calls.length > 0 ? "tool_use" : "end_turn",
      )
      open.push(...calls)
    } else if (kind < 11 && open.length > 0) {
      const blocks = open
        .splice(0)
        .map((id) => ({ type: "tool_result", tool_use_id: id, content: `${id} ${words()}`, is_error: random(9) === 0 }))
      await tried(() => chat.add({ role: "user", content: blocks } as never))
    } else if (kind < 15) await tried(() => chat.add(`${SENTENCES[random(SENTENCES.length)]} ${words()}`))
    else if (kind === 15) await tried(() => chat.compact())
    else if (kind === 16) await tried(() => chat.clearResults({ downTo: random(3) * 4_000 }))
    else if (kind === 17) await tried(() => chat.undo())
    else if (kind === 18) await tried(() => chat.fold({ from: index(), to: index() }))
    else await tried(() => chat.rewind(index()))
  }
  await played.answer([{ type: "text", text: "Done." }] as never, "end_turn")
  await played.end(`random ${seed}`)
}

const count = Number(process.argv[2] ?? RANDOM_CONVERSATIONS)
if (process.argv[2] === undefined)
  for (const folder of [TUNING_RECORDINGS, SHORT_RECORDINGS, HELD_OUT_RECORDINGS]) {
    if (!existsSync(folder)) {
      console.log(`No recordings in ${folder}: skipped.`)
      continue
    }
    const plans = folder === TUNING_RECORDINGS ? PLANS : [SMALL]
    for (const { name, messages } of recordedConversations(folder))
      for (const plan of plans) await playRecording(name, messages, plan)
  }
for (let seed = 1; seed <= count; seed++) await playRandom(seed)
