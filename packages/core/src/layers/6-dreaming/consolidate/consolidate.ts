/**
 * Consolidates a copy of the memory. The default asks a model in a separate small conversation. It is about other conversations, so it does
 * not start from the current one's request and does not touch its cache.
 */

import { relative, sep } from "node:path"
import { utcDay } from "../../../base/clock.ts"
import { fillPrompt, promptText } from "../../../base/text.ts"
import { type CallPolicy, runTurns, type TurnsOutcome } from "../../../forks/fork.ts"
import { byLastConfirmed, isCurrentMemory, type Memory } from "../../../memory/memory.ts"
import { type Block, isToolUse, textOf } from "../../../messages/blocks.ts"
import type { Model, ModelResponse, StreamLimits } from "../../../model/model.ts"
import { requestModelName } from "../../../tokens/models.ts"
import { executeTool } from "../../../tools/defaults.ts"
import type { SharedToolContext, Tool } from "../../../tools/tool.ts"
import type { DreamTurn } from "../dream-task.ts"

/** Changes files in the copy and nothing else. */
export type Consolidate = (task: ConsolidationTask) => Promise<Consolidation>

export interface ConsolidationTask {
  /** The copy, with links followed. */
  readonly directory: string
  readonly project: string
  readonly journals: readonly string[]
  readonly memories: readonly Memory[]
  readonly index: string
  /** Findings of the check, one line each. */
  readonly findings: readonly string[]
  readonly now: Date
  readonly last?: Date | undefined
  /** Maximum number of requests to a model. */
  readonly maxTurns: number
  readonly patience?: StreamLimits | undefined
  readonly signal: AbortSignal
  readonly onTurn: (turn: DreamTurn) => void
  /** Called when a file of the copy was written; the path is relative to the copy. */
  readonly onWrite: (file: string) => void
}

export interface Consolidation {
  readonly ended: "done" | "unfinished" | "aborted" | "failed"
  /** Description of the changes and their reasons, for the user. */
  readonly why: string
  /** All billed responses. */
  readonly responses: readonly ModelResponse[]
  readonly error?: unknown
}

const MAX_OUTPUT = 16_000 // tokens of one answer: several files at once
const MAX_CALL_CHARACTERS = 120

/** Directories that a dream may read. All of them are real paths. */
export interface DreamDirectories {
  /** The only directory that the dream may write. */
  readonly copy: string
  readonly project: string
  readonly journals: readonly string[]
}

/** Tools of a dream. They refuse paths outside its directories. */
export interface DreamTools {
  readonly tools: readonly Tool[]
  readonly context: SharedToolContext
  readonly allows: CallPolicy
  close(): Promise<void>
}

interface ModelConsolidation {
  readonly model: Model
  /** Opens the tools once for each dream. They include a shell, so they are passed in. */
  readonly openTools: (reach: DreamDirectories) => Promise<DreamTools>
}

export const consolidateWithModel =
  ({ model, openTools }: ModelConsolidation): Consolidate =>
  async (task) => {
    const { directory, project, journals, maxTurns, patience, signal } = task
    const opened = await openTools({ copy: directory, project, journals })
    try {
      const { toolDefinition } = await import("../../../tools/definition/definition.ts") // loads schema libraries
      const outcome = await runTurns({
        ...{ model, maxTurns, signal, context: opened.context, allows: opened.allows },
        tools: opened.tools.map((tool) => reportWrites(tool, task)),
        request: {
          model: requestModelName(model.name),
          max_tokens: Math.min(MAX_OUTPUT, model.facts.maxOutput),
          system: dreamSystemPrompt(),
          tools: await Promise.all(opened.tools.map(toolDefinition)),
          messages: [{ role: "user", content: [{ type: "text", text: dreamPrompt(task) }] }],
        },
        // its own turns follow each other closely
        stream: { purpose: "dream", writesCache: true, lifetime: "5m", ...(patience ? { limits: patience } : {}) },
        onAnswer: (content) =>
          task.onTurn({ text: textOf(content), calls: content.filter(isToolUse).map(describeCall) }),
      })
      return asConsolidation(outcome)
    } finally {
      await opened.close()
    }
  }

/** Reports written files. A refused or failed call writes nothing. */
function reportWrites(tool: Tool, { directory, onWrite }: ConsolidationTask): Tool {
  if (tool.name !== "Edit" && tool.name !== "Write") return tool
  return {
    ...tool,
    async execute(input, context) {
      const output = await executeTool(tool, input, context)
      if (!output.isError)
        for (const path of output.touched ?? []) onWrite(relative(directory, path).split(sep).join("/"))
      return output
    },
  }
}

function describeCall(call: Extract<Block, { type: "tool_use" }>): string {
  const { file_path, path, pattern, command } = (call.input ?? {}) as Readonly<Record<string, unknown>>
  const about = [file_path, command, pattern, path].find((value) => typeof value === "string") ?? ""
  return `${call.name} ${about}`.trim().slice(0, MAX_CALL_CHARACTERS)
}

const ENDED: Readonly<Record<TurnsOutcome["ended"], Consolidation["ended"]>> = {
  answer: "done",
  "turn-limit": "unfinished",
  aborted: "aborted",
  refusal: "failed",
  failed: "failed",
}

const asConsolidation = ({ ended, text, responses, error }: TurnsOutcome): Consolidation => ({
  ended: ENDED[ended],
  why: text,
  responses,
  ...(ended === "refusal" ? { error: new Error("the model refused the task") } : {}),
  ...(error === undefined ? {} : { error }),
})

const SYSTEM = promptText(new URL("./system.md", import.meta.url))
const PROMPT = promptText(new URL("./prompt.md", import.meta.url))
const MAX_LISTED = 300 // lines; about 40 tokens each
const MAX_FINDINGS = 60
const NONE = "(none)"

type PromptInput = Omit<ConsolidationTask, "patience" | "signal" | "onTurn" | "onWrite">

/** The system prompt of a dream. `rendered/` shows the complete request with the four phases. */
export const dreamSystemPrompt = (): string => SYSTEM.trimEnd()

export function dreamPrompt(input: PromptInput): string {
  const { memories, now, last } = input
  return fillPrompt(PROMPT, {
    directory: input.directory,
    project: input.project,
    journals: input.journals.join(", "),
    index: input.index.trim() || NONE,
    memories: truncateLines(memories.toSorted(byLastConfirmed).map(lineFor), MAX_LISTED),
    findings: truncateLines(input.findings, MAX_FINDINGS),
    today: utcDay(now),
    last: last ? `on ${utcDay(last)}` : "never",
    turns: String(input.maxTurns),
  }).trimEnd()
}

function lineFor(memory: Memory): string {
  const facts = [
    memory.type,
    `${memory.basis} by ${memory.source.saidBy}`,
    `confirmed ${utcDay(memory.confirmed)}`,
    ...(memory.failed ? ["did not work"] : []),
    ...(isCurrentMemory(memory) ? [] : [`superseded by ${memory.supersededBy}`]),
    ...(memory.doubtedBy === undefined ? [] : [`${memory.doubtedBy} may say otherwise`]),
  ]
  return `- ${memory.file} (${facts.join(", ")}): ${oneLine(memory.description || memory.name)}`
}

function truncateLines(lines: readonly string[], max: number): string {
  if (lines.length === 0) return NONE
  const rest = lines.length - max
  return rest <= 0 ? lines.join("\n") : [...lines.slice(0, max), `… and ${rest} more.`].join("\n")
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()
