/**
 * A task may ask for a tool by its purpose: `Use a tool to refund a customer.` The worker calls the best match once. If no visible tool
 * matches, it first asks ToolSearch.
 */

import { completeInput, findProblems, listCalls, type Schema, toolRole } from "@strata/core/offline"
import type { ResponderRequest } from "../../responder.ts"
import type { StepContext, WorkerStep } from "./step.ts"

const ASKED = /\buse (?:a|the) tool (?:to|that|for) ([^.\n]+)/i
const SEARCH = "ToolSearch"
const CALL = "CallTool"
const MIN_LETTERS = 4 // shorter words say little
const MIN_FIT = 0.5 // share of the task's terms that a tool must match to be called without a search

interface Candidate {
  readonly name: string
  readonly description?: string
  readonly input_schema?: Schema
  /** Whether ToolSearch showed the tool as text, so that it is called through CallTool. */
  readonly byName?: boolean
}

export function useAskedTool({ tools = [] }: ResponderRequest, { state }: StepContext): WorkerStep | undefined {
  const wanted = ASKED.exec(state.task)?.[1]
  if (wanted === undefined) return undefined
  const made = listCalls(state.sinceTask)
  const hasSearched = made.some(({ name }) => name === SEARCH)
  const notices = state.sinceTask.flatMap((moment) => (moment.kind === "notice" ? [moment.text] : []))
  const seen = tools.filter(({ name }) => toolRole(name) === "other" && name !== SEARCH && name !== CALL)
  const best = bestOf([...seen, ...notices.flatMap(shownTools)], wanted)
  if (best && (hasSearched || best.fit >= MIN_FIT)) {
    const { tool } = best
    const wasUsed = made.some(({ name, input }) => name === tool.name || (name === CALL && input.name === tool.name))
    return wasUsed ? undefined : callOf(tool, state.task)
  }
  if (hasSearched || !tools.some(({ name }) => name === SEARCH)) return undefined
  return {
    thought: "None of the tools I see does that.",
    words: "Looking for a tool.",
    calls: [{ role: "other", name: SEARCH, input: { query: wanted } }],
  }
}

function bestOf(tools: readonly Candidate[], wanted: string) {
  const words = [...wordsIn(wanted)]
  const scored = tools.map((tool) => {
    const own = wordsIn(`${tool.name.replaceAll("_", " ")} ${tool.description ?? ""}`)
    return { tool, fit: words.filter((word) => own.has(word)).length / Math.max(1, words.length) }
  })
  return scored.filter(({ fit }) => fit > 0).toSorted((a, b) => b.fit - a.fit)[0]
}

const wordsIn = (text: string): ReadonlySet<string> =>
  new Set((text.toLowerCase().match(/[a-z]+/g) ?? []).filter((word) => word.length >= MIN_LETTERS))

/** The tools that a reminder lists with their schemas. */
function shownTools(notice: string): readonly Candidate[] {
  return [...notice.matchAll(/^- (\S+), called with CallTool:\n([\s\S]*?)\nInput schema: (\{.*\})$/gm)].flatMap(
    ([, name, description, schema]) => {
      try {
        return [{ name: name!, description: description!, input_schema: JSON.parse(schema!) as Schema, byName: true }]
      } catch {
        return []
      }
    },
  )
}

function callOf({ name, input_schema = {}, byName }: Candidate, task: string): WorkerStep | undefined {
  const input = completeInput(input_schema, { input: {}, words: task.split("\n")[0] ?? "" })
  if (findProblems(input_schema, input).length > 0) return undefined
  const call = byName
    ? { role: "other" as const, name: CALL, input: { name, input } }
    : { role: "other" as const, name, input }
  return { thought: `${name} does that.`, words: `Using ${name}.`, calls: [call] }
}
