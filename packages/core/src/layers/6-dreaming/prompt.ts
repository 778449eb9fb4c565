/** The request of a dream: its own system prompt, and the four phases with what is known before it starts. `rendered/` shows it whole. */
import { promptText } from "../../base/prompt-file.ts"
import { isCurrent, type Memory } from "../../memory/memory.ts"

const SYSTEM = promptText(new URL("./system.md", import.meta.url))
const PROMPT = promptText(new URL("./prompt.md", import.meta.url))
const VARIABLE = /\{\{([a-z]+)\}\}/g
const MOST_LISTED = 300 // lines; about 40 tokens each
const MOST_FINDINGS = 60
const NONE = "(none)"

export interface PromptInput {
  /** The copy. */
  readonly directory: string
  readonly project: string
  readonly journals: readonly string[]
  readonly index: string
  readonly memories: readonly Memory[]
  /** What a look at the files found, one line each. */
  readonly findings: readonly string[]
  readonly now: Date
  readonly last?: Date | undefined
  readonly turns: number
}

export const dreamSystemPrompt = (): string => SYSTEM.trimEnd()

export function dreamPrompt(input: PromptInput): string {
  const { memories, now, last } = input
  const newest = [...memories].sort((a, b) => compare(b.confirmed, a.confirmed) || compare(a.file, b.file))
  return filled(PROMPT, {
    directory: input.directory,
    project: input.project,
    journals: input.journals.join(", "),
    index: input.index.trim() || NONE,
    memories: listed(newest.map(lineFor), MOST_LISTED),
    findings: listed(input.findings, MOST_FINDINGS),
    today: dayOf(now),
    last: last ? `on ${dayOf(last)}` : "never",
    turns: String(input.turns),
  }).trimEnd()
}

function lineFor(memory: Memory): string {
  const facts = [
    memory.type,
    `${memory.basis} by ${memory.source.saidBy}`,
    `confirmed ${memory.confirmed.slice(0, "2026-01-01".length)}`,
    ...(memory.failed ? ["did not work"] : []),
    ...(isCurrent(memory) ? [] : [`superseded by ${memory.supersededBy}`]),
    ...(memory.doubtedBy === undefined ? [] : [`${memory.doubtedBy} may say otherwise`]),
  ]
  return `- ${memory.file} (${facts.join(", ")}): ${oneLine(memory.description || memory.name)}`
}

function listed(lines: readonly string[], most: number): string {
  if (lines.length === 0) return NONE
  const rest = lines.length - most
  return rest <= 0 ? lines.join("\n") : [...lines.slice(0, most), `… and ${rest} more.`].join("\n")
}

/** In one pass, so that a value that looks like a variable stays as it is. */
function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(VARIABLE, (whole, name: string) => (Object.hasOwn(values, name) ? values[name]! : whole))
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()
const dayOf = (time: Date): string => time.toISOString().slice(0, "2026-01-01".length)
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
