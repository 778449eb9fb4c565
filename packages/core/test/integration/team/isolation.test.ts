import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { Worktree } from "../../../src/team/worktree.ts"
import { isWhole } from "../../size.ts"
import { ask, calls, ofType, project } from "../agent/agents.ts"
import { agentCall, castSimulator, leadFor } from "./cast.ts"

/** A project in git. */
function repository(files: Readonly<Record<string, string>>) {
  const place = project(files)
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd: place.cwd })
  git("init", "--quiet")
  git("add", "-A")
  git("commit", "--quiet", "-m", "start")
  return place
}

const writer = [
  calls(["Read", { file_path: "a.ts" }]),
  calls(["Edit", { file_path: "a.ts", old_string: "one", new_string: "two" }]),
  "Changed a.ts.",
]

const toolResults = (events: Parameters<typeof ofType>[0]) =>
  ofType(events, "tool-result").map(({ result }) => String(result.content))

describe("L7-4 a sub-agent with isolation", () => {
  test.runIf(isWhole)("it edits a copy; the lead sees the diff, merges it, and the copy is gone", async () => {
    const { sim } = await castSimulator({
      lead: [
        calls(agentCall("[writer] Change it.", { isolation: "worktree" })),
        calls(["AgentChanges", { agent: "agent-1", action: "show" }]),
        calls(["AgentChanges", { agent: "agent-1", action: "merge" }]),
        "Merged.",
      ],
      writer,
    })
    const place = repository({ "a.ts": "one\n" })
    const seen: string[] = []
    const agent = await leadFor(sim, {
      ...place,
      mode: "accept-edits",
      askPermission: ({ question }) => {
        seen.push(question.summary)
        return { allowed: true }
      },
    })
    const { events } = await ask(agent, "Have it changed.")
    const [report, diff, merged] = toolResults(events)
    expect(report).toContain("In its own working tree it changed: a.ts.")
    expect(diff).toContain("-one\n+two")
    expect(merged).toBe("Merged into the project, uncommitted: a.ts.")
    expect(readFileSync(join(place.cwd, "a.ts"), "utf8")).toBe("two\n")
    expect(seen).toEqual([])
    expect(existsSync(`${place.dir}-worktrees/${agent.conversation.id}`)).toBe(false)
  })

  test.runIf(isWhole)(
    "a killed process's trees without changes are removed at the next start, those with changes stay",
    async () => {
      const { sim } = await castSimulator({ lead: [] })
      const place = repository({ "a.ts": "one\n" })
      const agent = await leadFor(sim, place)
      const { id } = agent.conversation
      const made = (conversation: string, name: string) =>
        Worktree.create({
          ...place,
          root: place.dir,
          project: engineOf(agent.conversation).namespace,
          conversation,
          agent: name,
          env: process.env,
        })
      const [same, changed, external] = [
        await made(id, "agent-1"),
        await made(id, "agent-2"),
        await made("gone", "agent-1"),
      ]
      writeFileSync(join(changed.directory, "a.ts"), "two\n")
      await agent.close() // simulates a killed process: these agents are unfinished
      await leadFor(sim, place)
      while (existsSync(same.directory)) await wait(2)
      expect(existsSync(changed.directory)).toBe(true)
      expect(existsSync(external.directory)).toBe(true) // its conversation does not belong to this project
    },
  )

  test.runIf(isWhole)(
    "nothing of it is in the project before a merge, and what is dropped is in the answer to the drop",
    async () => {
      const { sim } = await castSimulator({
        lead: [
          calls(agentCall("[writer] Change it.", { isolation: "worktree" })),
          calls(["AgentChanges", { agent: "agent-1", action: "drop" }]),
          calls(["AgentChanges", { agent: "agent-1", action: "merge" }]),
          "Dropped.",
        ],
        writer,
      })
      const place = repository({ "a.ts": "one\n" })
      const agent = await leadFor(sim, { ...place, mode: "accept-edits" })
      const { events } = await ask(agent, "Try it.")
      const [, dropped, again] = toolResults(events)
      expect(dropped).toContain("-one\n+two")
      expect(again).toContain("has no working tree of its own")
      expect(readFileSync(join(place.cwd, "a.ts"), "utf8")).toBe("one\n")
    },
  )

  test("a merge that changes what decides which programs run asks a user, like any edit of it", async () => {
    const { sim } = await castSimulator({
      lead: [
        calls(agentCall("[writer] Add a task.", { isolation: "worktree" })),
        calls(["AgentChanges", { agent: "agent-1", action: "merge" }]),
        "Not merged.",
      ],
      writer: [calls(["Edit", { file_path: ".vscode/tasks.json", old_string: "", new_string: "{}" }]), "Done."],
    })
    const place = repository({ "a.ts": "one\n" })
    const agent = await leadFor(sim, {
      ...place,
      mode: "accept-edits",
      askPermission: ({ agent: name }) => ({ allowed: name !== undefined }), // allows the agent in its copy, denies the lead
    })
    const { events } = await ask(agent, "Add a task.")
    expect(ofType(events, "tool-denied").map(({ name }) => name)).toEqual(["AgentChanges"])
    expect(existsSync(join(place.cwd, ".vscode/tasks.json"))).toBe(false)
  })

  test("outside git there is no such tool, and an order for isolation is refused with a sentence", async () => {
    const { sim, of } = await castSimulator({
      lead: [calls(agentCall("[writer] Change it.", { isolation: "worktree" })), "It cannot be isolated."],
      writer,
    })
    const agent = await leadFor(sim, { ...project({ "a.ts": "one\n" }), mode: "accept-edits" })
    const { events } = await ask(agent, "Have it changed.")
    expect(toolResults(events)[0]).toContain("is not in a git repository")
    expect(of("lead")[0]!.request.tools?.map(({ name }) => name)).not.toContain("AgentChanges")
    expect(agent.team.list()).toMatchObject([{ status: "failed" }])
  })

  test.runIf(isWhole)("what changes while a user decides about the merge is not merged with it", async () => {
    const { sim } = await castSimulator({
      lead: [
        calls(agentCall("[writer] Change it.", { isolation: "worktree" })),
        calls(["AgentChanges", { agent: "agent-1", action: "merge" }]),
        "Not merged.",
      ],
      writer,
    })
    const place = repository({ "a.ts": "one\n" })
    const agent = await leadFor(sim, {
      ...place,
      mode: "ask",
      askPermission: ({ tool, question }) => {
        if (tool === "AgentChanges") {
          expect(question.preview).toContain("+two")
          writeFileSync(join(`${place.dir}-worktrees`, agent.conversation.id, "agent-1", "a.ts"), "something else\n")
        }
        return { allowed: true }
      },
    })
    const { events } = await ask(agent, "Have it changed.")
    expect(toolResults(events).at(-1)).toContain("changed while the merge was being decided")
    expect(readFileSync(join(place.cwd, "a.ts"), "utf8")).toBe("one\n")
  })

  test("rules that deny count for the copy and for the project, however they name the file", async () => {
    const place = repository({ "a.ts": "one\n", "conf/key.txt": "sesame\n", "conf/pin.txt": "1234\n" })
    const { sim, of } = await castSimulator({
      lead: [calls(agentCall("[spy] Read them.", { isolation: "worktree" })), "Done."],
      spy: [
        calls(
          ["Read", { file_path: "conf/key.txt" }],
          ["Bash", { command: "cat conf/key.txt" }],
          ["Read", { file_path: join(place.cwd, "conf/pin.txt") }],
          ["Read", { file_path: "a.ts" }],
        ),
        "Read.",
      ],
    })
    const deny = [`Read(${place.cwd}/conf/key.txt)`, "Read(./conf/pin.txt)"]
    await ask(await leadFor(sim, { ...place, settings: { permissions: { deny } } }), "Read them.")
    const seen = JSON.stringify(of("spy").at(-1)!.request.messages)
    expect(seen).not.toMatch(/sesame|1234/)
    expect(seen.match(/forbids it/g)).toHaveLength(3)
    expect(seen).toContain("one")
  })
})
