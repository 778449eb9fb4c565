/**
 * Finds tools by words, without a model: BM25 over names, descriptions and parameters. A word in the name counts most. Pure: the same tools
 * and words always give the same order.
 */
import { termsOf } from "../../base/terms.ts"
import { isStandardSchema } from "../../messages/tool-input.ts"
import type { Tool } from "../tool.ts"

const WEIGHT = { name: 4, parameters: 1, description: 1 } as const
const SATURATION = 1.2 // how fast repetitions stop to count; the usual value of BM25
const LONGEST_TEXT = 4_000 // characters of a description or of parameters that are looked at
const DEEPEST = 4 // levels of a schema

interface Indexed {
  readonly tool: Tool
  /** For each stem, its weighed number of occurrences. */
  readonly stems: ReadonlyMap<string, number>
}

export interface ToolIndex {
  readonly tools: readonly Indexed[]
  readonly toolsWith: ReadonlyMap<string, number>
}

export function indexTools(tools: readonly Tool[]): ToolIndex {
  const indexed = tools.map((tool): Indexed => ({ tool, stems: stemsOf(tool) }))
  const toolsWith = new Map<string, number>()
  for (const { stems } of indexed) for (const stem of stems.keys()) toolsWith.set(stem, (toolsWith.get(stem) ?? 0) + 1)
  return { tools: indexed, toolsWith }
}

/** The best first. Those without any of the words are left out. */
export function searchTools({ tools, toolsWith }: ToolIndex, words: string): readonly Tool[] {
  const wanted = [...new Set(termsOf(words).map(({ stem }) => stem))]
  const scored = tools.map(({ tool, stems }) => {
    const parts = wanted.map((stem) => {
      const count = stems.get(stem) ?? 0
      return (count / (count + SATURATION)) * rarity(toolsWith.get(stem) ?? 0, tools.length)
    })
    return { tool, score: parts.reduce((sum, part) => sum + part, 0) }
  })
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score) // stable: equal ones keep the order of the list
    .map(({ tool }) => tool)
}

const rarity = (withIt: number, all: number): number => Math.log(1 + (all - withIt + 0.5) / (withIt + 0.5))

function stemsOf({ name, description, inputSchema }: Tool): ReadonlyMap<string, number> {
  const parameters = isStandardSchema(inputSchema) ? "" : wordsIn(inputSchema, DEEPEST).slice(0, LONGEST_TEXT)
  const texts = { name: name.replaceAll("-", "_"), description: description.slice(0, LONGEST_TEXT), parameters }
  const stems = new Map<string, number>()
  for (const part of ["name", "description", "parameters"] as const)
    for (const { stem } of termsOf(texts[part])) stems.set(stem, (stems.get(stem) ?? 0) + WEIGHT[part])
  return stems
}

/** Names and descriptions of parameters. */
function wordsIn(schema: unknown, depth: number): string {
  if (typeof schema !== "object" || schema === null || depth === 0) return ""
  const { properties, items } = schema as { readonly properties?: object; readonly items?: unknown }
  const named = Object.entries(properties ?? {}).map(([name, property]) => {
    const about = (property as { readonly description?: unknown } | null)?.description
    return `${name} ${typeof about === "string" ? about : ""} ${wordsIn(property, depth - 1)}`
  })
  return [...named, wordsIn(items, depth - 1)].join(" ")
}
