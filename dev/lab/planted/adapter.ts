/**
 * Plants the same facts in a program that uses Strata by a single line. Its agent works until the given number of compactions has passed,
 * and is then asked for each fact. The model looks in its request; if the fact is missing, it calls Recall once.
 */
import {
  extractiveAnswer,
  frozenClock,
  type Responder,
  type ResponderTurn,
  type Simulator,
  startSimulator,
} from "@strata/sim"
import { inTemporaryDirectory } from "../../bench/measure.ts"
import { type PlantedFact, plantedFacts } from "./facts.ts"
import { knowingResponder } from "./knowing-responder.ts"
import type { Reach } from "./measure.ts"
import { type Exchange, exchangeOf, otherWork } from "./work.ts"

export const MODEL = "claude-opus-5-5"
export const MODELS = { [MODEL]: { window: 60_000 } }
export const TOOLS = ["Read", "Bash", "Grep", "Write"]

/** A program with tools that plays exchanges. */
export interface AdapterProgram {
  /** Sends one message of the user and runs until the agent ends. Tool results are those of the exchange. */
  turn(exchange: Exchange): Promise<void>
  /** Answers a question that is not stored in the conversation. */
  ask(question: string): Promise<string>
  compactions(): Promise<number>
}

export type StartAdapter = (context: { readonly sim: Simulator; readonly dir: string }) => Promise<AdapterProgram>

export interface AdapterResult {
  readonly compactions: number
  readonly facts: number
  readonly reach: Readonly<Record<Reach, number>>
  readonly errors: Readonly<Record<string, number>>
}

export function measureAdapter(adapter: StartAdapter, after: number): Promise<AdapterResult> {
  return inTemporaryDirectory(async (dir) => {
    const facts = plantedFacts().filter(({ group }) => group === "planted")
    const responder = new PlantingResponder(facts)
    const sim = await startSimulator({ responder, clock: frozenClock(), models: MODELS, bindThinking: "error" })
    try {
      const program = await adapter({ sim, dir })
      const play = (exchange: Exchange) => {
        responder.script = exchange.result
          ? [exchange.answers, [{ type: "text", text: exchange.ends }]]
          : [[...exchange.answers, { type: "text", text: exchange.ends }]]
        return program.turn(exchange)
      }
      for (const fact of facts) await play(exchangeOf(fact))
      for (let round = 0; (await program.compactions()) < after; round++) await play(otherWork(round))
      const compactions = await program.compactions()
      const reach = { "in-view": 0, "one-search": 0, lost: 0 }
      for (const fact of facts) {
        responder.wanted = fact
        reach[(await program.ask(`What is the ${fact.subject}?`)) as Reach]++
      }
      const { errors } = sim.stats()
      return { compactions, facts: facts.length, reach, errors }
    } finally {
      await sim.close()
    }
  })
}

/** Plays the agent's part of each exchange. When asked for a fact, it reports where it found the fact. */
class PlantingResponder implements Responder {
  readonly name = "planted door"
  script: (readonly object[])[] = []
  wanted: PlantedFact | undefined
  readonly #summaries: Responder
  #asked = 0

  constructor(facts: readonly PlantedFact[]) {
    this.#summaries = knowingResponder(facts)
  }

  answer(turn: ResponderTurn) {
    if (extractiveAnswer(turn)) return this.#summaries.answer(turn)
    const next = this.script.shift()
    return { content: (next ?? this.#found(turn)) as never }
  }

  #found({ request: { messages } }: ResponderTurn): readonly object[] {
    const { value, subject } = this.wanted!
    const last = JSON.stringify(messages.at(-1))
    const content = (reach: Reach) => [{ type: "text", text: reach }]
    if (last.includes("Quotations from the past")) return content(last.includes(value) ? "one-search" : "lost")
    if (JSON.stringify(messages).includes(value)) return content("in-view")
    const id = `toolu_${String(++this.#asked).padStart(18, "0")}`
    return [{ type: "tool_use", id, name: "Recall", input: { search: `What is the ${subject}?` } }]
  }
}

export function adapterReport(name: string, { compactions, facts, reach, errors }: AdapterResult): string {
  const refused = Object.values(errors).reduce((sum, count) => sum + count, 0)
  return `${name}, after ${compactions} compactions: of ${facts} facts ${reach["in-view"]} in view, ${reach["one-search"]} one recall away, ${reach.lost} lost; ${refused} requests refused`
}
