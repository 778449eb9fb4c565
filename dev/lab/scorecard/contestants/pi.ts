/** pi's compaction: its own cut, prompts and session, with the stand-in in place of a model. */
import type { Contestant, Run } from "../run.ts"
import { type Block, type PlainMessage, textOf } from "../session.ts"
import type { External, InstalledPeer, Peer } from "./installed.ts"
import { standIn } from "./stand-in.ts"

export const PI: Peer = {
  packages: ["@earendil-works/pi-coding-agent@0.87.1"],
  modules: {
    pi: "@earendil-works/pi-coding-agent",
    // the part of pi's compaction that finds the cut, which is not exported
    compaction: "./node_modules/@earendil-works/pi-coding-agent/dist/core/compaction/index.js",
    conversion: "./node_modules/@earendil-works/pi-coding-agent/dist/core/messages.js",
  },
}

export const piContestants = ({ modules, version }: InstalledPeer): readonly Contestant[] => {
  const { DEFAULT_COMPACTION_SETTINGS } = modules.compaction
  const pi = { version, takesBudget: false, hasStandIn: true }
  return [
    {
      ...{ ...pi, name: "pi", call: "`compact`, defaults: keeps 20,000 tokens" },
      start: async ({ budget }) => piRun(modules, budget, DEFAULT_COMPACTION_SETTINGS),
    },
    {
      ...{ ...pi, name: "pi, half kept", call: "`compact`, `keepRecentTokens` half of the budget" },
      start: async ({ budget, quarters }) =>
        piRun(modules, Math.floor(budget / 2) - AROUND, {
          ...DEFAULT_COMPACTION_SETTINGS,
          keepRecentTokens: Math.floor(quarters / 2),
        }),
    },
  ]
}

const AROUND = 60 // tokens that pi adds around a summary
const USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}
const MODEL = {
  id: "stand-in",
  name: "stand-in",
  api: "anthropic-messages",
  provider: "none",
  maxTokens: 32_000,
  contextWindow: 200_000,
  reasoning: false,
  input: ["text"],
}

function piRun({ pi, compaction, conversion }: InstalledPeer["modules"], tokens: number, settings: object): Run {
  const session = pi.SessionManager.inMemory("/work")
  const seen: PlainMessage[] = []
  const write = async (_: unknown, context: { readonly messages: readonly PlainMessage[] }) => ({
    result: async () => {
      const prompt = textOf(context.messages)
      const text = standIn(prompt, { tokens, source: () => textOf(seen) })
      return { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", usage: USAGE, timestamp: 0 }
    },
  })
  return {
    add: async (messages) => {
      seen.push(...messages)
      for (const message of messages.flatMap(toPi)) session.appendMessage(message)
    },
    compact: async () => {
      const preparation = compaction.prepareCompaction(session.getBranch(), settings)
      if (preparation) {
        const args = [undefined, undefined, undefined, undefined, write]
        const { summary, firstKeptEntryId, tokensBefore, details } = await compaction.compact(
          preparation,
          MODEL,
          "none",
          ...args,
        )
        session.appendCompaction(summary, firstKeptEntryId, tokensBefore, details)
      }
      return conversion.convertToLlm(session.buildSessionContext().messages).map(fromPi)
    },
  }
}

function toPi({ role, content }: PlainMessage): readonly object[] {
  const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content
  if (role === "assistant") {
    const parts = blocks.map((block) =>
      block.type === "tool_use" ? { type: "toolCall", id: block.id, name: block.name, arguments: block.input } : block,
    )
    return [
      {
        role,
        content: parts,
        api: MODEL.api,
        provider: "none",
        model: MODEL.id,
        usage: USAGE,
        stopReason: "stop",
        timestamp: 0,
      },
    ]
  }
  const results = blocks.filter(({ type }) => type === "tool_result")
  const rest = blocks.filter(({ type }) => type !== "tool_result")
  return [
    ...results.map(({ tool_use_id, content: text, is_error }) => ({
      ...{ role: "toolResult", toolCallId: tool_use_id, toolName: "tool", isError: is_error === true, timestamp: 0 },
      content: [{ type: "text", text }],
    })),
    ...(rest.length > 0 ? [{ role: "user", content: rest.map(asPart), timestamp: 0 }] : []),
  ]
}

const asPart = (block: Block): object =>
  block.type === "image" ? { type: "image", data: Object(block.source).data, mimeType: "image/png" } : block

function fromPi({ role, content }: External): PlainMessage {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content
  const blocks = parts.map((part: External) => {
    if (part.type === "toolCall") return { type: "tool_use", id: part.id, name: part.name, input: part.arguments }
    return part.type === "image" ? { type: "image", source: { data: part.data } } : part
  })
  return { role: role === "assistant" ? "assistant" : "user", content: blocks }
}
