/** Every event that can have a hook, in one run: real shell commands as hooks, real files, a model in the same process. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import type { SingleAgentOptions } from "../../../src/agent/options.ts"
import { fileTools } from "../../../src/agent/tools/coding-tools.ts"
import { HOOK_EVENTS } from "../../../src/base/enums.ts"
import { memoryStore } from "../../../src/journal/in-memory/store.ts"
import type { Model } from "../../../src/model/model.ts"
import { openTeamAgent } from "../../../src/team/open-team.ts"
import { findModel } from "../../../src/tokens/models.ts"
import { scratchDirectory } from "../../tool-context.ts"

const MODEL = "claude-opus-4-6"

type Content = readonly Readonly<Record<string, unknown>>[]
const says = (text: string): Content => [{ type: "text", text }]
const calls = (name: string, input: object): Content => [{ type: "tool_use", id: `toolu_${name}`, name, input }]

/** A scripted model that also records its requests. */
function scripted(turns: Content[]): Model & { readonly sent: string[] } {
  const sent: string[] = []
  return {
    name: MODEL,
    provider: "test",
    facts: findModel(MODEL).facts,
    sent,
    async *stream(request) {
      sent.push(JSON.stringify(request.messages))
      const content = turns.shift()!
      const stop_reason = content[0]!.type === "tool_use" ? "tool_use" : "end_turn"
      const usage = { input_tokens: 50_000, output_tokens: 10 }
      yield { type: "response", response: { id: `msg_${turns.length}`, model: MODEL, content, stop_reason, usage } }
    },
  }
}

test("HOOK-1 every event runs its commands: tools, agents, compaction, instructions, messages typed meanwhile, all ways to start", async () => {
  const cwd = scratchDirectory()
  const log = join(scratchDirectory(), "events.jsonl")
  mkdirSync(join(cwd, "lib"))
  for (const [name, text] of [
    ["AGENTS.md", "Use tabs."],
    ["lib/AGENTS.md", "No lodash."],
    ["lib/a.txt", "x"],
  ] as const)
    writeFileSync(join(cwd, name), text)
  const model = scripted([
    calls("Read", { file_path: "lib/a.txt" }),
    calls("Write", { file_path: "new.txt", content: "y" }),
    calls("Agent", { description: "look", prompt: "Look around." }),
    says("Nothing found."), // the sub-agent's answer
    says("Done."),
    says("<summary>\n1. Primary Request and Intent: read a file\n</summary>"),
  ])
  const record = { command: `printf '%s\\n' "$(tr -d '\\n')" >> ${log}` } // a single write, because some hooks run concurrently
  const hooks = Object.fromEntries(HOOK_EVENTS.map((event) => [event, [record]]))
  const remark = join(scratchDirectory(), "remark.json")
  writeFileSync(remark, JSON.stringify({ hookSpecificOutput: { additionalContext: "It is Friday." } }))
  const remarks = { command: `cat ${remark}` }
  const blocks = { command: `if grep -q forbidden; then echo "not that." >&2; exit 2; fi` }
  const store = memoryStore()
  const open = async (options: Partial<SingleAgentOptions> = {}) => {
    const agent = await openTeamAgent({
      ...{ model, cwd, store, dir: scratchDirectory(), env: { PATH: process.env.PATH }, tools: fileTools, mode: "ask" },
      askPermission: async () => {
        while (!readFileSync(log, "utf8").includes("Notification")) await setImmediate() // nothing else waits for it
        return { allowed: false }
      },
      settings: {
        planner: "off", // only scripted compactions
        memory: "off",
        switches: { notes: false },
        hooks: { ...hooks, UserPromptSubmit: [record, remarks, blocks] },
      },
      ...options,
    })
    onTestFinished(() => agent.close())
    return agent
  }

  const agent = await open()
  for await (const event of agent.query("Read the file.")) {
    if (event.type !== "tool-result" || event.name !== "Read") continue
    await agent.enqueue("And be brief.")
    await expect(agent.enqueue("Something forbidden.")).rejects.toThrow(
      "A hook blocked the message: not that. It was not sent.",
    )
  }
  const steps: string[] = []
  agent.conversation.on("compaction", (progress) => {
    const step = progress.phase === "hook" ? `hook ${progress.event}` : progress.phase
    if (step !== steps.at(-1)) steps.push(step)
  })
  await agent.conversation.compact()
  await agent.close()
  await (await open({ id: agent.conversation.id })).close()
  await (await open({ startedBy: "clear" })).close()

  expect(steps).toEqual(["preparing", "hook PreCompact", "summarising", "restoring", "hook SessionStart", "done"])

  const seen = readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, string>>)
  const inOrder = seen.filter((event) => event.hook_event_name !== "Notification")
  const reported = inOrder.map((event) => {
    const { hook_event_name, source, tool_name, load_reason, prompt, trigger, agent_type } = event
    return [hook_event_name, source ?? tool_name ?? load_reason ?? prompt ?? trigger ?? agent_type].join(" ").trim()
  })
  expect(reported).toEqual([
    "InstructionsLoaded session_start",
    "SessionStart startup",
    "UserPromptSubmit Read the file.",
    "PreToolUse Read",
    "PostToolUse Read",
    "UserPromptSubmit And be brief.",
    "UserPromptSubmit Something forbidden.",
    "InstructionsLoaded nested_traversal",
    "PreToolUse Write",
    "PermissionRequest Write",
    "PreToolUse Agent",
    "SubagentStart Look around.",
    "SubagentStop general",
    "PostToolUse Agent",
    "Stop",
    "PreCompact manual",
    "SessionStart compact",
    "PostCompact manual",
    "InstructionsLoaded compact",
    "SessionEnd",
    "InstructionsLoaded session_start",
    "InstructionsLoaded session_start", // those of lib: their message was in the tail
    "SessionStart resume",
    "SessionEnd",
    "InstructionsLoaded session_start",
    "SessionStart clear",
    "SessionEnd",
  ])
  expect(new Set(seen.map((event) => event.hook_event_name))).toEqual(new Set(HOOK_EVENTS))
  const next = model.sent[1]!
  expect([next.includes("And be brief."), next.includes("forbidden")]).toEqual([true, false])
  expect(next.match(/It is Friday\./g)).toHaveLength(2)
})
