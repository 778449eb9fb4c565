/**
 * A model that does the tasks of the programs. It thinks, reads the given number of parts, one by one or several at once, and reports what
 * it saw. The responder tracks the progress of a task itself, so that a compaction does not change the work. `[agent NAME]` in the system
 * prompt names the agent.
 */
import { createHash } from "node:crypto"
import {
  type Answer,
  type AnswerBlock,
  constrainResponder,
  extractiveAnswer,
  type Responder,
  type ResponderRequest,
} from "@strata/sim"
import { lastTexts, OURS, PORT, textOf } from "../proxied/reading-responder.ts"

export interface TaskResponder extends Responder {
  readonly summaries: { ours: number }
  /** Number of calls of the Recall tool. */
  readonly recalls: { count: number }
}

/** Matches `[task NAME: 12 parts]` with an optional additional demand. */
const TASK = /\[task (\w+): (\d+) parts(?: (at once|then fail|then break|with recall))?\]/g

interface Work {
  readonly name: string
  readonly parts: number
  readonly how: string | undefined
  left: number
  hasFailed: boolean
}

export interface Trouble {
  /** Refuses the next request, or breaks off its answer. */
  readonly next: (kind: "refused" | "broken") => void
}

export function taskResponder({ next }: Trouble): TaskResponder {
  const works = new Map<string, Work>()
  const begun = new Set<string>()
  let part = 0
  const summaries = { ours: 0 }
  const recalls = { count: 0 }
  const responder: TaskResponder = {
    name: "tasks",
    summaries,
    recalls,
    answer(turn): Answer {
      const { request } = turn
      const asked = lastTexts(request)
      if (asked.some((text) => OURS.test(text))) {
        summaries.ours++
        const summary = extractiveAnswer({ ...turn, summary: { instructions: asked.at(-1) ?? "" } })
        return summary ?? { content: [{ type: "text", text: "<summary>Parts were read.</summary>" }] }
      }
      const agent = agentIn(request)
      for (const work of tasksIn(asked)) {
        if (begun.has(`${agent} ${work.name}`)) continue
        begun.add(`${agent} ${work.name}`)
        works.set(agent, work)
      }
      const work = works.get(agent)
      const tool = request.tools?.find(({ name }) => name === "read_part")
      if (!work || !tool) return { content: [{ type: "text", text: "ANSWER[nothing to do]" }] }
      const call = (): AnswerBlock => ({
        type: "tool_use",
        id: turn.nextToolUseId(),
        name: tool.name,
        input: { part: ++part },
      })
      if (work.left > 0) {
        const count = work.how === "at once" ? work.left : 1
        work.left -= count
        if (work.left === 1 && !work.hasFailed && work.how?.startsWith("then")) {
          work.hasFailed = true
          next(work.how === "then fail" ? "refused" : "broken")
        }
        return { content: [{ type: "text", text: `Now part ${part + 1}.` }, ...Array.from({ length: count }, call)] }
      }
      const recall = request.tools?.find(({ name }) => name === "Recall")
      if (recall && (work.how === "with recall" || !knowsPort(request)) && !hasRecalled(request)) {
        recalls.count++
        const looked = {
          type: "tool_use",
          id: turn.nextToolUseId(),
          name: recall.name,
          input: { search: "the port" },
        } as const
        return { content: [{ type: "text", text: "I look it up. " }, looked] }
      }
      const answer = whatWasSeen(request, work)
      const report = request.tools?.find(({ name }) => /^(?:extract|report)/.test(name))
      if (report)
        return { content: [{ type: "tool_use", id: turn.nextToolUseId(), name: report.name, input: { seen: answer } }] }
      return { content: [{ type: "text", text: answer }] }
    },
  }
  return constrainResponder(thinkingBefore(responder))
}

/** Adds thinking, which the server leaves out if the program does not request it. */
const thinkingBefore = (responder: TaskResponder): TaskResponder => ({
  ...responder,
  async answer(turn) {
    const { content, ...answer } = await responder.answer(turn)
    return { ...answer, content: [{ type: "thinking", thinking: "Let me see." }, ...content] }
  },
})

const agentIn = ({ system = "" }: ResponderRequest): string =>
  /\[agent (\w+)\]/.exec(JSON.stringify(system))?.[1] ?? "only"

const tasksIn = (texts: readonly string[]): readonly Work[] =>
  texts.flatMap((text) =>
    [...text.matchAll(TASK)].map(([, name = "", parts, how]) => ({
      ...{ name, parts: Number(parts), left: Number(parts), how, hasFailed: false },
    })),
  )

const knowsPort = ({ messages }: ResponderRequest): boolean => JSON.stringify(messages).includes(PORT)

/** Whether Recall was called in this turn, that is since the user's last message. */
function hasRecalled({ messages }: ResponderRequest): boolean {
  const last = messages.findLastIndex(
    ({ role, content }) => role === "user" && content.some(({ type }) => type === "text"),
  )
  return messages
    .slice(last)
    .some(({ content }) => content.some(({ type, name }) => type === "tool_use" && name === "Recall"))
}

/** The result depends on what the model was sent: the newest tool result, byte for byte, and a fact of the first prompt. */
function whatWasSeen(request: ResponderRequest, { name, parts }: Work): string {
  const results = request.messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_result"))
  const newest = results.map(textOf).findLast((text) => /^Part \d+\n/.test(text)) ?? ""
  const digest = createHash("sha256").update(newest).digest("hex").slice(0, 12)
  return `ANSWER[${name}, ${parts} parts, the last ${digest}, port ${knowsPort(request) ? "4711" : "unknown"}]`
}
