/** LangChain's `summarizationMiddleware` and `trimMessages`, and the middleware of deepagents, inside an agent of LangChain. */
import type { Contestant, Run, StartOptions } from "../run.ts"
import { type Block, type PlainMessage, textOf } from "../session.ts"
import type { InstalledPeer, Peer } from "./installed.ts"
import { standIn } from "./stand-in.ts"

export const LANGCHAIN: Peer = {
  packages: [
    ...["langchain@1.5.9", "@langchain/core@1.2.13", "@langchain/langgraph@1.4.18", "@langchain/langgraph-sdk@1.12.3"],
    ...["deepagents@1.13.5", "zod"],
  ],
  flags: ["--legacy-peer-deps"], // deepagents asks for other versions than LangChain brings
  modules: {
    langchain: "langchain",
    messages: "@langchain/core/messages",
    models: "@langchain/core/language_models/chat_models",
    langgraph: "@langchain/langgraph",
    deepagents: "deepagents",
  },
}

export function langchainContestants(
  { modules, version }: InstalledPeer,
  deepagentsVersion: string,
): readonly Contestant[] {
  const { summarizationMiddleware } = modules.langchain
  const { createSummarizationMiddleware, StateBackend } = modules.deepagents
  const middle = (options: object) => (model: unknown) => summarizationMiddleware({ model, ...options })
  const deep = (options: object) => (model: unknown) =>
    createSummarizationMiddleware({ model, backend: (runtime: unknown) => new StateBackend(runtime), ...options })
  const withSummary = (
    name: string,
    call: string,
    takesBudget: boolean,
    made: (budget: number) => (model: unknown) => unknown,
  ) => ({
    ...{ name, call, takesBudget, hasStandIn: true, own: /^(?:\/conversation_history\/)?session_[0-9a-f]{8}/ },
    start: async (options: StartOptions) => agentRun(modules, made(options.budget), options, takesBudget ? 0.5 : 1),
  })
  return [
    withSummary(`LangChain ${version}`, "summarizationMiddleware, defaults: keeps 20 messages", false, (budget) =>
      middle({ trigger: { tokens: budget } }),
    ),
    withSummary(
      `LangChain ${version}, half kept`,
      "summarizationMiddleware, keep: half of the budget in tokens",
      true,
      (budget) => middle({ trigger: { tokens: budget }, keep: { tokens: Math.floor(budget / 2) } }),
    ),
    withSummary(
      `deepagents ${deepagentsVersion}`,
      "createSummarizationMiddleware, defaults: keeps 20 messages",
      false,
      (budget) => deep({ trigger: { type: "tokens", value: budget } }),
    ),
    withSummary(
      `deepagents ${deepagentsVersion}, half kept`,
      "createSummarizationMiddleware, keep: half of the budget in tokens",
      true,
      (budget) =>
        deep({ trigger: { type: "tokens", value: budget }, keep: { type: "tokens", value: Math.floor(budget / 2) } }),
    ),
    {
      ...{
        name: `LangChain ${version}, trim`,
        call: "trimMessages, strategy last",
        takesBudget: true,
        hasStandIn: false,
      },
      start: async ({ budget }) => trimRun(modules, budget),
    },
  ]
}

/** How the requests for a summary begin: deepagents asks the agent's own model. */
const SUMMARY_PROMPT = /^(?:<role>\s*Context Extraction|You are a conversation summarizer)/

/** An agent whose model writes down what it is asked, and whose middleware asks the stand-in for summaries. */
async function agentRun(
  modules: InstalledPeer["modules"],
  middleware: (model: unknown) => unknown,
  { budget }: StartOptions,
  summaryShare: number,
): Promise<Run> {
  const said: PlainMessage[] = []
  let view: readonly PlainMessage[] = []
  const { BaseChatModel } = modules.models
  const { AIMessage } = modules.messages
  class Model extends BaseChatModel {
    _llmType() {
      return "stand-in"
    }
    bindTools() {
      return this
    }
    async _generate(messages: readonly any[]) {
      const prompt: string = messages[0].text
      const isAsked = SUMMARY_PROMPT.test(prompt)
      if (!isAsked) view = messages.map(fromLangchain)
      const text = isAsked
        ? standIn(prompt, { tokens: Math.floor(budget * summaryShare), source: () => textOf(said) })
        : "Go on."
      return { generations: [{ text, message: new AIMessage(text) }] }
    }
  }
  const agent = modules.langchain.createAgent({
    ...{ model: new Model({}), tools: [], checkpointer: new modules.langgraph.MemorySaver() },
    middleware: [middleware(new Model({}))],
  })
  const thread = { configurable: { thread_id: "1" } }
  let more: readonly PlainMessage[] = []
  return {
    add: async (messages) => {
      said.push(...messages)
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
  let messages: readonly any[] = []
  return {
    add: async (more) => {
      messages = [...messages, ...toLangchain(modules, more)]
    },
    compact: async () => {
      const { trimMessages } = modules.messages
      const { countTokensApproximately } = modules.langchain
      messages = await trimMessages(messages, {
        ...{ maxTokens: budget, strategy: "last", includeSystem: true, startOn: "human" },
        tokenCounter: countTokensApproximately,
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

function fromLangchain(message: any): PlainMessage {
  const parts = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content
  const blocks: Block[] = parts.map((part: any) =>
    part.type === "image_url"
      ? { type: "image", source: { data: part.image_url.url.split(",")[1] } }
      : { type: "text", text: part.text },
  )
  const calls: Block[] = (message.tool_calls ?? []).map(({ id, name, args }: any) => ({
    type: "tool_use",
    id,
    name,
    input: args,
  }))
  return { role: message.getType() === "ai" ? "assistant" : "user", content: [...blocks, ...calls] }
}
