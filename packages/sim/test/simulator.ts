/** Fixtures of the simulator's tests: a small responder, clients, and valid bodies that tests change. */
import Anthropic from "@anthropic-ai/sdk"
import { onTestFinished } from "vitest"
import { frozenClock } from "../src/clock.ts"
import type { Answer, AnswerBlock, Responder, ResponderTurn } from "../src/responder.ts"
import { type Simulator, type SimulatorOptions, startSimulator } from "../src/start.ts"

export const MODEL = "claude-opus-5"
export const KEY = "sk-sim-test"

export type Script = readonly (string | readonly AnswerBlock[] | Answer | ((turn: ResponderTurn) => Answer))[]

/** Gives the answers in order, then always "Done.". */
export function scripted(...answers: Script): Responder {
  return {
    name: "test",
    answer(turn) {
      const next = answers[turn.index] ?? "Done."
      if (typeof next === "function") return next(turn)
      if (typeof next === "string") return { content: [{ type: "text", text: next }] }
      return "content" in next ? next : { content: next }
    },
  }
}

/** A simulator with a frozen clock. It closes after the test, and after all resources that the test opened later. */
export async function simulator(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const started = await startSimulator({ responder: scripted(), clock: frozenClock(), ...options })
  // an `afterEach` here would apply to the first test file only, because this file is loaded once for all of them
  onTestFinished(() => started.close())
  return started
}

export const client = ({ url }: Simulator, options: ConstructorParameters<typeof Anthropic>[0] = {}) =>
  new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0, openTelemetry: false, ...options })

export interface RawOptions {
  readonly betas?: readonly string[]
  readonly version?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A request without an SDK, for bodies that no SDK would send. */
export function post(
  { url }: Simulator,
  body: unknown,
  { betas = [], version = "2026-10-21", path, headers }: RawOptions = {},
) {
  return fetch(`${url}${path ?? "/v1/messages"}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${KEY}`,
      "anthropic-version": version,
      ...(betas.length > 0 && { "anthropic-beta": betas.join(",") }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  })
}

// biome-ignore lint/suspicious/noExplicitAny: tests check answers field by field
export type Json = any

export async function postJson(to: Simulator, body: unknown, options?: RawOptions): Promise<Json> {
  return (await post(to, body, options)).json()
}

export const hello = (more: Readonly<Record<string, unknown>> = {}) => ({
  model: MODEL,
  max_tokens: 100,
  messages: [{ role: "user", content: "Hello" }],
  ...more,
})
