/** Rules about tool calls and results: every call has a result right after it, every result has a call. */
import { isServerToolResult, isServerToolUse, type PlacedBlock, pathOf, type Turn } from "../conversation.ts"
import type { Rule } from "./rule.ts"

const toolUses = (turn: Turn | undefined) => (turn?.blocks ?? []).filter(({ block }) => block.type === "tool_use")
const toolResults = (turn: Turn | undefined) => (turn?.blocks ?? []).filter(({ block }) => block.type === "tool_result")

export const PAIRING_RULES: readonly Rule[] = [
  {
    name: "tool_use ids are unique",
    refuses: ({ turns }) => {
      const seen = new Set<string>()
      for (const use of turns.flatMap(toolUses)) {
        const id = use.block.id as string
        if (seen.has(id)) return `${pathOf(use)}: \`tool_use\` ids must be unique`
        seen.add(id)
      }
      return undefined
    },
  },
  {
    name: "every tool_use is answered in the next message",
    refuses: ({ body, turns }) => {
      for (const [index, turn] of turns.entries()) {
        const answered = new Set(leadingResults(turns[index + 1]).map(({ block }) => block.tool_use_id))
        const open = toolUses(turn).filter(({ block }) => !answered.has(block.id))
        const first = open[0]
        if (!first) continue
        if (body.compaction && index === turns.length - 1) return undefined // a compaction rule refuses this with its own code
        const ids = open.map(({ block }) => block.id).join(", ")
        return (
          `messages.${first.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. ` +
          "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
      }
      return undefined
    },
  },
  {
    name: "every tool_result has its tool_use in the previous message",
    refuses: ({ turns }) => {
      for (const [index, turn] of turns.entries()) {
        const asked = new Set(toolUses(turns[index - 1]).map(({ block }) => block.id))
        const orphan = toolResults(turn).find(({ block }) => !asked.has(block.tool_use_id))
        if (!orphan) continue
        return (
          `${pathOf(orphan)}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan.block.tool_use_id}. ` +
          "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
        )
      }
      return undefined
    },
  },
  {
    name: "one result for each tool_use",
    refuses: ({ turns }) => {
      for (const turn of turns) {
        const seen = new Set<string>()
        for (const result of toolResults(turn)) {
          const id = result.block.tool_use_id as string
          if (seen.has(id)) {
            return `${pathOf(result)}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`
          }
          seen.add(id)
        }
      }
      return undefined
    },
  },
  {
    name: "every server tool has its result beside it",
    refuses: ({ turns }) => {
      for (const turn of turns) {
        const answered = new Set(turn.blocks.map(({ block }) => block.tool_use_id))
        // a client sends a paused assistant turn back with the calls at its end still open
        const paused = turn === turns.at(-1) ? trailingServerTools(turn) : []
        const open = turn.blocks
          .slice(0, turn.blocks.length - paused.length)
          .find(({ block }) => isServerToolUse(block) && !answered.has(block.id))
        if (!open) continue
        const result = open.block.type === "mcp_tool_use" ? "mcp_tool_result" : serverResultType(open.block.name ?? "")
        return `${pathOf(open)}: \`${open.block.name}\` tool use with id \`${open.block.id}\` was found without a corresponding \`${result}\` block`
      }
      return undefined
    },
  },
]

/** The results at the start of the turn. The API overlooks results after a text. */
function leadingResults(turn: Turn | undefined): readonly PlacedBlock[] {
  const blocks = turn?.blocks ?? []
  const end = blocks.findIndex(({ block }) => block.type !== "tool_result")
  return end < 0 ? blocks : blocks.slice(0, end)
}

function trailingServerTools({ blocks }: Turn): readonly PlacedBlock[] {
  return blocks.slice(blocks.findLastIndex(({ block }) => !isServerToolUse(block) && !isServerToolResult(block)) + 1)
}

const serverResultType = (name: string) =>
  name.startsWith("tool_search_tool") ? "tool_search_tool_result" : `${name}_tool_result`
