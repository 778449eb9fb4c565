/** What a compaction refuses: a summary that would not help, and tool calls while one is written. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Answer, ResponderTurn } from "../../../../sim/src/responder.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { ask, calls, project } from "../agent/agents.ts"
import { rounds, saying } from "../layers/conversations.ts"
import {
  compactingAgent,
  compactingSimulator,
  decisionsOf,
  EARLY_NOTES,
  NO_NOTES,
  NOTES_OF,
  phasesIn,
} from "./compacting.ts"

test("L4-9 notes are refused if the context would still be full after them, however much they save", async () => {
  const max = calls(["Grep", { words: 8_600 }], ["Grep", { words: 8_600 }]) // newer than the notes, so it would be in the tail
  const { sim } = await compactingSimulator([...Array.from({ length: 8 }, () => saying(2_000)), max, "Done."], {
    ...NOTES_OF("the words were read one after the other"),
  })
  const agent = await compactingAgent(sim, {
    settings: { ...EARLY_NOTES, figures: { "tail-min": 1_000, "tail-max": 20_000 } },
  })
  const { events } = await ask(agent, "Go.", { watch: () => agent.conversation.whenIdle() })
  expect(engineOf(agent.conversation).views.notes.throughUuid).toBeDefined()
  expect(phasesIn(events, "message")).toContain(
    "Not compacted from the notes: the context would be full again immediately",
  )
  const [compacted] = await decisionsOf(agent, "compacted")
  expect(compacted).toMatchObject({ route: "shared" })
})

test("L4-13 no tool runs while a summary is written, whatever the conversation allows", async () => {
  const where = project()
  const tried = (turn: ResponderTurn): Answer => ({
    content: [
      {
        type: "tool_use",
        id: turn.nextToolUseId(),
        name: "Bash",
        input: { command: `touch ${join(where.cwd, "made")}` },
      },
    ],
  })
  const { sim, of } = await compactingSimulator(rounds(7, 4_000), {
    summary: (turn) => (of("summary").length === 1 ? tried(turn) : undefined),
  })
  const agent = await compactingAgent(sim, { ...where, settings: NO_NOTES, mode: "bypass" })
  await ask(agent, "Go.")
  expect(of("summary").length).toBeGreaterThan(1)
  expect(existsSync(join(where.cwd, "made"))).toBe(false)
  expect(await decisionsOf(agent, "compacted")).toMatchObject([{ route: "direct" }])
})
