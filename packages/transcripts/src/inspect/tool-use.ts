/** Token usage of tools: by tool, by file, and the largest results. */
import type { Block } from "@strata/core"
import { resultState } from "@strata/core"
import { contentOf, isSentToModel, isToolResult, isToolUse, type Message } from "@strata/core/messages"
import type { BlockTokens } from "@strata/core/tokens"
import { commandLine } from "@strata/core/views"

/** A tool call with its result. */
export interface ToolCall {
  readonly tool: string
  readonly path?: string
  /** Subject of the call in one line: a path, a command, a pattern. */
  readonly about: string
  readonly requestTokens: number
  readonly resultTokens: number
  readonly failed: boolean
  /** The call did not run, because someone or a rule refused it. Such a call did not fail. */
  readonly denied: boolean
  /** Number of requests before it. */
  readonly turn: number
}

/** All calls of one tool. */
export interface ToolTotal {
  readonly tool: string
  readonly calls: number
  readonly failed: number
  readonly denied: number
  readonly requestTokens: number
  readonly resultTokens: number
}

/** All calls that concern one file. */
export interface FileTotal {
  readonly path: string
  readonly calls: number
  /** Tokens of calls and results. */
  readonly tokens: number
}

/** Lists calls with their results in the order of the results. Calls without a result are omitted. */
export function toolCalls(messages: readonly Message[], tokens: BlockTokens): readonly ToolCall[] {
  const open = new Map<string, Omit<ToolCall, "resultTokens" | "failed" | "denied" | "turn">>()
  const responses = new Set<string>()
  const calls: ToolCall[] = []
  for (const message of messages) {
    if (!isSentToModel(message) || (message.type !== "user" && message.type !== "assistant")) continue
    if (message.type === "assistant") responses.add(message.message.id ?? message.uuid)
    for (const block of contentOf(message)) {
      if (isToolUse(block))
        open.set(block.id, { ...describe(block.name, block.input), requestTokens: tokensOf(block, tokens) })
      const call = isToolResult(block) ? open.get(block.tool_use_id) : undefined
      if (!call || !isToolResult(block)) continue
      const state = resultState(block)
      calls.push({
        ...call,
        resultTokens: tokensOf(block, tokens),
        failed: state === "failed" || state === "interrupted",
        denied: state === "denied",
        turn: responses.size,
      })
    }
  }
  return calls
}

const tokensOf = (block: Block, tokens: BlockTokens) => Math.round(tokens.block(block))

function describe(tool: string, input: unknown): { tool: string; about: string; path?: string } {
  const fields = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {}
  const path = [fields.file_path, fields.notebook_path, fields.path, fields.filePath].find(isText)
  const about = path ?? (commandLine(fields) || Object.values(fields).find(isText) || "")
  return { tool, about: about.slice(0, 500), ...(path === undefined ? {} : { path }) }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

export function totalsByTool(calls: readonly ToolCall[]): readonly ToolTotal[] {
  return [...Map.groupBy(calls, ({ tool }) => tool)]
    .map(([tool, of]) => ({
      tool,
      calls: of.length,
      failed: of.filter(({ failed }) => failed).length,
      denied: of.filter(({ denied }) => denied).length,
      requestTokens: sum(of.map(({ requestTokens }) => requestTokens)),
      resultTokens: sum(of.map(({ resultTokens }) => resultTokens)),
    }))
    .toSorted((a, b) => b.resultTokens + b.requestTokens - a.resultTokens - a.requestTokens)
}

export function totalsByFile(calls: readonly ToolCall[]): readonly FileTotal[] {
  return [...Map.groupBy(calls, ({ path }) => path ?? "")]
    .filter(([path]) => path !== "")
    .map(([path, of]) => ({
      path,
      calls: of.length,
      tokens: sum(of.map(({ requestTokens, resultTokens }) => requestTokens + resultTokens)),
    }))
    .toSorted((a, b) => b.tokens - a.tokens)
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
