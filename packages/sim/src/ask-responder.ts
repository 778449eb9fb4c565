/** Converts a conversation to the form that responders know, and asks the responder for its answer. */
import { ApiError } from "./api-error.ts"
import { blocksOf, type Turn } from "./conversation.ts"
import { visibleTools } from "./deferred-tools.ts"
import { idFrom, seededRandom } from "./identity.ts"
import type {
  Answer,
  AnswerBlock,
  ResponderBlock,
  ResponderMessage,
  ResponderRequest,
  ResponderTool,
} from "./responder.ts"
import { apiToolInput } from "./server-tools/kinds.ts"
import { digest } from "./signature.ts"
import type { Simulation } from "./simulation.ts"
import type { TokenCounter } from "./tokens.ts"
import type { Block, MessagesBody, Role, ToolParam } from "./wire.ts"

// The random numbers and tool call ids of an answer. Both depend only on the seed and the request, so parallel requests get the same
// answers in any order of arrival.
// Random numbers ignore directories, ids, command output and text that a client adds between tags of its own. These differ between runs,
// and the same work in another directory should proceed in the same way. Ids depend on every byte, because no id may occur twice in a
// conversation.

const IN_A_PATH = /[/\\]/
const ID = /\b(?=\w*\d)[0-9a-f]{8,}\b/
const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g

export interface AnswerChance {
  random(): number
  nextToolUseId(): string
}

export interface AnsweredRequest {
  readonly seed: number
  readonly body: MessagesBody
  readonly turns: readonly Turn[]
  readonly counter: TokenCounter
}

export function chanceOf({ seed, body, turns, counter }: AnsweredRequest): AnswerChance {
  const blocks = turns.flatMap(({ role, blocks }) => blocks.map(({ block }) => ({ role, block })))
  const next = once(() => {
    const course = digest(`${seed}`, body.model, ...blocks.map(({ role, block }) => `${role} ${traceOf(block)}`))
    return seededRandom(Buffer.from(course, "base64url").readUInt32BE())
  })
  const everyByte = once(() => {
    const all = [...blocksOf(body.system), ...blocks.map(({ block }) => block)]
    return digest(`${seed}`, body.model, ...all.map((block) => counter.block(block).hash))
  })
  let calls = 0
  return {
    random: () => next()(),
    nextToolUseId: () => idFrom("toolu", `${everyByte()}:${calls++}`),
  }
}

/** Computed on first use: most responders need no random numbers, and requests are long. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** The part of a block that random numbers depend on. */
function traceOf({ type, name = "", text = "" }: Block): string {
  const spoken = text.replace(REMINDER, "")
  const words = spoken.split(/\s+/).filter((word) => !IN_A_PATH.test(word) && !ID.test(word))
  return [type, name, ...words].join(" ")
}

export interface AskResponderInput {
  readonly body: MessagesBody
  readonly turns: readonly Turn[]
  /** Set when the answer must be a summary: the instructions in the last block. */
  readonly summary?: { readonly instructions: string }
}

type Call = Extract<AnswerBlock, { readonly name: string }>

/** A block of an answer, each call with its id. */
export type NamedBlock = Exclude<AnswerBlock, Call> | (Call & { readonly id: string })

export interface NamedAnswer extends Answer {
  readonly content: readonly NamedBlock[]
}

export async function askResponder(
  simulation: Simulation,
  { body, turns, summary }: AskResponderInput,
): Promise<NamedAnswer> {
  const { responder, seed, counter } = simulation
  const chance = chanceOf({ seed, body, turns, counter })
  const request: ResponderRequest = {
    model: body.model,
    max_tokens: body.max_tokens,
    messages: toResponderMessages(turns),
    ...(body.system !== undefined && {
      system: blocksOf(body.system).map(({ text = "" }) => ({ type: "text", text })),
    }),
    ...(body.tools && {
      tools: visibleTools(body.tools, turns)
        .filter(({ name }) => name)
        .map(toResponderTool),
    }),
    // a server tool that has run satisfies the choice: the model decides about the rest
    ...(body.tool_choice && turns.at(-1)?.role !== "assistant" && { tool_choice: body.tool_choice }),
    ...formatOf(body),
  }
  try {
    const index = simulation.turnsAnswered++
    const answer = await responder.answer({ request, index, ...chance, ...(summary && { summary }) })
    return { ...answer, content: answer.content.map((block) => named(block, chance.nextToolUseId)) }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    // a responder that fails will fail again, so the SDK should not retry
    throw new ApiError(500, `The responder "${responder.name}" failed: ${why}`, {
      headers: { "x-should-retry": "false" },
    })
  }
}

function named(block: AnswerBlock, nextToolUseId: () => string): NamedBlock {
  if (block.type !== "tool_use" && block.type !== "server_tool_use") return block
  const { id = `${block.type === "tool_use" ? "" : "srv"}${nextToolUseId()}` } = block
  return { ...block, id }
}

/** API-defined tools come without a schema. A toolset has no name, and responders do not see it. */
function toResponderTool(tool: ToolParam): ResponderTool {
  const input_schema = tool.input_schema ?? apiToolInput(tool)
  return { ...tool, ...(input_schema && { input_schema }) }
}

/** The schema of a structured output. The deprecated field is read too. */
function formatOf({ output_config, output_format }: MessagesBody): Pick<ResponderRequest, "format"> {
  const { schema } = (output_config?.format ?? output_format ?? {}) as { schema?: Record<string, unknown> }
  return schema ? { format: { schema } } : {}
}

/** A compaction block reaches the responder as it reaches a model: as a summary in a user message. */
function toResponderMessages(turns: readonly Turn[]): readonly ResponderMessage[] {
  const messages: { role: Role; content: ResponderBlock[] }[] = []
  for (const { role, blocks } of turns) {
    for (const { block } of blocks) {
      const isSummary = block.type === "compaction"
      const sender = isSummary ? "user" : role
      const content = isSummary ? { type: "text", text: `${block.content ?? ""}` } : toResponderBlock(block)
      const last = messages.at(-1)
      if (last?.role === sender) last.content.push(content)
      else messages.push({ role: sender, content: [content] })
    }
  }
  return messages
}

function toResponderBlock({ content, cache_control: _, ...block }: Block): ResponderBlock {
  return content === undefined || content === null
    ? block
    : { ...block, content: content as string | readonly ResponderBlock[] }
}
