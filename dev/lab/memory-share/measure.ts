/** Measures the cost of memory work by the simulator's bill, and which planted facts the next conversation is sent. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { closeStrata } from "@strata/adapters/anthropic"
import { openConversation } from "@strata/core"
import { extractiveAnswer, frozenClock, type Responder, type Simulator, startSimulator } from "@strata/sim"
import { isForked } from "../../../packages/core/src/forks/fork.ts"
import { inTemporaryDirectory } from "../../bench/measure.ts"
import { MODEL, PROGRAMS, type ProgramContext } from "./programs.ts"

const IDLE_MS = 250 // without a request, after which no background work is left
const POLL_MS = 25
const MINUTE_MS = 60_000
const SYSTEM_WORDS = 3_000
const TASK_WORDS = 20
const ANSWER_WORDS = 250
const OWNER = "ada"

export interface ShareCase {
  readonly entry: string
  readonly conversations: number
  /** Turns of each conversation. */
  readonly turns: number
}

export interface ShareFigures extends ShareCase {
  readonly dollars: number
  /** Cost of extractions and dreams. */
  readonly memoryDollars: number
  /** Memory work in percent of the total cost. */
  readonly share: number
  readonly extractions: number
  readonly facts: number
  /** Number of facts in memory files at the end. */
  readonly stored: number
  /** Number of facts that the owner's next conversation is sent when it asks for them, as memories or passages of earlier messages. */
  readonly found: number
}

export function measureShare(one: ShareCase): Promise<ShareFigures> {
  return inTemporaryDirectory(async (dir) => {
    const responder = new TalkingResponder()
    const clock = frozenClock()
    const sim = await startSimulator({ responder, clock })
    const context: ProgramContext = {
      ...{ url: sim.url, dir, owner: OWNER, system: filler("guideline", SYSTEM_WORDS) },
      clock: { now: () => new Date(clock.now()) },
    }
    try {
      const services = Array.from({ length: one.conversations }, (_, at) => serviceOf(at))
      for (const service of services) {
        const chat = await PROGRAMS[one.entry]!(context)
        for (let turn = 0; turn < one.turns; turn++) {
          await chat.say(turn === 0 ? `${factOf(service)} ${taskOf(turn)}` : taskOf(turn))
          await idle(sim, responder)
          clock.advance(MINUTE_MS)
        }
        await chat.close()
        await closeStrata()
      }
      const bill = billOf(sim, responder)
      const texts = memoriesIn(join(dir, "home"))
      const found = await Promise.all(services.map((service) => isFound(context, service)))
      return {
        ...{ ...one, ...bill, facts: services.length },
        stored: services.filter((service) => texts.includes(addressOf(service))).length,
        found: found.filter(Boolean).length,
      }
    } finally {
      await sim.close()
    }
  })
}

/** Gives long answers and records which of its answers were for memory work. */
class TalkingResponder implements Responder {
  readonly name = "talking"
  readonly forMemory: boolean[] = []

  answer(turn: Parameters<Responder["answer"]>[0]) {
    const answer = extractiveAnswer(turn)
    this.forMemory.push(answer !== undefined || isForked(turn.request.messages as never))
    return answer ?? { content: [{ type: "text" as const, text: filler("finding", ANSWER_WORDS) }] }
  }
}

/** The bill of memory work. Requests run one after another here, so the bill lists them in the order of the answers. */
function billOf(sim: Simulator, { forMemory }: TalkingResponder) {
  const billed = sim.log.filter(({ dollars }) => dollars !== undefined)
  if (billed.length !== forMemory.length)
    throw new Error(`${billed.length} of ${forMemory.length} answers are on the bill`)
  const dollars = billed.reduce((sum, one) => sum + one.dollars!, 0)
  const memory = billed.filter((_, at) => forMemory[at])
  const memoryDollars = memory.reduce((sum, one) => sum + one.dollars!, 0)
  return { dollars, memoryDollars, share: (100 * memoryDollars) / dollars, extractions: memory.length }
}

async function idle(sim: Simulator, responder: TalkingResponder): Promise<void> {
  let [before, still] = [-1, 0]
  while (still < IDLE_MS) {
    await setTimeout(POLL_MS)
    const isIdle = sim.log.length === before && sim.log.length >= responder.forMemory.length
    still = isIdle ? still + POLL_MS : 0
    before = sim.log.length
  }
}

function memoriesIn(home: string): string {
  const files = readdirSync(home, { recursive: true, withFileTypes: true })
  return files
    .filter(({ name, parentPath }) => name.endsWith(".md") && parentPath.endsWith("memory") && existsSync(parentPath))
    .map(({ name, parentPath }) => readFileSync(join(parentPath, name), "utf8"))
    .join("\n")
}

async function isFound({ dir, owner, clock }: ProgramContext, service: string): Promise<boolean> {
  await using chat = await openConversation({
    ...{ model: MODEL, env: {}, memory: { owner }, clock: clock as never },
    ...{ cwd: join(dir, "work"), dir: join(dir, "home") },
  })
  await chat.add(`Where is the runbook of the ${service} service?`)
  return JSON.stringify(await chat.prepare()).includes(addressOf(service))
}

const BIRDS = [
  "heron",
  "osprey",
  "plover",
  "curlew",
  "dunlin",
  "godwit",
  "avocet",
  "turnstone",
  "whimbrel",
  "sanderling",
]
const METALS = ["copper", "nickel", "cobalt", "zinc", "silver", "tin", "iron", "gold", "lead", "chromium"]
const serviceOf = (at: number): string =>
  `${METALS[Math.floor(at / BIRDS.length) % METALS.length]}-${BIRDS[at % BIRDS.length]}`
const addressOf = (service: string): string => `https://wiki.example.com/runbooks/${service}`
const factOf = (service: string): string => `The runbook of the ${service} service is at ${addressOf(service)}.`
const taskOf = (turn: number): string => `Review part ${turn + 1} of the log: ${filler("entry", TASK_WORDS)}`

const filler = (word: string, words: number): string =>
  Array.from({ length: words }, (_, at) => `${word}${at % 97}`).join(" ")

export function shareTable(all: readonly ShareFigures[]): string {
  const head =
    "| entry | conversations × turns | spent | memory's share | extractions | facts kept | facts found |\n|---|---|---|---|---|---|---|"
  const rows = all.map(
    ({ entry, conversations, turns, dollars, share, extractions, stored, found, facts }) =>
      `| ${entry} | ${conversations} × ${turns} | $${dollars.toFixed(2)} | ${share.toFixed(1)}% | ${extractions} | ${stored} of ${facts} | ${found} of ${facts} |`,
  )
  return [head, ...rows].join("\n")
}
