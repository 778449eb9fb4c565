/** Recorded work to replay policies on: rounds of one call and its result, each after a pause. */
import type { Block } from "../src/messages/blocks.ts"
import type { Message, Usage } from "../src/messages/messages.ts"

export interface WorkRound {
  readonly tool: string
  /** Characters of the call's result. */
  readonly result: number
  /** Characters of thinking before the call. */
  readonly thinking?: number
  /** The pause between the previous result and this round's answer. The request begins with the result. */
  readonly pauseMinutes?: number
  readonly usage?: Usage
}

const PROSE = "The quick brown fox jumps over the lazy dog and reads another line of the log file, then goes on. "
const MAX = PROSE.repeat(2_000)
const SECONDS_PER_ANSWER = 10

export function workload(rounds: readonly WorkRound[], { model }: { readonly model: string }): readonly Message[] {
  const messages: Message[] = []
  let at = Date.UTC(2026, 0, 1)
  const place = () => ({
    uuid: `m${messages.length}`,
    parentUuid: messages.at(-1)?.uuid ?? null,
    timestamp: new Date(at).toISOString(),
  })
  const say = (content: readonly Block[]) =>
    messages.push({ ...place(), type: "user", message: { role: "user", content } })
  say([{ type: "text", text: "Do the work." }])
  rounds.forEach(({ tool, result, thinking = 0, pauseMinutes = 0, usage }, i) => {
    at += SECONDS_PER_ANSWER * 1_000
    const content: Block[] = [
      ...(thinking > 0 ? [{ type: "thinking" as const, thinking: text(thinking), signature: "s" }] : []),
      { type: "tool_use", id: `t${i}`, name: tool, input: {} },
    ]
    const message = { id: `r${i}`, role: "assistant" as const, model, content, ...(usage ? { usage } : {}) }
    messages.push({ ...place(), type: "assistant", message })
    at += pauseMinutes * 60_000
    say([{ type: "tool_result", tool_use_id: `t${i}`, content: text(result) }])
  })
  return messages
}

const text = (characters: number) => MAX.slice(0, characters)
