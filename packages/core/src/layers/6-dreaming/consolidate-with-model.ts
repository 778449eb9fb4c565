/**
 * A model consolidates the copy, in a small conversation of its own. It is about other conversations, so it does not start from the
 * current one's request, and that one's cache is not touched.
 */
import { relative, sep } from "node:path"
import type { Clock } from "../../base/clock.ts"
import { runTurns, type TurnsOutcome } from "../../forks/turns.ts"
import { type Block, isToolUse, textOf } from "../../messages/blocks.ts"
import type { Model } from "../../model/model.ts"
import { sentModelName } from "../../tokens/models.ts"
import { executed } from "../../tools/defaults.ts"
import type { Confinement } from "../../tools/shell/confinement.ts"
import type { Tool } from "../../tools/tool.ts"
import type { Consolidate, Consolidation, ConsolidationTask } from "./consolidation.ts"
import { openDreamTools, type RulesOnReading } from "./dream-tools.ts"
import { dreamPrompt, dreamSystemPrompt } from "./prompt.ts"

const MOST_OUTPUT = 16_000 // tokens of one answer: several files at once
const MOST_CALL_CHARACTERS = 120

export interface ModelConsolidation {
  readonly model: Model
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  readonly rules?: RulesOnReading | undefined
  readonly confinement?: (() => Confinement) | undefined
}

export const consolidateWithModel =
  ({ model, clock, env, rules, confinement }: ModelConsolidation): Consolidate =>
  async (task) => {
    const { directory, project, journals, maxTurns, patience, signal } = task
    const opened = await openDreamTools({ copy: directory, project, journals, rules }, { clock, env, confinement })
    try {
      const { toolDefinition } = await import("../../tools/definition/definition.ts") // loads schema libraries
      const outcome = await runTurns({
        ...{ model, maxTurns, signal, context: opened.context, allows: opened.allows },
        tools: opened.tools.map((tool) => watched(tool, task)),
        request: {
          model: sentModelName(model.name),
          max_tokens: Math.min(MOST_OUTPUT, model.facts.maxOutput),
          system: dreamSystemPrompt(),
          tools: await Promise.all(opened.tools.map(toolDefinition)),
          messages: [{ role: "user", content: [{ type: "text", text: dreamPrompt({ ...task, turns: maxTurns }) }] }],
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

/** Reports what was written. A refused or failed call writes nothing. */
function watched(tool: Tool, { directory, onWrite }: ConsolidationTask): Tool {
  if (tool.name !== "Edit" && tool.name !== "Write") return tool
  return {
    ...tool,
    async execute(input, context) {
      const output = await executed(tool, input, context)
      if (!output.isError)
        for (const path of output.touched ?? []) onWrite(relative(directory, path).split(sep).join("/"))
      return output
    },
  }
}

function describeCall(call: Extract<Block, { type: "tool_use" }>): string {
  const { file_path, path, pattern, command } = (call.input ?? {}) as Readonly<Record<string, unknown>>
  const about = [file_path, command, pattern, path].find((value) => typeof value === "string") ?? ""
  return `${call.name} ${about}`.trim().slice(0, MOST_CALL_CHARACTERS)
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
