/** L4-20, L4-21, L4-29: the state of the work is the same before and after a compaction. All parts are set up and compacted twice. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Agent } from "../../../src/agent/agent.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { renderAttachment } from "../../../src/messages/attachment-texts.ts"
import type { Attachment } from "../../../src/messages/attachments.ts"
import { FileReads } from "../../../src/tools/files/read-state.ts"
import { enterPlanMode } from "../../../src/tools/session/plan-mode.ts"
import { todoWrite } from "../../../src/tools/session/todo-write.ts"
import { isWhole } from "../../size.ts"
import { ask, calls, codingTools, ofType, project } from "../agent/agents.ts"
import { say, saying } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, NO_NOTES, textsOf } from "./compacting.ts"

const FILES = {
  "AGENTS.md": "Use two spaces.\n\tNever use `var`.  \nÄÖÜ\n",
  "packages/b/AGENTS.md": "Here everything is called b.\n",
  "a.ts": "export const a = 1\n",
  "packages/b/b.ts": "export const b = 2\n",
}
const TODOS = [
  { content: "Die Namen prüfen", status: "completed" },
  { content: "Die Tests schreiben", status: "in_progress" },
  { content: "Aufräumen", status: "pending" },
] as const
/** Attachments that are sent again verbatim. */
const REATTACHED: readonly Attachment[] = [
  { type: "skill_content", name: "review", content: "Look twice,\nthen once more." },
  {
    type: "agent_status",
    agents: [
      { id: "a1", name: "finder", status: "running", summary: "reading the tests" },
      { id: "a2", name: "fixer", status: "completed" },
    ],
  },
  { type: "tool_delta", added: [{ name: "Deploy", description: "puts it online" }], removed: [] },
  { type: "agent_listing", agents: [{ name: "finder", description: "finds things" }] },
  { type: "mcp_instructions", server: "db", instructions: "Ask first." },
]
const BULK = saying(8_000) // enough text to make a compaction worthwhile
const TODO_STATE: Attachment = { type: "todo_list", todos: TODOS }
const PLAN_STATE: Attachment = { type: "plan_mode", active: true }

test.runIf(isWhole)(
  "L4-20, L4-21, L4-29, L7-9 todos, plan mode, permissions, skills, agents, tools, instructions, language and what was read are as before",
  async () => {
    const where = project(FILES)
    const [a, b] = [join(where.cwd, "a.ts"), join(where.cwd, "packages/b/b.ts")]
    const { sim, of } = await compactingSimulator([
      calls(["TodoWrite", { todos: TODOS }], ["Read", { file_path: a }], ["Read", { file_path: b }]),
      calls(["EnterPlanMode", {}]),
      BULK,
      "Ich habe alles gelesen.",
      BULK,
      "Es geht weiter.",
      "Noch immer.",
      calls(["Edit", { file_path: a, old_string: "a = 1", new_string: "a = 3" }]),
      "Fertig.",
    ])
    const reads = new FileReads()
    const agent = await compactingAgent(sim, {
      ...{ ...where, reads, mode: "accept-edits", window: 200_000, settings: NO_NOTES },
      tools: [...codingTools(), say, todoWrite, enterPlanMode],
    })
    await ask(agent, "Bitte sieh dir die beiden Dateien an und sag mir, was darin steht.")
    agent.allow("Bash(ls:*)")
    for (const attachment of REATTACHED) await agent.conversation.attach(attachment)
    const before = stateOf(agent, reads)
    expect(before).toMatchObject({ mode: "plan", todos: TODOS, plan: { active: true } })
    const contents = contentsOf(reads)
    expect([...contents.keys()].toSorted()).toEqual([a, b])

    for (const words of ["Mach weiter, aber ändere noch nichts.", "Und jetzt noch einmal dasselbe von vorn."]) {
      await agent.conversation.compact()
      expect(stateOf(agent, reads)).toEqual(before)
      expect(contentsOf(reads)).toEqual(contents)
      await ask(agent, words)
      const sent = textsOf(of("work").at(-1)!.request)
      for (const attachment of [...REATTACHED, TODO_STATE, PLAN_STATE]) {
        const [rendered] = renderAttachment(attachment)
        expect(
          sent.filter((text) => text === rendered!.text),
          attachment.type,
        ).toHaveLength(1)
      }
      const all = sent.join("\n")
      expect(all).toContain("The user writes in German.")
      expect(all).toContain(FILES["AGENTS.md"].trim())
      expect(all).toContain("export const a = 1")
      expect(all).toContain("export const b = 2")
    }

    // the file can be changed without reading it again
    agent.setMode("accept-edits")
    const { events } = await ask(agent, "Jetzt ändere a.")
    expect(ofType(events, "tool-result").map(({ result }) => result.is_error ?? false)).toEqual([false])
    expect(readFileSync(a, "utf8")).toBe("export const a = 3\n")
  },
)

test("L4-20, L4-29 instruction files and files that were read are sent as they are on disk now", async () => {
  const where = project(FILES)
  const [a, b] = [join(where.cwd, "a.ts"), join(where.cwd, "packages/b/b.ts")]
  const { sim, of } = await compactingSimulator([
    calls(["Read", { file_path: a }], ["Read", { file_path: b }]),
    BULK,
    "Read.",
    calls(["Read", { file_path: b }]),
    "Going on.",
  ])
  const agent = await compactingAgent(sim, { ...where, window: 200_000, settings: NO_NOTES })
  await ask(agent, "Look at both files.")
  writeFileSync(join(where.cwd, "AGENTS.md"), "Use four spaces.\n")
  writeFileSync(a, "export const a = 10\n")
  await agent.conversation.compact()
  await ask(agent, "Go on.")
  const all = textsOf(of("work").at(-1)!.request).join("\n")
  expect(all).toContain("Use four spaces.")
  expect(all).not.toContain("Use two spaces.")
  expect(all).toContain("export const a = 10")
  expect(all).toContain(FILES["packages/b/AGENTS.md"].trim()) // near a file that is read again
})

function stateOf(agent: Agent, reads: FileReads) {
  const { todos, plan } = engineOf(agent.conversation).views.frontier
  return { mode: agent.mode, todos, plan, read: [...contentsOf(reads).keys()].toSorted() }
}

/** Texts of file reads. An attached instruction file counts as read while it is in context; after a boundary it is attached again. */
function contentsOf(reads: FileReads): ReadonlyMap<string, string> {
  const byTools = [...reads.entries()].filter(([path]) => !path.endsWith("AGENTS.md"))
  return new Map(byTools.map(([path, { content }]) => [path, content]))
}

test("L4-20, JRN-2 resumed in a new process, the files that were read still come back: those that may be read without asking", async () => {
  const where = project({ ...FILES, "secret.ts": "export const key = 4711\n" })
  const at = (name: string) => join(where.cwd, name)
  const outside = join(project({ "o.ts": "export const outside = 1\n" }).cwd, "o.ts")
  const script = [
    calls(...["a.ts", "packages/b/b.ts", "secret.ts"].map((name) => ["Read", { file_path: at(name) }] as const)),
    calls(["Read", { file_path: outside }]),
    BULK,
    "Read.",
  ]
  const { sim } = await compactingSimulator(script)
  const unkept = { ...NO_NOTES, figures: { "tail-tokens": 0 } } // messages in the tail are not read again
  const settings = { ...unkept, permissions: { deny: ["Read(**/secret.ts)"] } }
  const first = await compactingAgent(sim, { ...where, window: 200_000, settings: unkept })
  await ask(first, "Look at the files.")
  await first.close()
  const resumed = await compactingAgent(sim, { ...where, id: first.conversation.id, window: 200_000, settings })
  writeFileSync(at("a.ts"), "export const a = 100\n")
  await resumed.conversation.compact()
  const sent = JSON.stringify((await resumed.conversation.prepare()).messages)
  expect(sent).toContain("export const a = 100")
  expect(sent).toContain("export const b = 2")
  expect(sent).not.toContain("export const key")
  expect(sent).not.toContain("export const outside")
})
