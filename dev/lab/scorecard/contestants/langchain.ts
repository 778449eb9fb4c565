/** LangChain's `summarizationMiddleware` and `trimMessages`, and the middleware of deepagents, inside an agent of LangChain. */
import { versionOf } from "../../clients/install.ts"
import type { Contestant, Run } from "../run.ts"
import { sizeOf } from "../score.ts"
import { type Block, type PlainMessage, textOf } from "../session.ts"
import type { External, InstalledPeer, Peer } from "./installed.ts"
import { standIn } from "./stand-in.ts"

export const LANGCHAIN: Peer = {
  packages: [
    ...["langchain@1.5.9", "@langchain/core@1.2.13", "@langchain/langgraph@1.4.18", "@langchain/langgraph-sdk@1.12.3"],
    ...["deepagents@1.13.5", "zod"],
  ],
  flags: ["--legacy-peer-deps"], // deepagents requires other versions than LangChain installs
  modules: {
    langchain: "langchain",
    messages: "@langchain/core/messages",
    models: "@langchain/core/language_models/chat_models",
    langgraph: "@langchain/langgraph",
    deepagents: "deepagents",
  },
}

/** Tokens that the middleware adds around a summary, which are part of the budget. */
const AROUND = { langchain: 20, deepagents: 70 }

export function langchainContestants({ modules, version, directory }: InstalledPeer): readonly Contestant[] {
  const { summarizationMiddleware } = modules.langchain
  const { createSummarizationMiddleware, StateBackend } = modules.deepagents
  const langchain = (model: unknown, options: object) =>
    summarizationMiddleware({ model, tokenCounter: (list: readonly External[]) => countOf(list), ...options })
  const deepagents = (model: unknown, options: object) =>
    createSummarizationMiddleware({ model, backend: (runtime: unknown) => new StateBackend(runtime), ...options })
  const half = (tokens: number) => Math.floor(tokens / 2)
  const lang = { version, takesBudget: false, hasStandIn: true }
  const deep = {
    ...lang,
    version: versionOf(directory, "deepagents"),
    own: /\/conversation_history\/\S+/g,
  }
  return [
    {
      ...{ ...lang, name: "LangChain", call: "`summarizationMiddleware`, defaults: keeps 20 messages" },
      start: async ({ budget }) =>
        agentRun(modules, budget, (model) => langchain(model, { trigger: { tokens: budget } })),
    },
    {
      ...{ ...lang, name: "LangChain, half kept", call: "`summarizationMiddleware`, `keep` half of the budget" },
      start: async ({ budget }) =>
        agentRun(modules, half(budget) - AROUND.langchain, (model) =>
          langchain(model, { trigger: { tokens: budget }, keep: { tokens: half(budget) } }),
        ),
    },
    {
      ...{ ...deep, name: "deepagents", call: "`createSummarizationMiddleware`, defaults: keeps 20 messages" },
      start: async ({ budget, quarters }) =>
        agentRun(modules, budget, (model) => deepagents(model, { trigger: { type: "tokens", value: quarters } })),
    },
    {
      ...{ ...deep, name: "deepagents, half kept", call: "`createSummarizationMiddleware`, `keep` half of the budget" },
      start: async ({ budget, quarters }) =>
        agentRun(modules, half(budget) - AROUND.deepagents, (model) =>
          deepagents(model, {
            trigger: { type: "tokens", value: quarters },
            keep: { type: "tokens", value: half(quarters) },
          }),
        ),
    },
    {
      ...{ name: "LangChain, trim", call: "`trimMessages`, newest messages up to the budget", version },
      ...{ takesBudget: true, hasStandIn: false },
      start: async ({ budget }) => trimRun(modules, budget),
    },
  ]
}

const countOf = (list: readonly External[]): number => sizeOf(list.map(fromLangchain)).tokens

/** Matches the start of requests for a summary. deepagents sends these to the agent's own model. */
const SUMMARY_PROMPT = /^(?:<role>\s*Context Extraction|You are a conversation summarizer)/

/** Runs an agent whose model records its requests, and whose middleware gets its summaries from the stand-in. */
async function agentRun(
  modules: InstalledPeer["modules"],
  summaryTokens: number,
  middleware: (model: unknown) => unknown,
): Promise<Run> {
  const heard: PlainMessage[] = []
  let view: readonly PlainMessage[] = []
  const { BaseChatModel } = modules.models
  const { AIMessage } = modules.messages
  class Model extends BaseChatModel {
    constructor() {
      super({})
    }
    _llmType() {
      return "stand-in"
    }
    bindTools() {
      return this
    }
    async _generate(messages: readonly External[]) {
      const prompt: string = messages[0].text
      const isAsked = SUMMARY_PROMPT.test(prompt)
      if (!isAsked) view = messages.map(fromLangchain)
      const text = isAsked ? standIn(prompt, { tokens: summaryTokens, source: () => textOf(heard) }) : "Go on."
      return { generations: [{ text, message: new AIMessage(text) }] }
    }
  }
  const agent = modules.langchain.createAgent({
    ...{ model: new Model(), tools: [], checkpointer: new modules.langgraph.MemorySaver() },
    middleware: [middleware(new Model())],
  })
  const thread = { configurable: { thread_id: "1" } }
  let more: readonly PlainMessage[] = []
  return {
    add: async (messages) => {
      heard.push(...messages)
      more = [...more, ...messages]
    },
    compact: async () => {
      await agent.invoke({ messages: toLangchain(modules, more) }, thread)
      more = []
      return view
    },
  }
}

function trimRun(modules: InstalledPeer["modules"], budget: number): Run {
  let messages: readonly External[] = []
  return {
    add: async (more) => {
      messages = [...messages, ...toLangchain(modules, more)]
    },
    compact: async () => {
      const { trimMessages } = modules.messages
      messages = await trimMessages(messages, {
        ...{ maxTokens: budget, strategy: "last", includeSystem: true, startOn: "human" },
        tokenCounter: countOf,
      })
      return messages.map(fromLangchain)
    },
  }
}

const blocksOf = ({ content }: PlainMessage): readonly Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

function toLangchain({ messages }: InstalledPeer["modules"], list: readonly PlainMessage[]): readonly object[] {
  return list.flatMap((message): readonly object[] => {
    const blocks = blocksOf(message)
    if (message.role === "assistant") {
      const calls = blocks.filter(({ type }) => type === "tool_use")
      const text = blocks.filter(({ type }) => type !== "tool_use").map((block) => String(block.text ?? block.thinking))
      return [
        new messages.AIMessage({
          content: text.join("\n"),
          tool_calls: calls.map(({ id, name, input }) => ({ id, name, args: input, type: "tool_call" })),
        }),
      ]
    }
    const results = blocks.filter(({ type }) => type === "tool_result")
    const rest = blocks.filter(({ type }) => type !== "tool_result")
    return [
      ...results.map(({ tool_use_id, content }) => new messages.ToolMessage({ content, tool_call_id: tool_use_id })),
      ...(rest.length > 0 ? [new messages.HumanMessage({ content: rest.map(asContent) })] : []),
    ]
  })
}

const asContent = (block: Block): object =>
  block.type === "image"
    ? { type: "image_url", image_url: { url: `data:image/png;base64,${Object(block.source).data}` } }
    : { type: "text", text: block.text }

function fromLangchain(message: External): PlainMessage {
  const parts = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content
  const blocks: Block[] = parts.map((part: External) =>
    part.type === "image_url"
      ? { type: "image", source: { data: part.image_url.url.split(",")[1] } }
      : { type: "text", text: part.text },
  )
  const calls: Block[] = (message.tool_calls ?? []).map(({ id, name, args }: External) => ({
    type: "tool_use",
    id,
    name,
    input: args,
  }))
  return { role: message.getType() === "ai" ? "assistant" : "user", content: [...blocks, ...calls] }
}
