/**
 * A task may ask for a tool by what it does: `Use a tool to refund a customer.` The worker calls the one that fits best, once. If it sees none
 * that fits, it asks ToolSearch for one first.
 */

import { callsOf, completeInput, findProblems, roleOf, type Schema } from "@strata/core/offline"
import type { ResponderRequest } from "../../responder.ts"
import type { Hand, Step } from "./step.ts"

const ASKED = /\buse (?:a|the) tool (?:to|that|for) ([^.\n]+)/i
const SEARCH = "ToolSearch"
const CALL = "CallTool"
const MIN_LETTERS = 4 // shorter words say little
const MIN_FIT = 0.5 // of the words, for a tool that is taken without a search

interface Candidate {
  readonly name: string
  readonly description?: string
  readonly input_schema?: Schema
  /** Shown as text by ToolSearch, and called through CallTool. */
  readonly byName?: boolean
}

export function useAskedTool({ tools = [] }: ResponderRequest, { situation }: Hand): Step | undefined {
  const wanted = ASKED.exec(situation.task)?.[1]
  if (wanted === undefined) return undefined
  const made = callsOf(situation.sinceTask)
  const hasSearched = made.some(({ name }) => name === SEARCH)
  const notices = situation.sinceTask.flatMap((moment) => (moment.kind === "notice" ? [moment.text] : []))
  const seen = tools.filter(({ name }) => roleOf(name) === "other" && name !== SEARCH && name !== CALL)
  const best = bestOf([...seen, ...notices.flatMap(shownTools)], wanted)
  if (best && (hasSearched || best.fit >= MIN_FIT)) {
    const { tool } = best
    const wasUsed = made.some(({ name, input }) => name === tool.name || (name === CALL && input.name === tool.name))
    return wasUsed ? undefined : callOf(tool, situation.task)
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

/** The tools that a reminder shows with their schemas. */
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

function callOf({ name, input_schema = {}, byName }: Candidate, task: string): Step | undefined {
  const input = completeInput(input_schema, { input: {}, words: task.split("\n")[0] ?? "" })
  if (findProblems(input_schema, input).length > 0) return undefined
  const call = byName
    ? { role: "other" as const, name: CALL, input: { name, input } }
    : { role: "other" as const, name, input }
  return { thought: `${name} does that.`, words: `Using ${name}.`, calls: [call] }
}
