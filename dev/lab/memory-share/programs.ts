/** Programs with a memory at each entry, written as users would: custom loop, wrapped clients, proxy, agent. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { createAnthropic } from "@ai-sdk/anthropic"
import Anthropic from "@anthropic-ai/sdk"
import { strataMiddleware } from "@strata/adapters/ai-sdk"
import { withStrata } from "@strata/adapters/anthropic"
import { Conversations, newSecret, startProxy } from "@strata/adapters/proxy"
import { codingTools, openAgent, openConversation } from "@strata/core"
import { generateText, type ModelMessage, wrapLanguageModel } from "ai"

export const MODEL = "claude-opus-5-5"
const MAX_TOKENS = 2_000

export interface ProgramContext {
  /** URL of the server. */
  readonly url: string
  readonly dir: string
  readonly owner: string
  readonly system: string
  readonly clock: { now(): Date }
}

export interface Chat {
  say(text: string): Promise<void>
  close(): Promise<void>
}

/** Opens a new conversation of the owner. */
export type Program = (context: ProgramContext) => Promise<Chat>

const client = (url: string) => new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 })

const whereOf = ({ dir }: ProgramContext) => {
  const cwd = join(dir, "work")
  mkdirSync(cwd, { recursive: true })
  return { cwd, dir: join(dir, "home") }
}

const ownLoop: Program = async (context) => {
  const { url, owner, system, clock } = context
  const sdk = client(url)
  const where = whereOf(context)
  const chat = await openConversation({
    ...{ model: MODEL, client: sdk, system, env: {}, memory: { owner }, clock: clock as never },
    ...where,
  })
  return {
    async say(text) {
      await chat.add(text)
      await chat.record(await sdk.messages.stream(await chat.prepare()).finalMessage())
      await chat.whenIdle()
    },
    close: () => chat.close(),
  }
}

/** A program that resends its full message list each time. */
function sending(send: (messages: Anthropic.MessageParam[]) => Promise<Anthropic.Message>, close: Chat["close"]): Chat {
  const messages: Anthropic.MessageParam[] = []
  return {
    async say(text) {
      messages.push({ role: "user", content: text })
      messages.push({ role: "assistant", content: (await send(messages)).content as never })
    },
    close,
  }
}

const marked = (system: string) => [
  { type: "text" as const, text: system, cache_control: { type: "ephemeral" as const } },
]

const anthropic: Program = async (context) => {
  const sdk = withStrata(client(context.url), { ...whereOf(context), owner: context.owner })
  const body = { model: MODEL, max_tokens: MAX_TOKENS, system: marked(context.system) }
  return sending(
    (messages) => sdk.messages.create({ ...body, messages }),
    async () => undefined,
  )
}

const aiSdk: Program = async (context) => {
  const { url, owner, system } = context
  const middleware = strataMiddleware({ ...whereOf(context), owner })
  const model = wrapLanguageModel({
    model: createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })(MODEL),
    middleware,
  })
  const messages: ModelMessage[] = []
  return {
    async say(text) {
      messages.push({ role: "user", content: text })
      messages.push(...(await generateText({ model, system, messages, maxRetries: 0 })).responseMessages)
    },
    close: async () => undefined,
  }
}

const proxy: Program = async (context) => {
  const { url, owner, system, clock } = context
  const plans = new Conversations({ upstream: url, env: {}, ...whereOf(context), owner, clock: clock as never })
  const running = await startProxy({ upstream: url, plans, secret: newSecret() })
  const body = { model: MODEL, max_tokens: MAX_TOKENS, system: marked(system) }
  return sending(
    (messages) => client(running.url).messages.create({ ...body, messages }),
    async () => {
      await running.close()
      await plans.close()
    },
  )
}

const agent: Program = async (context) => {
  const { url, owner, system, clock } = context
  const opened = await openAgent({
    ...{ model: MODEL, client: client(url), system, tools: codingTools(), env: { PATH: process.env.PATH } },
    ...{ memory: { owner }, mode: "bypass" as const, clock: clock as never },
    ...whereOf(context),
  })
  return {
    async say(text) {
      await opened.ask(text)
      await opened.conversation.whenIdle()
    },
    close: () => opened.close(),
  }
}

export const PROGRAMS: Readonly<Record<string, Program>> = {
  "own loop": ownLoop,
  anthropic,
  "ai-sdk": aiSdk,
  proxy,
  agent,
}
