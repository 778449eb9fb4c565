import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import type { HookEvent } from "../base/vocabulary.ts"
import { commandHooks, type Hook, type HookInput, runHooks, runPreCompact } from "./hooks.ts"

const directory = mkdtempSync(join(tmpdir(), "strata-hooks-"))
afterAll(() => rmSync(directory, { recursive: true }))

const input = (event: HookEvent, more: Record<string, unknown> = {}): HookInput => ({
  hook_event_name: event,
  session_id: "s",
  transcript_path: "/t.jsonl",
  cwd: directory,
  ...more,
})

const command = (
  event: HookEvent,
  text: string,
  more: { matcher?: string; timeoutSeconds?: number } = {},
): readonly Hook[] => commandHooks({ [event]: [{ command: text, ...more }] }, { PATH: process.env.PATH })

describe("HOOK-2 shell commands", () => {
  test("get JSON on standard input and answer with plain text, where that has a meaning", async () => {
    const hooks = command("UserPromptSubmit", "cat > told.json; echo be brief")
    const outcome = await runHooks(hooks, input("UserPromptSubmit", { prompt: "hi" }))
    expect(outcome.contexts).toEqual([{ hook: "cat > told.json; echo be brief", text: "be brief" }])
    expect(JSON.parse(readFileSync(join(directory, "told.json"), "utf8"))).toEqual(
      input("UserPromptSubmit", { prompt: "hi" }),
    )
    expect((await runHooks(command("PostToolUse", "echo just talking"), input("PostToolUse"))).contexts).toEqual([])
  })

  test("exit code 2 blocks, with standard error as the reason", async () => {
    const outcome = await runHooks(
      command("PreToolUse", "echo not on Fridays >&2; exit 2"),
      input("PreToolUse"),
      "Bash",
    )
    expect(outcome.blocked).toBe("not on Fridays")
  })

  test("JSON may block, decide, add context, tell the person, replace output", async () => {
    const answer = {
      decision: "block",
      reason: "no",
      systemMessage: "for you",
      hookSpecificOutput: {
        additionalContext: "for the model",
        permissionDecision: "deny",
        updatedToolOutput: "instead",
      },
    }
    const outcome = await runHooks(command("PostToolUse", `echo '${JSON.stringify(answer)}'`), input("PostToolUse"))
    expect(outcome).toMatchObject({ blocked: "no", permission: "deny", messages: ["for you"], output: "instead" })
    expect(outcome.contexts[0]?.text).toBe("for the model")
  })

  test.each([
    ["exit 1", /failed and was passed over: exit code 1/],
    ["no-such-command-here", /failed and was passed over: exit code 127/],
  ])("`%s` is reported and does not block", async (text, message) => {
    const outcome = await runHooks(command("PreToolUse", text), input("PreToolUse"))
    expect(outcome.blocked).toBeUndefined()
    expect(outcome.messages[0]).toMatch(message)
  })

  test("one that takes too long is ended with its children", async () => {
    const outcome = await runHooks(
      command("Stop", "echo $$ > pid; sleep 60 & sleep 60", { timeoutSeconds: 0.2 }),
      input("Stop"),
    )
    expect(outcome.messages[0]).toMatch(/longer than 0.2 s/)
    const group = Number(readFileSync(join(directory, "pid"), "utf8"))
    expect(runningInGroup(group)).toEqual([])
  })

  test("a matcher chooses the tools", async () => {
    const hooks = command("PreToolUse", "exit 2", { matcher: "Edit|Write" })
    expect((await runHooks(hooks, input("PreToolUse"), "Write")).blocked).toBeDefined()
    expect((await runHooks(hooks, input("PreToolUse"), "WriteAll")).blocked).toBeUndefined()
  })
})

/** Processes of a group that still run; those that have ended and wait to be collected do not count. */
function runningInGroup(group: number): string[] {
  const lines = execFileSync("ps", ["-A", "-o", "pgid=,stat=,args="], { encoding: "utf8" }).split("\n")
  return lines.filter((line) => Number(line.trim().split(/\s+/)[0]) === group && !/^\s*\d+\s+Z/.test(line))
}

test("HOOK-3 PreCompact gets trigger, instructions, conversation and transcript; what it says comes behind the user's", async () => {
  const hooks = command("PreCompact", "cat > compact.json; echo keep the test names", { matcher: "auto" })
  const session = { session_id: "s", transcript_path: "/t.jsonl", cwd: directory }
  const answer = await runPreCompact(hooks, { trigger: "auto", customInstructions: "Keep numbers.", session })
  expect(answer).toEqual({ instructions: "Keep numbers.\n\nkeep the test names", messages: [], blocked: undefined })
  expect(JSON.parse(readFileSync(join(directory, "compact.json"), "utf8"))).toEqual({
    ...session,
    hook_event_name: "PreCompact",
    trigger: "auto",
    custom_instructions: "Keep numbers.",
  })
  const manual = await runPreCompact(hooks, { trigger: "manual", customInstructions: "", session })
  expect(manual.instructions).toBe("")
})

describe("HOOK-2 functions", () => {
  test("run in order; the stricter permission and the first block win; one that throws is passed over", async () => {
    const order: string[] = []
    const hook = (name: string, run: Hook["run"]): Hook => ({
      event: "PreToolUse",
      name,
      run: (given) => {
        order.push(name)
        return run(given)
      },
    })
    const outcome = await runHooks(
      [
        hook("a", () => ({ permission: "allow" })),
        hook("b", () => Promise.reject(new Error("oops"))),
        hook("c", () => ({ permission: "deny", block: "first" })),
        hook("d", () => ({ block: "second" })),
      ],
      input("PreToolUse"),
    )
    expect(order).toEqual(["a", "b", "c", "d"])
    expect(outcome).toMatchObject({ permission: "deny", blocked: "first" })
    expect(outcome.messages[0]).toContain("oops")
  })
})
