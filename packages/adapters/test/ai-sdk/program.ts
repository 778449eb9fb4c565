/** A program of the AI SDK against the simulator, with and without Strata, in versions 6 and 7. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createAnthropic } from "@ai-sdk/anthropic"
import { frozenClock, type Simulator, type SimulatorOptions, startSimulator } from "@strata/sim"
import * as ai7 from "ai"
import * as ai6 from "ai-6"
import { createAnthropic as createAnthropic3 } from "ai-sdk-anthropic-3"
import { onTestFinished } from "vitest"
import { size } from "../../../core/test/size.ts"
import type { Answer, AnswerBlock, Responder, ResponderMessage, ResponderTurn } from "../../../sim/src/responder.ts"
import { extractiveAnswer } from "../../../sim/src/responders/extractive.ts"
import { closeStrata, type StrataOptions, strataMiddleware } from "../../src/ai-sdk.ts"

export const MODEL = "claude-opus-5-5"
export const WINDOW = size(30_000, 60_000) // tokens

/** The same functions in both versions. */
export const VERSIONS = {
  7: { ai: ai7, createAnthropic },
  6: { ai: ai6 as unknown as typeof ai7, createAnthropic: createAnthropic3 as unknown as typeof createAnthropic },
}
export type Version = keyof typeof VERSIONS

/** The provider of version 6 predates this field and refuses an empty one. */
const FETCH: Record<Version, typeof fetch> = {
  7: fetch,
  6: async (url, init) => {
    const answer = await fetch(url, init)
    if (!answer.headers.get("content-type")?.includes("json")) return answer
    const text = (await answer.text()).replaceAll(',"citations":null', "")
    const headers = new Headers(answer.headers)
    for (const name of ["content-length", "content-encoding"]) headers.delete(name)
    return new Response(text, { status: answer.status, headers })
  },
}

/**
 * Works through numbered steps. Its next action depends only on the newest message, so that it is the same for any view. "Task B: 9 steps"
 * starts a task, a result "B: step 3 of 9" requests the next step.
 */
export class Worker implements Responder {
  readonly name = "worker"
  readonly asked: (readonly ResponderMessage[])[] = []
  summaries = 0
  readonly #before: (turn: ResponderTurn) => readonly AnswerBlock[] | undefined

  constructor(before: (turn: ResponderTurn) => readonly AnswerBlock[] | undefined = () => undefined) {
    this.#before = before
  }

  answer(turn: ResponderTurn): Answer {
    const about = extractiveAnswer(turn)
    if (about) {
      this.summaries++
      return about
    }
    const { messages, format } = turn.request
    this.asked.push(messages)
    const blocks = this.#before(turn)
    if (blocks) return { content: blocks }
    if (format) return { content: [{ type: "text", text: JSON.stringify({ steps: lastStep(messages)?.step ?? 0 }) }] }
    return { content: nextStep(messages, turn) }
  }
}

export interface Step {
  readonly task: string
  readonly step: number
  readonly of: number
}

/** The newest message may also contain a summary that names other tasks, so results and user messages have priority. */
function lastStep(messages: readonly ResponderMessage[]): Step | undefined {
  const content = messages.at(-1)?.content ?? []
  const results = content.filter(({ type }) => type === "tool_result")
  const asked = content.filter(({ text }) => /^Task [A-Z]: /.test(text ?? ""))
  const text = JSON.stringify([results, asked, content].find(({ length }) => length > 0) ?? [])
  const [, task = "", step = "0", of = "0"] =
    [...text.matchAll(/([A-Z]): step (\d+) of (\d+)/g)].at(-1) ?? /Task ([A-Z]):()? (\d+) steps/.exec(text) ?? []
  return task === "" ? undefined : { task, step: Number(step === "" ? 0 : step), of: Number(of) }
}

function nextStep(messages: readonly ResponderMessage[], { nextToolUseId }: ResponderTurn): readonly AnswerBlock[] {
  const last = lastStep(messages)
  if (!last) return [{ type: "text", text: "I heard you, and there is nothing to do about it." }]
  const { task, step, of } = last
  if (step >= of) return [{ type: "text", text: `Task ${task} is done after ${of} steps, as you asked.` }]
  const call = (number: number): AnswerBlock => ({
    type: "tool_use",
    id: nextToolUseId(),
    name: "work",
    input: { task, step: number, of },
  })
  const thought: AnswerBlock = { type: "thinking", thinking: `Step ${step + 1} of ${task} comes next.` }
  const textBlock: AnswerBlock = { type: "text", text: `I begin step ${step + 1} of task ${task}.` }
  // two calls at once in every third step
  const calls = step % 3 === 2 && step + 2 <= of ? [call(step + 1), call(step + 2)] : [call(step + 1)]
  return [thought, textBlock, ...calls]
}

export const LONG = "a line of a long file with words in it\n".repeat(WINDOW / 150)

export interface Program {
  readonly sim: Simulator
  readonly responder: Worker
  readonly dir: string
  readonly lines: string[]
  /** The model with Strata, or the plain model. */
  model(options?: StrataOptions): ai7.LanguageModel
  readonly direct: ai7.LanguageModel
  readonly tools: ai7.ToolSet
}

export const SETTINGS = { models: { [MODEL]: { window: WINDOW } }, figures: { "tool-result-limit": 50_000 } }

/** Summaries are written when they are due, and the request waits for them, so that timing does not matter. */
export const AT_ONCE = { ...SETTINGS, switches: { "compact-ahead": false } }

export interface ProgramOptions extends Partial<SimulatorOptions> {
  readonly responder?: Worker
  /** Additional text that the tool returns for each step. */
  readonly result?: string
  readonly resultPrefix?: (step: Step) => string
}

export async function program(
  version: Version,
  { responder = new Worker(), result = LONG, resultPrefix = () => "", ...options }: ProgramOptions = {},
): Promise<Program> {
  const { ai, createAnthropic } = VERSIONS[version]
  const models = { [MODEL]: { window: WINDOW } }
  const sim = await startSimulator({ responder, clock: frozenClock(), bindThinking: "error", models, ...options })
  const dir = mkdtempSync(join(tmpdir(), "strata-ai-sdk-"))
  const lines: string[] = []
  onTestFinished(async () => {
    await closeStrata()
    await sim.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const direct = createAnthropic({ baseURL: `${sim.url}/v1`, apiKey: "sk-sim", fetch: FETCH[version] })(MODEL)
  const log = (line: string) => void lines.push(line)
  const tools = {
    work: ai.tool({
      description: "Works on a step.",
      inputSchema: ai.jsonSchema<Step>({
        type: "object",
        properties: { task: { type: "string" }, step: { type: "number" }, of: { type: "number" } },
        required: ["task", "step", "of"],
      }),
      execute: (step) => `${resultPrefix(step)}${result}${step.task}: step ${step.step} of ${step.of}`,
    }),
  } as ai7.ToolSet
  return {
    sim,
    responder,
    dir,
    lines,
    direct,
    tools,
    model: (given = {}) =>
      ai.wrapLanguageModel({
        model: direct as never,
        middleware: strataMiddleware({ dir, cwd: "/nowhere", settings: SETTINGS, log, ...given }),
      }),
  }
}

export const journalsIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true })
    .map(String)
    .filter((name) => /via-[^/]*\.jsonl$/.test(name))

export type Message = ai7.ModelMessage

/** All messages of a response. In version 7, version 6's name for them means those of the last step. */
export async function newMessages(answer: object): Promise<readonly Message[]> {
  const { responseMessages, response } = answer as {
    responseMessages?: PromiseLike<readonly Message[]>
    response: PromiseLike<{ messages: readonly Message[] }>
  }
  return (await responseMessages) ?? (await response).messages
}

/** What a program sees of a response, without ids and times. */
export const seen = (messages: readonly ai7.ModelMessage[]): unknown =>
  JSON.parse(
    JSON.stringify(messages, (name, value) =>
      ["toolCallId", "signature", "providerOptions", "id"].includes(name) ? undefined : value,
    ),
  )
