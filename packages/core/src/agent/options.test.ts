/** Invalid options of an agent: one sentence names the mistake, and nothing is silently ignored. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { SettingsError } from "../base/errors.ts"
import { InvalidOptionError } from "../base/options.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { openAgent } from "./open-agent.ts"

const cwd = mkdtempSync(join(tmpdir(), "strata-options-"))
afterAll(() => rmSync(cwd, { recursive: true }))

const open = (options: object) =>
  openAgent({ model: "claude-opus-5-5", cwd, dir: join(cwd, "home"), store: memoryStore(), env: {}, ...options })

describe("openAgent", () => {
  test.each<[string, object, RegExp]>([
    [
      "a hook for an unknown event",
      { hooks: [{ event: "PreTool", run: () => undefined }] },
      /^hooks\[0\]\.event must be one of "SessionStart", .* not the text "PreTool"\.$/,
    ],
    [
      "a hook without a function",
      { hooks: [{ event: "Stop" }] },
      /^hooks\[0\]\.run must be a function, not nothing\.$/,
    ],
    ["a hook that is none", { hooks: [null] }, /^hooks\[0\]\.event must be one of/],
    [
      "the name of a tool",
      { tools: ["Read"] },
      /^tools\[0\] must be a tool or a toolset, not the text "Read"\. codingTools\(\) gives the built-in tools/,
    ],
    ["no tool", { tools: [null] }, /^tools\[0\] must be a tool or a toolset, not null/],
    ["a list in the list of tools", { tools: [[]] }, /^tools\[0\] must be a tool or a toolset, not a list/],
    ["a set of names", { tools: new Set(["Read"]) }, /^tools\[0\] must be a tool or a toolset, not the text "Read"/],
    [
      "a directory that does not exist",
      { cwd: "/no/such" },
      /"cwd" .* must be a directory that exists, not "\/no\/such"/,
    ],
  ])("%s: one sentence names it", async (_, options, why) => {
    const opening = open(options)
    await expect(opening).rejects.toThrow(InvalidOptionError)
    await expect(opening).rejects.toThrow(why)
  })

  test.each(["Bash(rm", "Bash (rm:*)", "", "(x)"])(
    "the rule %j cannot be read, so the agent does not start",
    async (rule) => {
      const opening = open({ settings: { permissions: { deny: [rule] } } })
      await expect(opening).rejects.toThrow(SettingsError)
      await expect(opening).rejects.toThrow('permissions.deny.0 must be "Tool" or "Tool(pattern)"')
    },
  )
})

describe("an open agent", () => {
  test.each<[string, (agent: Awaited<ReturnType<typeof open>>) => unknown, RegExp]>([
    [
      "ask",
      (agent) => agent.ask("x", { maxTurn: 3 } as never),
      /^ask\(\) has no option "maxTurn"\. Did you mean "maxTurns"\?$/,
    ],
    [
      "query",
      (agent) => agent.query("x", { costLimit: "1" } as never),
      /^The option "costLimit" of query\(\) must be a number/,
    ],
    ["setMode", (agent) => agent.setMode("yolo" as never), /^The mode must be one of "ask", .* not the text "yolo"\.$/],
    [
      "allow",
      (agent) => agent.allow("Bash("),
      /^A permission rule must be "Tool" or "Tool\(pattern\)", not the text "Bash\("\.$/,
    ],
  ])("%s names what is wrong, before anything happens", async (_, call, why) => {
    await using agent = await open({})
    await expect(async () => call(agent)).rejects.toThrow(why)
    expect(agent.conversation.userMessages().messages).toEqual([])
    expect(agent.mode).toBe("accept-edits")
  })
})
