import { describe, expect, test } from "vitest"
import { conversation } from "../../../test/builders.ts"
import type { Message } from "../../messages/messages.ts"
import { findModel } from "../../tokens/models.ts"
import { Views } from "../../views/views.ts"
import { type ApiInput, editsForServer, serverTrigger, turnsSincePause } from "./by-api.ts"

const HOUR = 3_600_000
const START = Date.parse("2026-01-01T00:00:00.000Z")

const input = (more: Partial<ApiInput> = {}): ApiInput => ({
  accepts: findModel("claude-opus-5-5").facts.accepts,
  tools: ["Read", "Edit", "TodoWrite", "mcp__x"],
  turnsSincePause: () => undefined,
  trigger: 180_000,
  keep: 40_000,
  ...more,
})
const edits = (more: Partial<ApiInput> = {}) => editsForServer(input(more))?.context_management?.edits

const thinking = { type: "thinking" as const, thinking: "hm", signature: "s" }
/** Turns with thinking at the given hours. */
function turnsAt(...hours: number[]): readonly Message[] {
  const built = hours.reduce((chat) => chat.user("go").respond([thinking]), conversation()).messages
  return built.map((message, i) => {
    const hour = hours[Math.floor(i / 2)]!
    return { ...message, timestamp: new Date(START + hour * HOUR).toISOString() }
  })
}

describe("L2-5 what the server is asked to clear", () => {
  test("results of read-like tools, inputs of write-like ones, nothing of any other tool", () => {
    expect(editsForServer(input())).toEqual({
      betas: ["context-management-2025-06-27"],
      context_management: {
        edits: [
          { type: "clear_thinking_20251015", keep: "all" },
          {
            type: "clear_tool_uses_20250919",
            trigger: { type: "input_tokens", value: 180_000 },
            clear_at_least: { type: "input_tokens", value: 140_000 },
            exclude_tools: ["TodoWrite", "mcp__x"],
            clear_tool_inputs: ["Edit"],
          },
        ],
      },
    })
  })

  test("at 180,000 tokens, in a smaller window 20,000 before the compaction", () => {
    expect(serverTrigger({ max: 180_000, autoCompact: 967_000 })).toBe(180_000)
    expect(serverTrigger({ max: 180_000, autoCompact: 167_000 })).toBe(147_000)
  })

  test("thinking: all of it while active; after an idle hour the last turn before it, and what comes since", () => {
    const keep = (messages: readonly Message[], hour: number) => {
      const views = new Views({ family: "claude-5" })
      for (const message of messages) views.apply(message)
      const now = new Date(START + hour * HOUR)
      const [edit] = edits({ turnsSincePause: () => turnsSincePause({ views, now, gapMinutes: 60 }) }) ?? []
      return (edit as { keep: unknown }).keep
    }
    expect(keep(turnsAt(0, 0.5, 1), 1.5)).toBe("all")
    expect(keep(turnsAt(0, 0.5, 1), 2.1)).toEqual({ type: "thinking_turns", value: 1 })
    expect(keep(turnsAt(0, 0.5, 1, 3), 3.1)).toEqual({ type: "thinking_turns", value: 2 })
    expect(keep(turnsAt(0, 0.5, 1, 3, 3.5), 3.6)).toEqual({ type: "thinking_turns", value: 3 })
  })

  test("not where a request need not think, since the edit is refused there", () => {
    expect(edits({ accepts: findModel("claude-opus-4-6").facts.accepts })).toHaveLength(1)
  })
})
