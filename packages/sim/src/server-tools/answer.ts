/** Asks the responder, runs the server tools it calls, and asks it to continue, until its answer is complete. */
import { type AskResponderInput, askResponder, type NamedBlock } from "../ask-responder.ts"
import type { Turn } from "../conversation.ts"
import type { WrittenAnswer, WrittenBlock } from "../generate.ts"
import type { Simulation } from "../simulation.ts"
import type { Block, MessagesBody, ServerToolUsage } from "../wire.ts"
import { answerTurn, runServerTool } from "./run.ts"

const MAX_ROUNDS = 10 // the API's own limit, after which it pauses the turn

export interface ServedAnswer {
  readonly answer: WrittenAnswer
  readonly resultTokens: number
  readonly serverTools: ServerToolUsage | null
}

type ServerCall = Extract<NamedBlock, { type: "server_tool_use" }>

export async function answerWithServerTools(simulation: Simulation, given: AskResponderInput): Promise<ServedAnswer> {
  const { body, turns } = given
  const content: WrittenBlock[] = []
  let resultTokens = 0
  for (let round = 0; ; round++) {
    const soFar = content.length === 0 ? turns : [...turns, answerTurn(content.flatMap(asRead))]
    const answer = await askResponder(simulation, { body, turns: soFar })
    if (!answer.content.some(({ type }) => type === "server_tool_use")) {
      return {
        answer: { ...answer, content: [...content, ...answer.content] },
        resultTokens,
        serverTools: usesIn(content),
      }
    }
    for (const block of answer.content) {
      if (block.type !== "server_tool_use") {
        content.push(block)
        continue
      }
      const [call, result] = serve(block, { simulation, body, turns: [...turns, answerTurn(content.flatMap(asRead))] })
      content.push(call, result)
      resultTokens += simulation.counter.block(result.block as Block).tokens
    }
    const isPaused = round + 1 === MAX_ROUNDS
    if (isPaused || answer.content.some(({ type }) => type === "tool_use")) {
      const stopped = isPaused ? { stopReason: "pause_turn" as const } : {}
      return { answer: { ...stopped, content }, resultTokens, serverTools: usesIn(content) }
    }
  }
}

interface ServerToolContext {
  readonly simulation: Simulation
  readonly body: MessagesBody
  readonly turns: readonly Turn[]
}

/** The call under the API's name for it, and its result. Newer code execution is a shell, under another name. */
function serve(call: ServerCall, { simulation, body, turns }: ServerToolContext) {
  const tool = body.tools?.find(({ name }) => name === call.name)
  const block = runServerTool(
    { ...call, input: call.input as Record<string, unknown> },
    { tools: body.tools ?? [], turns, pages: simulation.webPages, now: simulation.clock.now() },
  )
  const isShell = tool?.type?.startsWith("code_execution_") && tool.type !== "code_execution_20250522"
  if (!isShell) return [call, { type: "server_result", block }] as const
  const shell = "bash_code_execution"
  const content = { type: `${shell}_tool_result_error`, error_code: "unavailable" }
  return [
    { ...call, name: shell },
    { type: "server_result", block: { type: `${shell}_tool_result`, tool_use_id: call.id, content } },
  ] as const
}

/** Converts a block to the form in which the responder reads it when it continues its answer. */
function asRead(block: WrittenBlock): readonly Block[] {
  if (block.type === "server_result" || block.type === "other") return [block.block as Block]
  return block.type === "thinking" ? [] : [block as Block]
}

function usesIn(content: readonly WrittenBlock[]): ServerToolUsage | null {
  const uses = (name: string) =>
    content.filter((block) => block.type === "server_tool_use" && block.name === name).length
  const usage = { web_search_requests: uses("web_search"), web_fetch_requests: uses("web_fetch") }
  return content.some(({ type }) => type === "server_tool_use") ? usage : null
}
